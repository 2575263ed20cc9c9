//! Changes of a set, and what must not pass for one.

use super::*;

#[test]
fn a_change_is_tried_without_touching_a_file() {
    let (folder, sources) = set_of(&[
        PluginFixture::new("a", &["acme"]),
        PluginFixture::new("b", &["b"]),
    ]);
    let old = folder.path().join("a-1.0.0.wasm");
    let add = |plugin: PluginFixture| Some((folder.path().join("new.wasm"), plugin.package()));
    let upgrade = Change {
        add: add(PluginFixture {
            version: "1.1.0",
            ..PluginFixture::new("a", &["acme"])
        }),
        remove: vec![old],
    };
    assert_eq!(
        order_of(&load_changed(&sources, &upgrade, &dev_terms()).unwrap()),
        ["a@1.1.0", "b@1.0.0"]
    );
    let conflict = Change {
        add: add(PluginFixture::new("c", &["acme"])),
        remove: vec![],
    };
    assert_eq!(
        codes(load_changed(&sources, &conflict, &dev_terms())),
        ["namespace-conflict"]
    );
    assert_eq!(
        order_of(&load_set(&sources, &dev_terms()).unwrap()),
        ["a@1.0.0", "b@1.0.0"]
    );
}

#[test]
fn scanning_shows_what_is_installed_even_when_the_set_is_bad() {
    let (folder, sources) = set_of(&[PluginFixture {
        keys: &[],
        ..PluginFixture::new("a", &["a"])
    }]);
    std::fs::write(folder.path().join("b.wasm"), b"x").unwrap();
    let found = scan(&sources, MAX_PACKAGE);
    let names: Vec<Option<&str>> = found
        .iter()
        .map(|found| found.manifest.as_ref().map(|manifest| manifest.name().as_str()))
        .collect();
    assert_eq!(names, [Some("a"), None]);
}

#[test]
fn a_package_with_the_name_of_another_plugin_is_not_its_next_version() {
    let real = PluginFixture {
        permissions: &["kv:read"],
        ..PluginFixture::new("text", &["acme"])
    };
    let impostor = PluginFixture {
        version: "99.0.0",
        permissions: &["kv:read"],
        ..PluginFixture::new("text", &["evil"])
    };
    assert_eq!(codes(load(&[real.clone(), impostor])), ["duplicate-plugin"]);
    let next = PluginFixture {
        version: "2.0.0",
        ..PluginFixture::new("text", &["acme", "acme.more"])
    };
    assert_eq!(codes(load(&[real, next])), [""; 0]);
}

#[test]
fn a_pack_imports_the_log_and_nothing_that_takes_a_permission() {
    let pack = |imports| PluginFixture {
        provides: "\"pack\"",
        exports: &["mizzen:plugin/pack@1.0.0"],
        permissions: &["kv:read"],
        imports,
        ..PluginFixture::new("a", &["a"])
    };
    assert_eq!(
        codes(load(&[pack(&[
            "mizzen:plugin/log@1.0.0",
            "wasi:io/streams@0.2.6"
        ])])),
        [""; 0]
    );
    assert_eq!(
        codes(load(&[pack(&["mizzen:plugin/kv@1.0.0"])])),
        ["import-not-permitted"]
    );
}

#[test]
fn a_folder_that_is_not_there_is_a_problem_of_the_set_unless_an_install_would_make_it() {
    let sources = |folders: &[&str]| Sources {
        folders: folders.iter().map(Into::into).collect(),
        ..Sources::default()
    };
    let first = sources(&["no/such/folder"]);
    assert_eq!(codes(load_set(&first, &dev_terms())), [""; 0]);
    assert_eq!(first.missing_folder(), Some(Path::new("no/such/folder")));
    let second = sources(&[".", "no/such/folder"]);
    assert_eq!(codes(load_set(&second, &dev_terms())), ["unreadable"]);
    assert_eq!(second.missing_folder(), None);
    // What is there and is no folder is never taken for an empty one.
    assert_eq!(
        codes(load_set(&sources(&["Cargo.toml"]), &dev_terms())),
        ["unreadable"]
    );
}

/// W19.
#[test]
fn settings_that_no_plugin_reads_are_a_problem_of_the_set() {
    let (_folder, mut sources) = set_of(&[
        PluginFixture {
            more: "[config]\ntype = \"object\"\n",
            ..PluginFixture::new("set", &["a"])
        },
        PluginFixture::new("plain", &["b"]),
        PluginFixture::new("off", &["c"]),
    ]);
    sources.disabled.insert((PluginName::parse("off").unwrap(), None));
    let plan = load_set(&sources, &dev_terms()).unwrap();
    let unread = |name: &str| {
        let name = PluginName::parse(name).unwrap();
        let problems = unread_settings([&name], &plan);
        problems.first().map(|problem| problem.to_string())
    };
    assert_eq!(unread("set"), None);
    assert_eq!(unread("off"), None, "it waits for the plugin");
    let message = unread("sett").unwrap();
    assert!(
        message.contains("[config.sett] of mizzen.toml names no installed plugin")
            && message.contains("plugins with settings: set"),
        "{message}"
    );
    assert!(unread("plain").unwrap().contains("plugin without settings"));
}

#[test]
fn an_upgrade_that_asks_for_more_waits_unless_it_was_granted_beforehand() {
    let version = |version, permissions| PluginFixture {
        version,
        permissions,
        ..PluginFixture::new("a", &["a"])
    };
    let plan_of = |plugin: PluginFixture, terms: &Terms| {
        let (_folder, sources) = set_of(&[plugin]);
        load_set(&sources, terms).unwrap()
    };
    let narrow = granting(&["kv:read"]);
    let old = plan_of(version("1.0.0", &["kv:read"]), &narrow);
    let running = || old.plugins().iter().map(|planned| planned.plugin().as_ref());
    let more = plan_of(version("1.1.0", &["kv:read", "clock"]), &narrow);
    let waiting = waiting_upgrades(running(), &more);
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].code, LoadCode::ApprovalNeeded);
    assert!(
        waiting[0].help.contains("mizzen plugins grants a --add clock"),
        "{}",
        waiting[0].help
    );
    let granted = plan_of(
        version("1.1.0", &["kv:read", "clock"]),
        &granting(&["kv:read", "clock"]),
    );
    assert_eq!(waiting_upgrades(running(), &granted), []);
    assert_eq!(
        waiting_upgrades(running(), &plan_of(version("1.1.0", &["kv:read"]), &narrow)),
        []
    );
    assert_eq!(
        waiting_upgrades(running(), &old),
        [],
        "what runs already does not wait"
    );
    assert_eq!(waiting_upgrades([], &more), [], "a start is not an upgrade");
}
