//! `mizzen key`, `plugin inspect|sign|verify|check`, `trust` and `plugins`, run as a user runs them.

use crate::support::place::{Place, component, path_text, text};
use mizzen_catalog::package::embed_manifest;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;

#[test]
fn a_key_is_made_listed_and_shown_and_never_overwritten() {
    let place = Place::new();
    let made = place.json(&["key", "new", "release", "--comment", "ours"]);
    let id = made["id"].as_str().unwrap();
    assert!(id.starts_with("mzk_") && id.len() == 36);
    let secret = place.path("home/keys/release.key");
    assert_eq!(fs::metadata(&secret).unwrap().permissions().mode() & 0o777, 0o600);
    let before = fs::read(&secret).unwrap();
    assert!(
        place
            .no(&["key", "new", "release"])
            .contains("there is a key `release` already")
    );
    assert_eq!(fs::read(&secret).unwrap(), before);
    assert!(place.yes(&["key", "list"]).contains(id));
    assert_eq!(place.json(&["key", "show", "release"])["comment"], "ours");
    assert!(
        place
            .no(&["key", "show", "nobody"])
            .contains("mizzen key new nobody")
    );
    assert!(place.no(&["key", "new", "../x"]).contains("is not a key name"));
    let shown = place.yes(&["key", "show", "release"]) + &place.yes(&["key", "list", "--json"]);
    let secret_text = text(&before);
    let secret_hex = secret_text
        .split("ed25519:")
        .nth(1)
        .unwrap()
        .trim_matches(['"', '\n']);
    assert!(!shown.contains(secret_hex), "the secret is never printed");
}

#[test]
fn an_unsigned_package_is_refused_and_a_signed_one_passes() {
    let place = Place::new();
    place.yes(&["key", "new", "dev"]);
    let package = place.package("text", "1.0.0", &[]);
    let file = path_text(&package);
    assert!(place.no(&["plugin", "verify", file]).contains("not signed"));
    assert!(place.no(&["plugin", "check", file]).contains("[signature]"));
    place.yes(&["plugin", "sign", file, "--key", "dev"]);
    assert!(
        place
            .yes(&["plugin", "verify", file])
            .contains("the signatures hold")
    );
    // W1: every static stage passes, and it is no plugin: a host would refuse it when it describes itself.
    assert!(place.no(&["plugin", "check", file]).contains("[describe-failed]"));
    assert!(
        place
            .no(&["plugin", "sign", file, "--key", "dev"])
            .contains("already signed")
    );
    let inspected = place.json(&["plugin", "inspect", file]);
    assert_eq!(inspected["manifest"]["plugin"]["name"], "text");
    assert_eq!(inspected["signatures_hold"], true);
    assert!(
        place
            .yes(&["plugin", "inspect", file])
            .contains("import      1 of WASI, answered by closed implementations")
    );
}

#[test]
fn a_flipped_bit_makes_verify_and_check_refuse() {
    let place = Place::new();
    let package = place.signed("text", "1.0.0", &[]);
    let good = fs::read(&package).unwrap();
    let damaged = place.path("damaged.wasm");
    for at in (0..good.len()).step_by(17) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&damaged, &bytes).unwrap();
        place.no(&["plugin", "verify", path_text(&damaged)]);
        place.no(&["plugin", "check", path_text(&damaged)]);
    }
    // W30: advice to sign a file that was changed would make it a good one. The manifest's text is changed, and still fits.
    let text = b"1.0.0";
    let at = good
        .windows(text.len())
        .rposition(|window| window == text)
        .unwrap();
    let mut bytes = good;
    bytes[at] = b'2';
    fs::write(&damaged, &bytes).unwrap();
    let shown = place.no(&["plugin", "check", path_text(&damaged)]);
    assert!(
        shown.contains("get it again from its author") && !shown.contains("plugin sign"),
        "{shown}"
    );
}

