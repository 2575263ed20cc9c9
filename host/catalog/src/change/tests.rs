use super::*;
use crate::fixture::{PluginFixture, key};
use crate::seen::Seen;

/// A host's folder, in dev mode; the tests' key is its development key.
struct Place(tempfile::TempDir);

const TEXT: PluginFixture = PluginFixture::new("text", &["acme"]);

fn version(version: &'static str) -> PluginFixture {
    PluginFixture { version, ..TEXT }
}

fn name() -> PluginName {
    PluginName::parse("text").unwrap()
}

impl Place {
    fn new(more: &str) -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        std::fs::create_dir(place.0.path().join("plugins")).unwrap();
        let text = format!("[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n{more}");
        std::fs::write(place.0.path().join("mizzen.toml"), text).unwrap();
        place
    }

    fn with(plugins: &[PluginFixture]) -> Self {
        let place = Self::new("");
        for plugin in plugins {
            plugin.write(&place.0.path().join("plugins"));
        }
        place
    }

    fn installation(&self) -> Installation {
        Installation {
            config: self.0.path().join("mizzen.toml"),
            other_sections: &[],
            dev_key: Arc::new(|| Some(key(1).id())),
        }
    }

    fn installed(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.0.path().join("plugins")).unwrap();
        let mut names: Vec<String> = folder
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name.ends_with(".wasm"))
            .collect();
        names.sort();
        names
    }

    fn config(&self) -> String {
        std::fs::read_to_string(self.0.path().join("mizzen.toml")).unwrap()
    }

    fn install(
        &self,
        plugin: &PluginFixture,
        placement: Placement,
        direction: Direction,
    ) -> Result<PreparedChange, ChangeError> {
        self.install_with(plugin, placement, direction, Approval::Waiting)
    }

    fn install_with(
        &self,
        plugin: &PluginFixture,
        placement: Placement,
        direction: Direction,
        approval: Approval,
    ) -> Result<PreparedChange, ChangeError> {
        let prepared = self.installation().prepare_package(NewPackage {
            bytes: plugin.package(),
            source: Path::new("new.wasm"),
            placement,
            approval,
            direction,
        })?;
        prepared.write()?;
        Ok(prepared)
    }

    fn remove(&self, version: Option<&str>, direction: Direction) -> Result<PreparedChange, ChangeError> {
        let removal = Removal {
            plugin: name(),
            version: version.map(|version| Version::parse(version).unwrap()),
            grants: GrantsFate::Go,
            direction,
        };
        let prepared = self.installation().prepare_removal(&removal)?;
        prepared.write()?;
        Ok(prepared)
    }

    fn switch(
        &self,
        version: Option<&str>,
        switch: Switch,
        direction: Direction,
    ) -> Result<PreparedChange, ChangeError> {
        let switching = Switching {
            plugin: name(),
            version: version.map(|version| Version::parse(version).unwrap()),
            switch,
            direction,
        };
        let prepared = self.installation().prepare_switch(&switching)?;
        prepared.write()?;
        Ok(prepared)
    }
}

/// What a refused step back says, or what happened instead.
fn older(result: Result<PreparedChange, ChangeError>) -> String {
    match result {
        Err(ChangeError::Older(older)) => older.to_string(),
        Err(error) => format!("another error: {error}"),
        Ok(_) => "it was done".to_owned(),
    }
}

