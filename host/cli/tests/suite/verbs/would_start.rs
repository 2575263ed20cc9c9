//! `mizzen serve --check` and `mizzen doctor` say what would keep a host from starting, and `mizzen serve` says the same.

use crate::support::place::Place;
use std::fs;

const SERVE: [&str; 5] = ["serve", "--listen", "127.0.0.1:0", "--data", "data"];

/// W10.
#[test]
fn what_keeps_a_host_from_starting_is_found_before_it_is_started() {
    let place = Place::new();
    place.host();
    let plain = place.config();
    let package = place.working("text", "1.0.0", &["kv:read"]);
    let installed = place.path("plugins/text.wasm");
    // The key keeps two cases below from being refused for another reason, and makes the database.
    place.yes(&["key", "api", "--data", "data", "new", "--grant", "admin"]);
    for verb in [
        &["serve", "--check", "--data", "data"][..],
        &["doctor", "--data", "data"],
    ] {
        assert!(place.yes(verb).contains("ok: "), "{verb:?}");
    }
    for (more, said) in [
        (
            "[server]\ntls_certificate = \"no.pem\"\ntls_key = \"no.key\"\n",
            "no.pem cannot be used for TLS",
        ),
        ("[server]\ntls_certificate = \"no.pem\"\n", "belong together"),
        ("[server]\nrate_burst = 0\n", "server.rate_burst is 0"),
        ("[server]\nlistne = \"x\"\n", "listne"),
        (
            "[secrets]\ntoken = { env = \"MIZZEN_TEST_IS_NOT_SET\" }\n",
            "MIZZEN_TEST_IS_NOT_SET is not set",
        ),
        ("[[governance]]\nid = \"nowhere\"\n", "pack-unmountable"),
        (
            "[config.nosuch]\nx = 1\n",
            "[config.nosuch] of mizzen.toml names no installed plugin",
        ),
        ("[host]\nprofile = \"cleared\"\n", "takes pinned trust only"),
        (
            "[channels.slack]\nurl = \"https://x.example/\"\nsecret = { env = \"MIZZEN_TEST_IS_NOT_SET\" }\n",
            "channels.slack",
        ),
        ("[telemetry]\nsample = 0.5\n", "names no collector"),
        (
            "[runs]\nescalation_expires = \"soon\"\n",
            "runs.escalation_expires",
        ),
    ] {
        fs::write(place.path("mizzen.toml"), format!("{plain}{more}")).unwrap();
        for verb in [
            &["serve", "--check", "--data", "data"][..],
            &["doctor", "--data", "data", "--config", "mizzen.toml"],
            &SERVE,
        ] {
            let found = place.no(verb);
            assert!(found.contains(said), "{more}\n{verb:?}: {found}");
        }
    }
    // A package that needs a grant, and two problems at once: neither hides the other.
    fs::copy(&package, &installed).unwrap();
    let more = "[secrets]\ntoken = { file = \"no-such-file\" }\n[server]\ntls_certificate = \"no.pem\"\ntls_key = \"no.key\"\n";
    fs::write(place.path("mizzen.toml"), format!("{plain}{more}")).unwrap();
    let found = place.json(&["serve", "--check", "--data", "data"]);
    assert_eq!(found["ok"], false);
    let problems = found["problems"].to_string();
    for part in ["permission-not-granted", "no.pem"] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    fs::remove_file(installed).unwrap();
    fs::write(place.path("mizzen.toml"), &plain).unwrap();
    // The host's own key.
    fs::create_dir_all(place.path("data/keys")).unwrap();
    fs::write(place.path("data/keys/host.key"), "nonsense").unwrap();
    for verb in [&["serve", "--check", "--data", "data"][..], &SERVE] {
        assert!(place.no(verb).contains("host.key"), "{verb:?}");
    }
}

/// What keeps a host from starting is not hidden by a database that is missing or cannot be read.
#[test]
fn the_doctor_of_a_host_that_never_started_shows_what_would_keep_it_from_starting() {
    let place = Place::new();
    place.host();
    let new = place.no(&["doctor", "--data", "data"]);
    assert!(new.contains("data") && !new.contains("does not start"), "{new}");
    let more =
        "[server]\ntls_certificate = \"no.pem\"\ntls_key = \"no.key\"\n[[governance]]\nid = \"nowhere\"\n";
    fs::write(place.path("mizzen.toml"), place.config() + more).unwrap();
    for is_damaged in [false, true] {
        if is_damaged {
            fs::create_dir(place.path("data")).unwrap();
            fs::write(place.path("data/mizzen.db"), "nonsense ".repeat(100)).unwrap();
        }
        let said = place.no(&["doctor", "--data", "data"]);
        for part in ["the host does not start: ", "no.pem", "pack-unmountable"] {
            assert!(said.contains(part), "{part}: {said}");
        }
        let report = place.json(&["doctor", "--data", "data"]);
        assert!(report["problems"].as_array().unwrap().len() >= 3, "{report}");
    }
}

#[test]
fn a_host_without_keys_is_told_so_before_it_is_started() {
    let place = Place::new();
    place.host();
    let check = ["serve", "--check", "--data", "data", "--listen"];
    place.yes(&[&check[..], &["127.0.0.1:0"]].concat());
    let said = place.no(&[&check[..], &["0.0.0.0:0"]].concat());
    assert!(said.contains("no API key exists"), "{said}");
    let cleared = "[host]\nprofile = \"cleared\"\n";
    fs::write(
        place.path("mizzen.toml"),
        place.config().replace("\"dev\"", "\"pinned\"") + cleared,
    )
    .unwrap();
    let said = place.no(&[&check[..], &["127.0.0.1:0"]].concat());
    assert!(said.contains("needs authentication"), "{said}");
    assert!(!place.path("data").exists(), "a check writes nothing");
}

#[test]
fn what_can_be_refused_without_plugins_is_refused_before_they_are_loaded() {
    let place = Place::new();
    place.host();
    let more = "[server]\ntls_certificate = \"no.pem\"\ntls_key = \"no.key\"\n";
    let watching = place.config().replace("[trust]", "watch = true\n[trust]");
    fs::write(place.path("mizzen.toml"), watching + more).unwrap();
    let said = place.no(&SERVE);
    assert!(said.contains("no.pem"), "{said}");
    for log in ["loading plugins", "broke off", "plugins loaded"] {
        assert!(!said.contains(log), "{log}: {said}");
    }
}