#[test]
fn files_that_are_no_packages_have_a_clear_error() {
    let place = Place::new();
    for (bytes, said) in [
        (&b""[..], "empty"),
        (b"\x7fELF\x02", "precompiled"),
        (b"\0asm\x01\0\0\0", "core module"),
        (b"\0asm\x0d\0\x01\0\0\xff\xff\xff\xff\x0f", "does not fit"),
        (b"random bytes", "not WebAssembly"),
    ] {
        fs::write(place.path("x.wasm"), bytes).unwrap();
        for verb in ["verify", "check", "inspect"] {
            let shown = place.no(&["plugin", verb, "x.wasm"]);
            assert!(
                shown.contains(said) && !shown.contains("panicked"),
                "{verb}: {shown}"
            );
        }
    }
    assert!(
        place
            .no(&["plugin", "check", "missing.wasm"])
            .contains("missing.wasm")
    );
    assert!(place.no(&["plugin", "check", "."]).contains("not a regular file"));
}

#[test]
fn an_import_without_a_permission_names_the_line_to_add() {
    let place = Place::new();
    place.yes(&["key", "new", "dev"]);
    let manifest = "[plugin]\nname = \"greedy\"\nversion = \"1.0.0\"\napi_version = \"1\"\nnamespaces = [\"greedy\"]\nprovides = [\"tool\"]\n";
    let bytes = embed_manifest(&component(&["mizzen:plugin/kv@1.0.0"]), manifest).unwrap();
    fs::write(place.path("greedy.wasm"), bytes).unwrap();
    place.yes(&["plugin", "sign", "greedy.wasm", "--key", "dev"]);
    let said = place.no(&["plugin", "check", "greedy.wasm"]);
    assert!(
        said.contains("[permissions]") && said.contains("\"kv:read\" = \"why this plugin needs it\""),
        "{said}"
    );
    let refused = place.json(&["plugin", "check", "greedy.wasm"]);
    assert_eq!(refused["errors"][0]["code"], "import-not-permitted");
    assert_eq!(refused["errors"][0]["plugin"], "greedy@1.0.0");
}

#[test]
fn verify_can_ask_for_a_key_or_for_a_trust_file() {
    let place = Place::new();
    let package = place.signed("text", "1.0.0", &[]);
    let file = path_text(&package);
    place.yes(&["key", "new", "other"]);
    place.yes(&["plugin", "verify", file, "--key", "dev"]);
    place.yes(&[
        "plugin",
        "verify",
        file,
        "--key",
        path_text(&place.path("home/keys/dev.pub")),
    ]);
    assert!(
        place
            .no(&["plugin", "verify", file, "--key", "other"])
            .contains("none is by key")
    );
    place.yes(&[
        "trust",
        "add",
        "other",
        "--namespace",
        "text",
        "--trust",
        "t.toml",
    ]);
    assert!(
        place
            .no(&["plugin", "verify", file, "--trust", "t.toml"])
            .contains("may not sign for namespace text")
    );
    place.yes(&["trust", "add", "dev", "--namespace", "text", "--trust", "t.toml"]);
    place.yes(&["plugin", "verify", file, "--trust", "t.toml"]);
    assert!(
        place
            .no(&["plugin", "verify", file, "--trust", "missing.toml"])
            .contains("there is no missing.toml")
    );
}

#[test]
fn trust_is_edited_and_explained() {
    let place = Place::new();
    let package = place.signed("text", "1.0.0", &[]);
    let file = path_text(&package);
    let id = place.json(&["key", "show", "dev"])["id"]
        .as_str()
        .unwrap()
        .to_owned();
    fs::write(place.path("trust.toml"), "# kept\n").unwrap();
    let check = ["trust", "check", file, "--trust", "trust.toml"];
    assert!(
        place
            .no(&check)
            .contains(&format!("refused: key {id} may not sign for namespace text"))
    );
    let expired = ["--not-after", "2020-01-01T00:00:00Z"];
    place.yes(&[&["trust", "add", "dev", "--namespace", "text"][..], &expired].concat());
    assert!(place.no(&check).contains("was valid until 2020-01-01T00:00:00Z"));
    place.yes(&[
        "trust",
        "add",
        "dev",
        "--namespace",
        "text",
        "--not-after",
        "2999-01-01T00:00:00Z",
        "--signatures",
        "2",
    ]);
    assert!(place.no(&check).contains("needs 2 signatures"));
    place.yes(&["key", "new", "second"]);
    place.yes(&["trust", "add", "second", "--namespace", "text"]);
    place.yes(&["plugin", "sign", file, "--key", "second"]);
    assert!(place.yes(&check).contains("trusted: namespace text: 2 of 2"));
    let listed = place.yes(&["trust", "list"]);
    assert!(
        listed.contains(&id) && listed.contains("text  needs 2 signatures"),
        "{listed}"
    );
    place.yes(&["trust", "revoke", &id, "--reason", "the laptop was stolen"]);
    assert!(
        place
            .no(&check)
            .contains("has been revoked: the laptop was stolen")
    );
    assert!(
        fs::read_to_string(place.path("trust.toml"))
            .unwrap()
            .contains("# kept")
    );
    assert!(
        place
            .no(&["trust", "revoke", "everybody", "--reason", "x"])
            .contains("neither a key's id")
    );
}