#[test]
fn a_version_below_the_highest_one_is_a_step_back_however_it_comes() {
    use Direction::{Either, Forward};
    let refused = "text 1.0.0 is older than 2.0.0, which this host has had";
    for placement in [
        Placement::Beside,
        Placement::Above,
        Placement::Instead,
        Placement::Anyhow,
    ] {
        let place = Place::with(&[version("2.0.0")]);
        assert_eq!(
            older(place.install(&version("1.0.0"), placement, Forward)),
            refused,
            "{placement:?}"
        );
        assert_eq!(place.installed(), ["text-2.0.0.wasm"], "{placement:?}");
        place.install(&version("1.0.0"), placement, Either).unwrap();
    }

    // The newer one goes, and the older one would be what runs.
    let place = Place::with(&[version("1.0.0"), version("2.0.0")]);
    assert_eq!(older(place.remove(Some("2.0.0"), Forward)), refused);
    assert_eq!(
        older(place.switch(Some("2.0.0"), Switch::Disable, Forward)),
        refused
    );
    assert_eq!(place.installed().len(), 2);
    place.remove(Some("1.0.0"), Forward).unwrap();

    // In several steps, each of which goes nowhere by itself.
    let place = Place::with(&[version("1.0.0"), version("2.0.0")]);
    place.switch(None, Switch::Disable, Forward).unwrap();
    place.remove(Some("2.0.0"), Forward).unwrap();
    assert_eq!(older(place.switch(None, Switch::Enable, Forward)), refused);

    // Everything goes, and the older one comes again.
    let place = Place::with(&[version("2.0.0")]);
    place.remove(None, Forward).unwrap();
    assert_eq!(place.installed(), [""; 0]);
    let again = place.install(&version("1.0.0"), Placement::Anyhow, Forward);
    assert_eq!(older(again), refused, "remembered when nothing of it is left");
    for next in ["2.0.0", "2.0.1"] {
        place.install(&version(next), Placement::Anyhow, Forward).unwrap();
    }

    // Forward is forward, and what is meant is done.
    let place = Place::with(&[version("1.0.0")]);
    place
        .install(&version("2.0.0"), Placement::Beside, Forward)
        .unwrap();
    place.switch(None, Switch::Disable, Forward).unwrap();
    place.switch(None, Switch::Enable, Forward).unwrap();
    place.remove(Some("2.0.0"), Either).unwrap();
    assert_eq!(place.installed(), ["text-1.0.0.wasm"]);
}

#[test]
fn what_was_loaded_from_the_folder_is_remembered_too() {
    let place = Place::with(&[version("3.0.0")]);
    let installation = place.installation();
    let (config, plan) = installation.plan().unwrap();
    installation.remember_versions(&config, &plan).unwrap();
    std::fs::remove_file(place.0.path().join("plugins/text-3.0.0.wasm")).unwrap();
    let seen = Seen::load(&config.versions_file()).unwrap();
    assert_eq!(seen.highest(&name()), Some(&Version::new(3, 0, 0)));
    let back = place.install(&version("2.0.0"), Placement::Beside, Direction::Forward);
    assert_eq!(
        older(back),
        "text 2.0.0 is older than 3.0.0, which this host has had"
    );
}

#[test]
fn a_plugin_can_be_taken_from_a_set_that_does_not_load() {
    let stranger = |name, namespaces| PluginFixture {
        keys: &[9],
        ..PluginFixture::new(name, namespaces)
    };
    let place = Place::with(&[PluginFixture { keys: &[9], ..TEXT }, stranger("other", &["b"])]);
    assert!(place.installation().plan().is_err());
    let prepared = place.remove(None, Direction::Forward).unwrap();
    assert_eq!(prepared.plan.err().map(|failure| failure.errors.len()), Some(1));
    assert_eq!(place.installed(), ["other-1.0.0.wasm"]);
}

#[test]
fn a_removal_that_breaks_a_sound_set_is_refused() {
    let place = Place::with(&[version("1.0.0"), version("2.0.0")]);
    let text = place
        .config()
        .replace("[trust]", "[plugins.default]\ntext = \"1.0.0\"\n[trust]");
    std::fs::write(place.0.path().join("mizzen.toml"), text).unwrap();
    let refused = place.remove(Some("1.0.0"), Direction::Forward);
    assert!(matches!(refused, Err(ChangeError::Refused(_))), "{refused:?}");
    assert_eq!(place.installed().len(), 2);
}

