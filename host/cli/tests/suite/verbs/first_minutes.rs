//! A new user's slips, and what they are told: what is wrong, once, and what to do.

use crate::support::verb::mizzen_in;
use std::path::Path;
use std::process::Command;

/// Runs a command that must be refused, and says what it said.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = mizzen_in(folder).args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
    let lines: Vec<&str> = said.lines().collect();
    for (at, line) in lines.iter().enumerate() {
        let cause = line.strip_prefix("  because: ").unwrap_or("");
        let before = lines[..at].join("\n");
        assert!(cause.is_empty() || !before.contains(cause), "said twice: {said}");
    }
    said
}

/// Every verb below this one, by `--help`.
fn verbs(folder: &Path, above: &[String], found: &mut Vec<(Vec<String>, String)>) {
    let output = mizzen_in(folder).args(above).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let Some((_, listed)) = help.split_once("\nCommands:\n") else {
        found.push((above.to_vec(), help));
        return;
    };
    let names = listed.lines().take_while(|line| !line.is_empty());
    // What goes on in the next line is indented further.
    for line in names.filter(|line| !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        if name != "help" {
            verbs(folder, &[above, &[name.to_owned()]].concat(), found);
        }
    }
}

#[test]
fn every_verb_has_help_with_an_example_and_speaks_to_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    verbs(folder.path(), &[], &mut found);
    assert!(found.len() > 50, "only {} verbs were found", found.len());
    // What these print is a document, a picture or a log already, or is for people alone.
    let other = [
        "audit export",
        "completions",
        "demo",
        "graph new",
        "ir dump",
        "ir graph",
        "ir new",
        "ir schema",
        "plugin dev",
    ];
    for (verb, help) in found {
        let verb = verb.join(" ");
        let shown = if verb == "demo" {
            "-- demo"
        } else {
            &format!("mizzen {verb}")
        };
        assert!(help.contains("Example") && help.contains(shown), "{verb}: {help}");
        let scripts = help.contains("--json");
        assert_eq!(scripts, !other.contains(&verb.as_str()), "{verb}: {help}");
        let wide = help.lines().find(|line| line.chars().count() > 100);
        assert_eq!(wide, None, "{verb}");
        // What most calls do not need stands last.
        if let Some(home) = help.find("--home") {
            let after = help.get(home..).unwrap();
            assert!(!after.contains("\n      --"), "{verb}: {help}");
            assert!(help[..home].contains("\nGlobal options:\n"), "{verb}: {help}");
        }
    }
}

#[test]
fn a_shell_completes_every_verb_and_the_version_is_a_verb() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, part) in [
        ("bash", "complete -F _mizzen"),
        ("zsh", "#compdef mizzen"),
        ("fish", "complete -c mizzen"),
    ] {
        let output = mizzen_in(folder.path())
            .args(["completions", shell])
            .output()
            .unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && script.contains(part), "{script}");
        for verb in ["completions", "doctor", "replay", "serve", "version"] {
            assert!(script.contains(verb), "{shell} does not know {verb}");
        }
    }
    let bash = "mizzen completions bash > script && bash -n script";
    let path = Path::new(env!("CARGO_BIN_EXE_mizzen")).parent().unwrap();
    let path = format!("{}:{}", path.display(), std::env::var("PATH").unwrap());
    let checked = Command::new("sh")
        .args(["-c", bash])
        .current_dir(folder.path())
        .env("PATH", path)
        .status();
    assert!(checked.unwrap().success());
    let output = mizzen_in(folder.path())
        .args(["version", "--json"])
        .output()
        .unwrap();
    let version: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(version["api_version"], "1");
}

#[test]
fn a_verb_without_its_group_is_answered_with_the_groups_that_have_it() {
    let folder = tempfile::tempdir().unwrap();
    for (slip, tip) in [
        (&["new", "hello"][..], "'plugin new', 'pack new'"),
        (&["install"], "'plugins install'"),
        (&["plugin", "explain"], "'pack explain'"),
    ] {
        let output = mizzen_in(folder.path()).args(slip).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        for part in tip.split(", ") {
            assert!(said.contains(part), "{slip:?}: {said}");
        }
    }
}

#[test]
fn a_missing_configuration_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    for arguments in [
        &["plugins", "list"][..],
        &["plugins", "plan"],
        &["plugins", "install", "hello.wasm"],
    ] {
        let said = refused(folder.path(), arguments);
        assert!(said.contains("there is no mizzen.toml"), "{said}");
        // What it shows can be pasted.
        let pasted: String = said
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .fold(String::new(), |text, line| text + line + "\n");
        assert_eq!(pasted, "[plugins]\nfolders = [\"plugins\"]\n");
    }
    std::fs::write(
        folder.path().join("mizzen.toml"),
        "[plugins]\nfolders = [\"plugins\"]\n",
    )
    .unwrap();
    std::fs::create_dir(folder.path().join("plugins")).unwrap();
    let listed = mizzen_in(folder.path())
        .args(["plugins", "list"])
        .output()
        .unwrap();
    assert!(
        listed.status.success(),
        "{}",
        String::from_utf8_lossy(&listed.stderr)
    );
}

#[test]
fn a_number_with_which_nothing_could_be_served_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let most = u64::MAX / 2;
    for (section, key, value) in [
        ("server", "rate_per_second", 0),
        ("server", "rate_burst", 0),
        ("server", "connections", 0),
        ("server", "connections", most),
        ("server", "header_bytes", 0),
        ("server", "header_fields", 0),
        ("server", "receive_seconds", 0),
        ("server", "receive_seconds", most),
        ("server", "grace_seconds", most),
        ("store", "readers", 0),
        ("store", "readers", most),
        ("store", "max_bytes", 0),
    ] {
        std::fs::write(
            folder.path().join("mizzen.toml"),
            format!("[{section}]\n{key} = {value}\n"),
        )
        .unwrap();
        let said = refused(
            folder.path(),
            &["serve", "--listen", "127.0.0.1:0", "--data", "data"],
        );
        assert!(
            said.contains(&format!("{section}.{key} is {value}; write ")),
            "{said}"
        );
    }
}

#[test]
fn a_folder_or_file_that_cannot_be_used_is_named_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("file", "");
    std::fs::create_dir(folder.path().join("damaged")).unwrap();
    write("damaged/mizzen.db", &"this is not a database ".repeat(100));
    let check = |arguments: &[&str], expected: &[&str]| {
        let said = refused(folder.path(), arguments);
        for part in expected {
            assert!(said.contains(part), "{part:?} in {said}");
        }
    };
    let serve = |data| ["serve", "--listen", "127.0.0.1:0", "--data", data];
    check(&serve("file"), &["the data folder file", "--data"]);
    check(&serve("damaged"), &["damaged/mizzen.db", "mizzen db backup"]);
    check(
        &["doctor", "--data", "damaged"],
        &["damaged/mizzen.db", "mizzen db backup"],
    );
    check(
        &["plugin", "build", "nowhere"],
        &["no folder nowhere", "mizzen plugin new"],
    );
    std::fs::create_dir(folder.path().join("rules")).unwrap();
    write("rules/pack.toml", "");
    check(
        &["plugin", "build", "rules"],
        &["holds a pack of rules", "mizzen pack build"],
    );
    check(&["serve", "--config", "nowhere.toml"], &["nowhere.toml"]);
    check(
        &["serve", "--config", "/dev/zero"],
        &["/dev/zero is not a regular file"],
    );
}