#[test]
fn a_plugin_that_asks_for_permissions_waits_for_approval() {
    let place = Place::new();
    place.host();
    let package = place.working("text", "1.0.0", &["kv:read"]);
    let before = place.config();
    let waiting = place.no(&["plugins", "install", path_text(&package)]);
    assert!(
        waiting.contains("+ kv:read  (it is needed)") && waiting.contains("--approve"),
        "{waiting}"
    );
    assert_eq!(place.config(), before);
    assert_eq!(place.packages(), 0);
    place.yes(&["plugins", "install", path_text(&package), "--approve"]);
    assert!(place.path("plugins/text-1.0.0.wasm").exists());
    assert!(
        place.config().contains("# our host") && place.config().contains("text = [\"kv:read\"]"),
        "{}",
        place.config()
    );
    assert!(
        place
            .no(&["plugins", "install", path_text(&package)])
            .contains("already installed")
    );
    let plan = place.json(&["plugins", "plan"]);
    assert_eq!(plan["plugins"][0]["name"], "text");
    assert_eq!(plan["hash"], place.json(&["plugins", "list"])["hash"]);
    assert_eq!(plan, place.json(&["plugins", "plan"]));
}

#[test]
fn an_upgrade_shows_the_difference_and_waits_when_it_asks_for_more() {
    let place = Place::new();
    place.host();
    let first = place.working("text", "1.0.0", &["kv:read"]);
    place.yes(&["plugins", "install", path_text(&first), "--approve"]);
    let more = place.working("text", "1.1.0", &["kv:read", "clock"]);
    let refused = place.no(&["plugins", "upgrade", path_text(&more)]);
    assert!(
        refused.contains("+ clock") && refused.contains("  kv:read"),
        "{refused}"
    );
    assert!(
        place.path("plugins/text-1.0.0.wasm").exists() && !place.path("plugins/text-1.1.0.wasm").exists()
    );
    place.yes(&["plugins", "grants", "text", "--add", "clock"]);
    place.yes(&["plugins", "upgrade", path_text(&more)]);
    assert!(
        !place.path("plugins/text-1.0.0.wasm").exists() && place.path("plugins/text-1.1.0.wasm").exists()
    );
    let back = ["plugins", "upgrade", path_text(&first)];
    let said = place.no(&back);
    assert!(
        said.contains("text 1.0.0 is older than 1.1.0") && said.contains("--allow-downgrade"),
        "{said}"
    );
    place.yes(&[&back[..], &["--allow-downgrade"]].concat());
    assert!(place.path("plugins/text-1.0.0.wasm").exists());
    place.yes(&["plugins", "grants", "text", "--add", "clock"]);
    place.yes(&["plugins", "upgrade", path_text(&more)]);
    let kept = place.working("text", "2.0.0", &["kv:read"]);
    assert!(
        place
            .yes(&["plugins", "upgrade", path_text(&kept), "--keep"])
            .contains("- clock")
    );
    assert_eq!(place.packages(), 2);
    let listed = place.json(&["plugins", "list"]);
    let defaults: Vec<&Value> = listed["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["default"] == true)
        .collect();
    assert_eq!(
        (defaults.len(), &defaults[0]["version"]),
        (1, &Value::from("2.0.0"))
    );
    assert!(
        place
            .no(&["plugins", "remove", "text"])
            .contains("choose the one to remove")
    );
    for verb in [
        ["plugins", "remove", "text@2.0.0"],
        ["plugins", "disable", "text@2.0.0"],
    ] {
        let said = place.no(&verb);
        assert!(said.contains("text 1.1.0 is older than 2.0.0"), "{said}");
    }
    assert_eq!(place.packages(), 2);
    let said = place.yes(&["plugins", "remove", "text@1.1.0"]);
    assert!(
        said.contains("no longer granted") && said.contains("clock"),
        "{said}"
    );
    assert!(
        place.config().contains("text = [\"kv:read\"]"),
        "the other version keeps its grants, and no more: {}",
        place.config()
    );
    place.yes(&["plugins", "remove", "text"]);
    assert!(!place.config().contains("kv:read"));
    assert!(
        place
            .no(&["plugins", "remove", "text"])
            .contains("is not installed")
    );
}

#[test]
fn a_refused_install_leaves_everything_as_it_was() {
    let place = Place::new();
    place.host();
    place.yes(&[
        "plugins",
        "install",
        path_text(&place.working("text", "1.0.0", &[])),
    ]);
    let hash = place.json(&["plugins", "plan"])["hash"].clone();
    place.yes(&["key", "new", "stranger"]);
    let stranger = place.package("evil", "1.0.0", &["kv:read"]);
    place.yes(&["plugin", "sign", path_text(&stranger), "--key", "stranger"]);
    let before = place.config();
    let said = place.no(&["plugins", "install", path_text(&stranger), "--approve"]);
    assert!(said.contains("[untrusted-key]"), "{said}");
    assert_eq!(place.config(), before);
    assert_eq!(place.json(&["plugins", "plan"])["hash"], hash);
    assert_eq!(place.packages(), 1);
}

#[test]
fn a_bad_set_lists_all_its_problems_and_what_is_installed() {
    let place = Place::new();
    place.host();
    let one = place.working("text", "1.0.0", &["kv:read"]);
    fs::copy(&one, place.path("plugins/a.wasm")).unwrap();
    fs::write(place.path("plugins/b.wasm"), "nonsense").unwrap();
    let said = place.no(&["plugins", "plan"]);
    assert!(
        said.contains("[permission-not-granted]") && said.contains("[package]"),
        "{said}"
    );
    assert!(
        said.contains("run: mizzen plugins grants text --add kv:read"),
        "{said}"
    );
    let listed = place.json(&["plugins", "list"]);
    let states: Vec<&str> = listed["plugins"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["refused", "unreadable"]);
    fs::remove_file(place.path("plugins/b.wasm")).unwrap();
    place.yes(&["plugins", "disable", "text"]);
    place.yes(&["plugins", "plan"]);
    assert_eq!(
        place.json(&["plugins", "list"])["plugins"][0]["state"],
        "disabled"
    );
    let said = place.no(&["plugins", "enable", "text"]);
    assert!(
        said.contains("[permission-not-granted]"),
        "a set that would not load is not made: {said}"
    );
    place.yes(&["plugins", "grants", "text", "--add", "kv:read"]);
    place.yes(&["plugins", "enable", "text"]);
    assert!(place.yes(&["plugins", "grants"]).contains("may do: kv:read"));
    place.yes(&["plugins", "plan"]);
    assert!(
        place
            .no(&["plugins", "grants", "text", "--add", "root"])
            .contains("no such name")
    );
}

#[test]
fn first_use_pins_a_key_and_a_changed_key_is_refused_with_both_ids() {
    let place = Place::new();
    place.host();
    fs::write(
        place.path("mizzen.toml"),
        place.config().replace("\"dev\"", "\"tofu\""),
    )
    .unwrap();
    let old = place.working("text", "1.0.0", &[]);
    let pins = place.path("pins.toml");
    place.yes(&["plugins", "plan"]);
    assert!(!pins.exists(), "planning pins nothing");
    place.yes(&["plugins", "install", path_text(&old)]);
    let pinned = fs::read_to_string(&pins).unwrap();
    assert!(pinned.contains("\"text\" = { key = \"mzk_"), "{pinned}");
    let new = place.working_unsigned("text", "1.1.0", &[]);
    place.yes(&["key", "new", "other"]);
    place.yes(&["plugin", "sign", path_text(&new), "--key", "other"]);
    let said = place.no(&["plugins", "upgrade", path_text(&new)]);
    let id = |name: &str| {
        place.json(&["key", "show", name])["id"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    assert!(
        said.contains("[key-changed]") && said.contains(&id("dev")) && said.contains(&id("other")),
        "{said}"
    );
    // W29: what is pinned is shown, and can be forgotten.
    let listed = place.yes(&["trust", "list"]);
    assert!(
        listed.contains(&format!("{}  pinned for text (tofu, first seen 2", id("dev"))),
        "{listed}"
    );
    let pins = place.json(&["trust", "list"])["pins"].clone();
    assert_eq!(pins["text"]["key"], id("dev"), "{pins}");
    let said = place.yes(&["trust", "unpin", "text"]);
    assert!(said.contains("is no longer pinned to"), "{said}");
    assert!(
        place
            .no(&["trust", "unpin", "text"])
            .contains("no key is pinned for text")
    );
    place.yes(&["plugins", "upgrade", path_text(&new)]);
    assert!(place.yes(&["trust", "list"]).contains(&id("other")));
}

/// What the claim is trusted for by hand, and what is described below it is seen for the first time.
#[test]
fn an_install_pins_the_namespaces_that_are_described_and_not_claimed() {
    let place = Place::new();
    place.host();
    fs::write(
        place.path("mizzen.toml"),
        place.config().replace("\"dev\"", "\"tofu\""),
    )
    .unwrap();
    let package = place.working("text", "1.0.0", &[]);
    place.yes(&["trust", "add", "dev", "--namespace", "text"]);
    let planned = place.yes(&["plugins", "plan"]);
    assert!(planned.contains("0 plugins"), "{planned}");
    place.yes(&["plugins", "install", path_text(&package)]);
    let pins = place.json(&["trust", "list"])["pins"].clone();
    let pinned: Vec<&String> = pins.as_object().unwrap().keys().collect();
    assert!(pinned.len() == 1 && pinned[0].starts_with("text.x"), "{pins}");
}

/// W17.
#[test]
fn a_rollback_exchanges_the_installed_version_and_the_one_that_it_replaced() {
    let place = Place::new();
    place.host();
    let first = place.working("text", "1.0.0", &["kv:read"]);
    place.yes(&["plugins", "install", path_text(&first), "--approve"]);
    assert!(
        place
            .no(&["plugins", "rollback", "text"])
            .contains("no earlier version of text is kept")
    );
    let second = place.working("text", "1.1.0", &[]);
    let said = place.yes(&["plugins", "upgrade", path_text(&second)]);
    assert!(
        said.contains("plugins/previous/text-1.0.0.wasm") && said.contains("text 1.0.0 → 1.1.0"),
        "{said}"
    );
    // Its grant went with the upgrade, so it waits for approval again.
    let waiting = place.no(&["plugins", "rollback", "text"]);
    assert!(
        waiting.contains("kv:read") && waiting.contains("--approve"),
        "{waiting}"
    );
    let said = place.yes(&["plugins", "rollback", "text", "--approve"]);
    assert!(said.contains("text 1.1.0 → 1.0.0"), "{said}");
    assert!(
        place.path("plugins/text-1.0.0.wasm").exists() && !place.path("plugins/text-1.1.0.wasm").exists()
    );
    place.yes(&["plugins", "plan"]);
    place.yes(&["plugins", "rollback", "text"]);
    assert!(place.path("plugins/text-1.1.0.wasm").exists());
    // What is kept is judged like any other package.
    fs::write(place.path("plugins/previous/text-1.0.0.wasm"), "nonsense").unwrap();
    assert!(
        place
            .no(&["plugins", "rollback", "text", "--approve"])
            .contains("[package]")
    );
}

#[test]
fn every_verb_has_help_with_an_example_and_wrong_usage_is_exit_code_two() {
    let place = Place::new();
    for (group, verbs) in [
        ("key", &["new", "list", "show"][..]),
        ("plugin", &["check", "inspect", "sign", "verify"]),
        ("trust", &["add", "list", "revoke", "unpin", "check"]),
        (
            "plugins",
            &[
                "list", "plan", "install", "upgrade", "rollback", "remove", "disable", "enable", "grants",
            ],
        ),
    ] {
        for verb in verbs {
            let help = place.yes(&[group, verb, "--help"]);
            assert!(
                help.contains("Example") && help.contains(&format!("mizzen {group} {verb}")),
                "{group} {verb}: {help}"
            );
            assert!(help.contains("--json"), "{group} {verb}");
            assert_eq!(
                place.run(&[group, verb, "--no-such-flag"]).status.code(),
                Some(2),
                "{group} {verb}"
            );
        }
        assert_eq!(
            place.run(&[group, "no-such-verb"]).status.code(),
            Some(2),
            "{group}"
        );
    }
}

#[test]
fn a_second_trust_of_a_key_keeps_its_comment_and_enabling_what_is_not_disabled_is_an_error() {
    let place = Place::new();
    place.host();
    place.yes(&["key", "new", "release"]);
    let trust = |more: &[&str]| place.yes(&[&["trust", "add", "release"], more].concat());
    trust(&["--namespace", "acme", "--comment", "ours, by hand"]);
    trust(&["--namespace", "acme.*"]);
    let listed = place.yes(&["trust", "list"]);
    assert!(
        listed.contains("acme, acme.*") && listed.contains("ours, by hand"),
        "{listed}"
    );
    // A key comes with the comment of whoever made it: one that would steer the terminal is not taken.
    let public = fs::read_to_string(place.path("home/keys/release.pub")).unwrap();
    let hostile = public.replace("comment = \"\"", "comment = \"a\\u001b[2Jb\"");
    fs::write(place.path("theirs.pub"), hostile).unwrap();
    fs::write(place.path("theirs.toml"), "").unwrap();
    let theirs = ["--trust", "theirs.toml"];
    let said = place.no(&[
        &["trust", "add", "theirs.pub", "--namespace", "acme"],
        &theirs[..],
    ]
    .concat());
    assert!(said.contains("comment: it is not one line"), "{said}");
    // What is revoked stays so, whoever trusts it: the verb must not say otherwise.
    let listed = place.json(&["trust", "list"]);
    let id = listed["keys"].as_object().unwrap().keys().next().unwrap().clone();
    place.yes(&["trust", "revoke", &id, "--reason", "stolen"]);
    let said = place.no(&["trust", "add", "release", "--namespace", "other"]);
    assert!(said.contains("has been revoked: stolen"), "{said}");
    assert!(!place.yes(&["trust", "list"]).contains("other"));

    let before = place.config();
    let said = place.no(&["plugins", "enable", "nobody"]);
    assert!(said.contains("nobody is not disabled"), "{said}");
    let said = place.no(&["plugins", "grants", "nobody", "--remove", "clock"]);
    assert!(said.contains("clock is not granted to nobody"), "{said}");
    assert_eq!(place.config(), before);
    // Granting beforehand is allowed, and a misspelt name is noticed.
    let granted = place.run(&["plugins", "grants", "nobody", "--add", "clock"]);
    assert!(granted.status.success());
    let said = String::from_utf8(granted.stderr).unwrap();
    assert!(said.contains("no plugin nobody is installed"), "{said}");
    place.yes(&["plugins", "grants", "nobody", "--remove", "clock"]);
}

#[test]
fn the_doctor_warns_of_a_mandatory_mount_without_a_version() {
    let place = Place::new();
    place.host();
    place.yes(&["key", "api", "--data", "data", "new", "--grant", "admin"]);
    let mounts = "[[governance]]\nid = \"acme.open\"\n[[governance]]\nid = \"acme.pinned\"\nversion = \"1.0.0\"\n\
                  [[governance]]\nid = \"acme.advice\"\nmode = \"advisory\"\n";
    fs::write(place.path("mizzen.toml"), place.config() + mounts).unwrap();
    // None of them is installed, which is a problem of its own.
    let said = place.no(&["doctor", "--data", "data"]);
    assert!(
        said.contains("warning: [[governance]] mounts acme.open as mandatory without a version"),
        "{said}"
    );
    assert_eq!(said.matches("warning:").count(), 1, "{said}");
    let report = place.json(&["doctor", "--data", "data", "--config", "mizzen.toml"]);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1, "{report}");
    assert!(
        place
            .no(&["doctor", "--data", "data", "--config", "nowhere.toml"])
            .contains("nowhere.toml")
    );
}