#[test]
fn raised_limits_wait_for_approval_like_added_permissions() {
    const LARGE: PluginFixture = PluginFixture {
        version: "1.1.0",
        more: "[limits]\nmemory = \"512MiB\"\ncpu = \"30s\"\nwall_clock = \"60s\"\n",
        ..TEXT
    };
    for (case, installed) in [("an upgrade", &[version("1.0.0")][..]), ("an install", &[])] {
        let place = Place::with(installed);
        let before = place.installed();
        let waiting = match place.install(&LARGE, Placement::Anyhow, Direction::Forward) {
            Err(ChangeError::Waiting(waiting)) => waiting,
            other => panic!("{case}: {other:?}"),
        };
        assert_eq!(
            waiting.to_string(),
            "text@1.1.0 waits for approval of memory = 512MiB (was 64MiB), cpu = 30s (was 2s), wall_clock = 1m (was 5s)"
        );
        assert!(
            waiting
                .changes
                .to_string()
                .contains("+ limit memory = 512MiB (was 64MiB)"),
            "{}",
            waiting.changes
        );
        assert_eq!(place.installed(), before, "{case}");
        let approved = place.install_with(&LARGE, Placement::Anyhow, Direction::Forward, Approval::Given);
        assert_eq!(approved.unwrap().granted_now, []);
        let next = PluginFixture {
            version: "1.2.0",
            ..LARGE
        };
        place
            .install(&next, Placement::Anyhow, Direction::Forward)
            .unwrap();
    }
}

#[test]
fn a_review_names_the_namespaces_that_come_and_go() {
    let place = Place::with(&[version("1.0.0")]);
    let moved = PluginFixture {
        version: "1.1.0",
        ..PluginFixture::new("text", &["acme", "acme.more"])
    };
    let prepared = place
        .install(&moved, Placement::Anyhow, Direction::Forward)
        .unwrap();
    let changes = prepared.changes.unwrap();
    assert!(
        changes.to_string().ends_with("+ namespace acme.more"),
        "{changes}"
    );
    assert_eq!(changes.namespaces.removed, []);
}

#[test]
fn a_grant_goes_with_the_version_that_asked_for_it_and_taking_it_back_needs_approval() {
    let asking = |version, permissions| PluginFixture {
        version,
        permissions,
        ..TEXT
    };
    // By value: a prepared change holds the right to edit until it is dropped.
    let dropped = |prepared: Result<PreparedChange, ChangeError>| -> Vec<String> {
        let prepared = prepared.unwrap();
        prepared.grants_dropped.iter().map(ToString::to_string).collect()
    };
    let (wide, narrow) = (
        &["clock", "kv:read", "net:GET@prices.example"][..],
        &["kv:read"][..],
    );
    let place = Place::new("[grants.plugin]\nother = [\"clock\"]\n");
    let first = asking("0.2.0", wide);
    place
        .install_with(&first, Placement::Anyhow, Direction::Forward, Approval::Given)
        .unwrap();
    let second = place.install(&asking("0.3.0", narrow), Placement::Anyhow, Direction::Forward);
    assert_eq!(dropped(second), ["clock", "net:GET@prices.example"]);
    assert!(
        place.config().contains("text = [\"kv:read\"]"),
        "{}",
        place.config()
    );
    assert!(
        place.config().contains("other = [\"clock\"]"),
        "another plugin's grants are its own"
    );
    match place.install(&asking("0.4.0", wide), Placement::Anyhow, Direction::Forward) {
        Err(ChangeError::Waiting(waiting)) => assert_eq!(waiting.waiting.len(), 2),
        other => panic!("{other:?}"),
    }

    // Side by side, the version that stays keeps what it asks for; when it goes, so does the grant.
    let place = Place::new("");
    place
        .install_with(&first, Placement::Anyhow, Direction::Forward, Approval::Given)
        .unwrap();
    let beside = place.install(&asking("0.3.0", narrow), Placement::Beside, Direction::Forward);
    assert_eq!(dropped(beside), [""; 0]);
    let removed = place.remove(Some("0.2.0"), Direction::Forward);
    assert_eq!(dropped(removed), ["clock", "net:GET@prices.example"]);
    assert!(
        place.config().contains("text = [\"kv:read\"]"),
        "{}",
        place.config()
    );

    // A step back drops what the newer version had been granted.
    let place = Place::new("");
    place
        .install_with(
            &asking("0.1.0", narrow),
            Placement::Anyhow,
            Direction::Forward,
            Approval::Given,
        )
        .unwrap();
    place
        .install_with(&first, Placement::Anyhow, Direction::Forward, Approval::Given)
        .unwrap();
    let back = place.install(&asking("0.1.0", narrow), Placement::Anyhow, Direction::Either);
    assert_eq!(dropped(back), ["clock", "net:GET@prices.example"]);
}

