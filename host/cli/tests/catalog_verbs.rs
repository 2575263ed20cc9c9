//! `mizzen key`, `plugin inspect|sign|verify|check`, `trust` and `plugins`, run as a user runs them.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_catalog::package::embed_manifest;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use wasm_encoder::{
    Component, ComponentExportKind, ComponentExportSection, ComponentImportSection, ComponentInstanceSection,
    ComponentTypeRef, ComponentTypeSection, InstanceType,
};

/// A folder with a home of its own, in which verbs are run.
struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_mizzen"))
            .args(arguments)
            .current_dir(self.folder.path())
            .env("MIZZEN_HOME", self.path("home"))
            .output()
            .unwrap()
    }

    /// Runs a verb that must say yes, and gives its stdout.
    fn yes(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a verb that must say no with exit code 1, and gives its stdout and stderr.
    fn no(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let said = text(&output.stdout) + &text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        said
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_slice(&self.run(&[arguments, &["--json"]].concat()).stdout).unwrap()
    }

    /// A package that is not signed yet.
    fn package(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        let lines: String = permissions
            .iter()
            .map(|text| format!("\"{text}\" = \"it is needed\"\n"))
            .collect();
        let manifest = format!(
            "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\nprovides = [\"tool\"]\n[permissions]\n{lines}"
        );
        let mut imports = vec!["wasi:cli/environment@0.2.6"];
        if permissions.iter().any(|text| text.starts_with("kv")) {
            imports.push("mizzen:plugin/kv@1.0.0");
        }
        let path = self.path(&format!("{name}-{version}.wasm"));
        fs::write(&path, embed_manifest(&component(&imports), &manifest).unwrap()).unwrap();
        path
    }

    /// A package that is signed with the key `dev`.
    fn signed(&self, name: &str, version: &str, permissions: &[&str]) -> PathBuf {
        if !self.path("home/keys/dev.key").exists() {
            self.yes(&["key", "new", "dev"]);
        }
        let path = self.package(name, version, permissions);
        self.yes(&["plugin", "sign", path.to_str().unwrap(), "--key", "dev"]);
        path
    }

    /// A host with a plugin folder, in dev mode.
    fn host(&self) {
        fs::create_dir_all(self.path("plugins")).unwrap();
        fs::write(
            self.path("mizzen.toml"),
            "# our host\n[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n",
        )
        .unwrap();
    }

    fn config(&self) -> String {
        fs::read_to_string(self.path("mizzen.toml")).unwrap()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn component(imports: &[&str]) -> Vec<u8> {
    let mut component = Component::new();
    let mut types = ComponentTypeSection::new();
    types.ty().instance(&InstanceType::new());
    component.section(&types);
    let mut section = ComponentImportSection::new();
    for import in imports {
        section.import(*import, ComponentTypeRef::Instance(0));
    }
    component.section(&section);
    let mut instances = ComponentInstanceSection::new();
    instances.export_items(std::iter::empty::<(&str, ComponentExportKind, u32)>());
    component.section(&instances);
    let mut exports = ComponentExportSection::new();
    let index = u32::try_from(imports.len()).unwrap();
    exports.export(
        "mizzen:plugin/tool@1.0.0",
        ComponentExportKind::Instance,
        index,
        None,
    );
    component.section(&exports);
    component.finish()
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

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
    assert!(place.yes(&["plugin", "check", file]).contains("ok"));
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
            .contains("import      wasi:cli/environment@0.2.6")
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
    let package = place.signed("text", "1.0.0", &["kv:read"]);
    let before = place.config();
    let waiting = place.no(&["plugins", "install", path_text(&package)]);
    assert!(
        waiting.contains("+ kv:read  (it is needed)") && waiting.contains("--approve"),
        "{waiting}"
    );
    assert_eq!(place.config(), before);
    assert_eq!(fs::read_dir(place.path("plugins")).unwrap().count(), 0);
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
    let first = place.signed("text", "1.0.0", &["kv:read"]);
    place.yes(&["plugins", "install", path_text(&first), "--approve"]);
    let more = place.signed("text", "1.1.0", &["kv:read", "clock"]);
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
    assert!(
        place
            .no(&["plugins", "upgrade", path_text(&first)])
            .contains("is not newer")
    );
    let kept = place.signed("text", "2.0.0", &["kv:read"]);
    assert!(
        place
            .yes(&["plugins", "upgrade", path_text(&kept), "--keep"])
            .contains("- clock")
    );
    assert_eq!(fs::read_dir(place.path("plugins")).unwrap().count(), 2);
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
    assert!(place.no(&["plugins", "remove", "text"]).contains("say which"));
    place.yes(&["plugins", "remove", "text@1.1.0"]);
    assert!(
        place.config().contains("kv:read"),
        "the other version keeps its grants"
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
        path_text(&place.signed("text", "1.0.0", &[])),
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
    assert_eq!(fs::read_dir(place.path("plugins")).unwrap().count(), 1);
}

#[test]
fn a_bad_set_lists_all_its_problems_and_what_is_installed() {
    let place = Place::new();
    place.host();
    let one = place.signed("text", "1.0.0", &["kv:read"]);
    fs::copy(&one, place.path("plugins/a.wasm")).unwrap();
    fs::write(place.path("plugins/b.wasm"), "nonsense").unwrap();
    let said = place.no(&["plugins", "plan"]);
    assert!(
        said.contains("[permission-not-granted]") && said.contains("[package]"),
        "{said}"
    );
    assert!(
        said.contains("[grants.plugin]") && said.contains("text = [\"kv:read\"]"),
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
    place.yes(&["plugins", "enable", "text"]);
    place.no(&["plugins", "plan"]);
    place.yes(&["plugins", "grants", "text", "--add", "kv:read"]);
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
    let old = place.signed("text", "1.0.0", &[]);
    let pins = place.path("pins.toml");
    place.yes(&["plugins", "plan"]);
    assert!(!pins.exists(), "planning pins nothing");
    place.yes(&["plugins", "install", path_text(&old)]);
    assert!(fs::read_to_string(&pins).unwrap().contains("\"text\" = \"mzk_"));
    let new = place.package("text", "1.1.0", &[]);
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
}

#[test]
fn every_verb_has_help_with_an_example_and_wrong_usage_is_exit_code_two() {
    let place = Place::new();
    for (group, verbs) in [
        ("key", &["new", "list", "show"][..]),
        ("plugin", &["check", "inspect", "sign", "verify"]),
        ("trust", &["add", "list", "revoke", "check"]),
        (
            "plugins",
            &[
                "list", "plan", "install", "upgrade", "remove", "disable", "enable", "grants",
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
    let before = place.config();
    let said = place.no(&["plugins", "enable", "nobody"]);
    assert!(said.contains("nobody is not disabled"), "{said}");
    assert_eq!(place.config(), before);
}

/// Starts all of them at once and expects every one to succeed.
fn at_once(place: &Place, commands: &[Vec<String>]) {
    let children: Vec<_> = commands
        .iter()
        .map(|arguments| {
            Command::new(env!("CARGO_BIN_EXE_mizzen"))
                .args(arguments)
                .current_dir(place.folder.path())
                .env("MIZZEN_HOME", place.path("home"))
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    }
}

#[test]
fn edits_of_one_configuration_by_many_processes_at_once_all_have_their_way() {
    let place = Place::new();
    place.host();
    place.signed("text", "1.0.0", &[]);
    place.yes(&["plugins", "install", "text-1.0.0.wasm"]);
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let mut commands = Vec::new();
    for number in 0..12 {
        commands.push(words(&[
            "plugins",
            "grants",
            "text",
            "--add",
            &format!("net:host{number}.example"),
        ]));
        let package = place.signed(&format!("other{number}"), "1.0.0", &["kv:read"]);
        commands.push(words(&["plugins", "install", path_text(&package), "--approve"]));
    }
    commands.push(words(&["plugins", "disable", "text"]));
    at_once(&place, &commands);
    let config = place.config();
    assert!(
        config.contains("# our host") && config.contains("disabled = [\"text\"]"),
        "{config}"
    );
    for number in 0..12 {
        assert!(config.contains(&format!("net:host{number}.example")), "{config}");
        assert!(
            config.contains(&format!("other{number} = [\"kv:read\"]")),
            "{config}"
        );
    }
    let plan = place.json(&["plugins", "plan"]);
    assert_eq!(plan["plugins"].as_array().unwrap().len(), 12, "{plan}");
}

#[test]
fn edits_of_one_trust_file_by_many_processes_at_once_all_have_their_way() {
    let place = Place::new();
    let mut commands = Vec::new();
    for number in 0..12 {
        place.yes(&["key", "new", &format!("key{number}")]);
        let id = format!("mzk_{number:032x}");
        commands.push(
            [
                "trust",
                "add",
                &format!("key{number}"),
                "--namespace",
                &format!("ns{number}"),
            ]
            .map(str::to_owned)
            .to_vec(),
        );
        commands.push(
            ["trust", "revoke", &id, "--reason", "lost"]
                .map(str::to_owned)
                .to_vec(),
        );
    }
    at_once(&place, &commands);
    let trust = place.json(&["trust", "list"]);
    assert_eq!(
        trust["keys"].as_object().map(serde_json::Map::len),
        Some(12),
        "{trust}"
    );
    assert_eq!(
        trust["revoked_keys"].as_object().map(serde_json::Map::len),
        Some(12),
        "{trust}"
    );
    let left: Vec<_> = fs::read_dir(place.folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".tmp") || name.ends_with(".lock"))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}
