//! Many `mizzen` processes that edit the same file at the same moment.

use crate::support::place::{Place, path_text, text};
use std::fs;
use std::process::Command;

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
    place.working("text", "1.0.0", &[]);
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
        let package = place.working(&format!("other{number}"), "1.0.0", &["kv:read"]);
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
