//! The command line refuses what the host refuses: every verb about plugins goes through the host's own loader, to the stages that
//! run a plugin, and to the mounts of `mizzen.toml`.

use crate::support::place;
use place::{Place, component_of, path_text};
use std::fs;
use std::path::PathBuf;

/// W1: packages that pass every static stage, with the code of what the host refuses them for.
fn refused_when_described(place: &Place) -> Vec<(PathBuf, &'static str)> {
    let outside = place.package_of(&component_of("tests/guests/breaks-its-schema"), "outside", "");
    let asking = place.package_of(
        &place::below("asks-for-more", "asking"),
        "asking",
        "[permissions]\nclock = \"unused\"\n",
    );
    vec![
        (place.sign(outside), "outside-namespace"),
        (place.sign(asking), "tool-permission"),
        (
            place.sign(place.working_with("schema", "1.0.0", "[config]\ntype = \"objet\"\n")),
            "config-invalid",
        ),
        (
            place.sign(place.working_with("tables", "1.0.0", "[tools.nosuch.limits]\ncpu = \"1s\"\n")),
            "descriptor-invalid",
        ),
    ]
}

#[test]
fn check_install_plan_and_list_refuse_what_serve_refuses() {
    let place = Place::new();
    place.host();
    let before = place.config();
    for (package, code) in refused_when_described(&place) {
        let file = path_text(&package);
        let code = format!("[{code}]");
        for verb in [
            &["plugin", "check", file][..],
            &["plugins", "install", file, "--approve"],
        ] {
            let said = place.no(verb);
            assert!(said.contains(&code), "{verb:?}: {said}");
            // W31: a schema is the author's, in plugin.toml.
            assert!(
                code != "[config-invalid]" || said.contains("correct [config] in plugin.toml"),
                "{said}"
            );
        }
        assert_eq!(place.config(), before, "{file}");
        assert_eq!(place.packages(), 0, "{file}");

        // Put there by hand, it is not called ready either.
        let installed = place.path("plugins/bad.wasm");
        fs::copy(&package, &installed).unwrap();
        place.working("good", "1.0.0", &[]);
        fs::copy(place.path("good-1.0.0.wasm"), place.path("plugins/good.wasm")).unwrap();
        for verb in [&["plugins", "plan"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let said = place.no(verb);
            assert!(said.contains(&code), "{verb:?}: {said}");
        }
        let listed = place.json(&["plugins", "list"]);
        let states: Vec<&str> = listed["plugins"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| row["state"].as_str().unwrap())
            .collect();
        assert_eq!(states, ["refused", "not loaded"], "{listed}");
        // What is broken can be taken away, and then the rest is ready.
        fs::remove_file(installed).unwrap();
        assert_eq!(place.json(&["plugins", "list"])["plugins"][0]["state"], "ready");
        fs::remove_file(place.path("plugins/good.wasm")).unwrap();
    }
}

#[test]
fn a_plugin_can_be_taken_from_a_set_that_is_refused_when_it_describes_itself() {
    let place = Place::new();
    place.host();
    for (package, _) in refused_when_described(&place) {
        let name = package.file_name().unwrap();
        fs::copy(&package, place.path("plugins").join(name)).unwrap();
    }
    for plugin in ["outside", "asking", "schema"] {
        let output = place.run(&["plugins", "remove", plugin]);
        let said = place::text(&output.stderr);
        assert!(
            output.status.success() && said.contains("does not start with this set"),
            "{plugin}: {said}"
        );
    }
    place.yes(&["plugins", "disable", "tables"]);
    place.yes(&["plugins", "plan"]);
    assert!(place.no(&["plugins", "enable", "tables"]).contains("nosuch"));
}

/// W3: `DELETE /v1/plugins/NAME` and `mizzen plugins remove NAME` agree.
#[test]
fn a_pack_that_the_configuration_mounts_is_neither_removed_nor_disabled() {
    let place = Place::new();
    place.host();
    let folder = place.path("night");
    fs::create_dir(&folder).unwrap();
    fs::write(
        folder.join("pack.toml"),
        "[plugin]\nname = \"night\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"night\"]\n\
         [pack]\ndescription = \"For tests.\"\n",
    )
    .unwrap();
    fs::write(
        folder.join("rules.clp"),
        "(defrule late (moment (name before-run)) => (assert (decision (action veto) (reason \"late\"))))\n",
    )
    .unwrap();
    place.yes(&["pack", "build", "night", "--output", "plugins"]);
    place.yes(&["plugins", "plan"]);
    let mounted = format!("{}[[governance]]\nid = \"night\"\n", place.config());
    fs::write(place.path("mizzen.toml"), mounted).unwrap();
    for verb in [["plugins", "remove", "night"], ["plugins", "disable", "night"]] {
        let said = place.no(&verb);
        assert!(
            said.contains("[pack-unmountable]") && said.contains("night"),
            "{verb:?}: {said}"
        );
    }
    assert!(place.path("plugins/night-1.0.0.wasm").exists());
    assert!(!place.config().contains("disabled"), "{}", place.config());
    // Without the pack the set is not ready, although every file of it is sound.
    let mounted = place.config().replace("\"night\"", "\"day\"");
    fs::write(place.path("mizzen.toml"), mounted).unwrap();
    assert!(place.no(&["plugins", "plan"]).contains("[pack-unmountable]"));
    let listed = place.json(&["plugins", "list"]);
    assert_eq!(listed["plugins"][0]["state"], "not loaded", "{listed}");
}

/// A revocation is made whatever it breaks, and what it breaks is not left for the next start to find.
#[test]
fn a_revocation_that_keeps_the_host_from_starting_is_noted() {
    let place = Place::new();
    place.host();
    let package = place.working("text", "1.0.0", &[]);
    let stranger = "mzk_0123456789abcdef0123456789abcdef";
    let revoke = |what: &str| {
        let output = place.run(&["trust", "revoke", what, "--reason", "lost"]);
        assert!(output.status.success(), "{}", place::text(&output.stderr));
        place::text(&output.stderr)
    };
    place.yes(&["plugins", "install", path_text(&package)]);
    assert_eq!(revoke(stranger), "");
    let key = place.json(&["key", "show", "dev"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = revoke(&key);
    assert!(said.contains("does not start with this set"), "{said}");
    assert!(
        place
            .no(&["serve", "--listen", "127.0.0.1:0"])
            .contains("revoked")
    );
}

/// W16.
#[test]
fn a_grant_that_the_set_needs_is_taken_back_only_with_force() {
    let place = Place::new();
    place.host();
    let package = place.working("text", "1.0.0", &["kv:read", "clock"]);
    place.yes(&["plugins", "install", path_text(&package), "--approve"]);
    let before = place.config();
    let take = ["plugins", "grants", "text", "--remove", "kv:read"];
    let said = place.no(&take);
    assert!(
        said.contains("[permission-not-granted]") && said.contains("--force"),
        "{said}"
    );
    assert_eq!(place.config(), before);
    place.yes(&["plugins", "grants", "text", "--remove", "clock"]);
    place.yes(&["plugins", "plan"]);
    let output = place.run(&[&take[..], &["--force"]].concat());
    let said = place::text(&output.stderr);
    assert!(
        output.status.success() && said.contains("does not start with this set"),
        "{said}"
    );
    assert!(!place.config().contains("kv:read"), "{}", place.config());
    place.no(&["plugins", "plan"]);
    place.yes(&["plugins", "grants", "text", "--add", "kv:read"]);
    place.yes(&["plugins", "plan"]);
}

#[test]
fn an_install_needs_neither_the_hosts_environment_nor_less_than_its_profile() {
    let place = Place::new();
    place.host();
    let package = place.working("text", "1.0.0", &[]);
    let secrets = "[secrets]\ntoken = { env = \"MIZZEN_TEST_IS_NOT_SET\" }\n";
    fs::write(place.path("mizzen.toml"), format!("{}{secrets}", place.config())).unwrap();
    let said = place.no(&["serve", "--listen", "127.0.0.1:0"]);
    assert!(said.contains("MIZZEN_TEST_IS_NOT_SET is not set"), "{said}");
    place.yes(&["plugins", "install", path_text(&package)]);
    let cleared = format!("{}[host]\nprofile = \"cleared\"\n", place.config());
    fs::write(place.path("mizzen.toml"), cleared).unwrap();
    let said = place.no(&["plugins", "plan"]);
    assert!(said.contains("takes pinned trust only"), "{said}");
}

/// W19: a misspelt section would leave a plugin without its settings, and nothing would say so.
#[test]
fn settings_that_no_plugin_reads_are_refused_and_go_with_their_plugin() {
    let place = Place::new();
    place.host();
    let schema = "[config]\ntype = \"object\"\n";
    let set = place.sign(place.working_with("set", "1.0.0", schema));
    place.yes(&["plugins", "install", path_text(&set)]);
    let plain = place.working("plain", "1.0.0", &[]);
    place.yes(&["plugins", "install", path_text(&plain)]);
    let before = place.config();
    for (section, said) in [
        ("sett", "[config.sett] of mizzen.toml names no installed plugin"),
        (
            "plain",
            "[config.plain] of mizzen.toml is for a plugin without settings",
        ),
    ] {
        fs::write(
            place.path("mizzen.toml"),
            format!("{before}[config.{section}]\nx = 1\n"),
        )
        .unwrap();
        for verb in [&["plugins", "plan"][..], &["serve", "--listen", "127.0.0.1:0"]] {
            let refused = place.no(verb);
            assert!(refused.contains(said), "{verb:?}: {refused}");
        }
    }
    fs::write(
        place.path("mizzen.toml"),
        format!("{before}[config.set]\nx = 1\n"),
    )
    .unwrap();
    place.yes(&["plugins", "plan"]);
    place.yes(&["plugins", "disable", "set"]);
    place.yes(&["plugins", "plan"]);
    let said = place.yes(&["plugins", "remove", "set"]);
    assert!(said.contains("removed its settings, [config.set]"), "{said}");
    assert!(!place.config().contains("config.set"), "{}", place.config());
    place.yes(&["plugins", "plan"]);
}

#[test]
fn limits_above_the_maximum_are_said_to_be_clamped() {
    let place = Place::new();
    let limits = "[limits]\nmemory = \"900GiB\"\ncpu = \"10h\"\n";
    let package = place.sign(place.working_with("large", "1.0.0", limits));
    for verb in ["check", "inspect"] {
        let said = place.yes(&["plugin", verb, path_text(&package)]);
        for part in ["calls get 512MiB", "calls get 30s"] {
            assert!(said.contains(part), "{verb}: {said}");
        }
    }
}