#[test]
fn a_grant_without_which_the_set_does_not_load_is_taken_back_only_on_purpose() {
    let needs = PluginFixture {
        permissions: &["kv:read", "clock"],
        imports: &["mizzen:plugin/kv@1.0.0"],
        ..TEXT
    };
    let place = Place::new("[grants.plugin]\ntext = [\"kv:read\", \"clock\"]\n");
    needs.write(&place.0.path().join("plugins"));
    let permissions = |texts: &[&str]| -> Vec<Permission> {
        texts
            .iter()
            .map(|text| Permission::parse(text).unwrap())
            .collect()
    };
    let change = |add: &[&str], remove: &[&str], breakage: Breakage| {
        let change = GrantsChange {
            plugin: name(),
            add: permissions(add),
            remove: permissions(remove),
            breakage,
        };
        let prepared = place.installation().prepare_grants(&change)?;
        prepared.write()?;
        Ok(prepared)
    };
    let refused = |result: Result<PreparedChange, ChangeError>| match result {
        Err(error) => error.to_string(),
        Ok(_) => "it was done".to_owned(),
    };
    let before = place.config();
    let message = refused(change(&[], &["kv:read"], Breakage::Refused));
    assert!(message.contains("[permission-not-granted]"), "{message}");
    let message = refused(change(&[], &["random"], Breakage::Refused));
    assert!(message.contains("random is not granted to text"), "{message}");
    assert_eq!(place.config(), before);
    // What the set does not need to load goes at once.
    assert!(change(&[], &["clock"], Breakage::Refused).unwrap().plan.is_ok());
    assert!(
        change(&[], &["kv:read"], Breakage::Accepted)
            .unwrap()
            .plan
            .is_err()
    );
    assert!(!place.config().contains("kv:read"), "{}", place.config());
    // What is broken already is not a reason to keep anything, and what mends it by halves is let through.
    assert!(change(&["clock"], &[], Breakage::Refused).unwrap().plan.is_err());
    assert!(change(&[], &["clock"], Breakage::Refused).unwrap().plan.is_err());
    assert!(change(&["kv:read"], &[], Breakage::Refused).unwrap().plan.is_ok());
}

/// W17.
#[test]
fn the_version_that_an_upgrade_replaces_is_kept_for_a_step_back() {
    use Direction::{Either, Forward};
    let place = Place::with(&[version("1.0.0")]);
    let kept = || {
        let folder = place.0.path().join("plugins/previous");
        let entries = std::fs::read_dir(folder).map(|entries| entries.collect::<Vec<_>>());
        let mut names: Vec<String> = entries
            .unwrap_or_default()
            .into_iter()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let previous = || {
        let (config, _) = place.installation().terms().unwrap();
        previous_version(&config, &name()).map(|(version, _)| version.to_string())
    };
    assert_eq!(previous(), None);
    place
        .install(&version("1.1.0"), Placement::Instead, Forward)
        .unwrap();
    assert_eq!(
        (kept(), previous().as_deref()),
        (vec!["text-1.0.0.wasm".to_owned()], Some("1.0.0"))
    );
    // Another plugin whose name begins alike is another plugin.
    let other = place.0.path().join("plugins/previous/text-more-1.0.0.wasm");
    std::fs::write(&other, "x").unwrap();
    place
        .install(&version("2.0.0"), Placement::Anyhow, Forward)
        .unwrap();
    assert_eq!(kept(), ["text-1.1.0.wasm", "text-more-1.0.0.wasm"]);
    assert_eq!(place.installed(), ["text-2.0.0.wasm"]);
    // Back, and forth again.
    place
        .install(&version("1.1.0"), Placement::Instead, Either)
        .unwrap();
    assert_eq!(previous().as_deref(), Some("2.0.0"));
    // Side by side nothing is replaced.
    place
        .install(&version("3.0.0"), Placement::Above, Forward)
        .unwrap();
    assert_eq!(previous().as_deref(), Some("2.0.0"));
    place.remove(Some("1.1.0"), Forward).unwrap();
    assert_eq!(previous().as_deref(), Some("2.0.0"));
    place.remove(None, Forward).unwrap();
    assert_eq!(
        (kept(), previous()),
        (vec!["text-more-1.0.0.wasm".to_owned()], None)
    );
}
