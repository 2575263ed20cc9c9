//! The reference pack `safety-pii` on a real `mizzen serve`: what people must not see is found and redacted wherever it stands in an
//! answer, in values, in numbers and in the keys of objects.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "support/http.rs"]
#[allow(dead_code)]
mod http;

use http::{Served, mizzen};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};

/// Builds a plugin or a pack of this repository.
fn build(group: &str, name: &str, folder: &Path) {
    let built = mizzen()
        .args([group, "build"])
        .arg(
            Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../plugins")
                .join(name),
        )
        .arg("--output")
        .arg(folder.join("plugins"))
        .arg("--home")
        .arg(folder.join("home"))
        .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{said}");
}

fn serve(folder: &Path) -> Served {
    let path = |name: &str| -> String { folder.join(name).to_str().unwrap().to_owned() };
    let (config, home) = (path("mizzen.toml"), path("home"));
    let arguments = ["--config", &config, "--home", &home];
    Served::start_with(&folder.join("data"), &arguments, |command| command)
}

/// Without what the caller gave: that is the caller's own, and is kept.
fn without_inputs(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "input")
            .map(|(name, value)| (name.clone(), without_inputs(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_inputs).collect(),
        other => other.clone(),
    }
}

#[test]
fn what_is_found_in_keys_numbers_and_nested_values_is_redacted_through_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder: PathBuf = folder.path().to_owned();
    build("plugin", "json", &folder);
    build("pack", "safety-pii", &folder);
    let text = "[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n[[governance]]\nid = \"bosun.safety-pii\"\n";
    fs::write(folder.join("mizzen.toml"), text).unwrap();
    let server = serve(&folder);
    let sprite = json!({
        "name": "BECK-02", "version": "1.0.0", "system_prompt": "Be brief.",
        "capabilities": [{"name": "merge", "description": "d", "tool": "json.merge", "parameters": {"type": "object"}}],
        "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
    });
    let sprite = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "")["id"].clone();
    let council = json!({
        "domain": "d", "sprites": [sprite], "gate_agents": [sprite],
        "chains": [{"name": "merge", "timeout": "60s", "gates": [], "steps": [{
            "order": 0, "sprite_id": sprite, "action": "merge", "input_map": {"target": "$input.document", "patch": "$input.patch"},
        }]}],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let document = json!({
        "people": {
            "123-45-6789": {"mail": "ada.l+x@mail.example.co.uk", "age": 36},
            "321-45-6789": 2,
            "the one with 4111 1111 1111 1111 12/27": ["call +44 20 7946 0958", "or (555) 555-0100 now"],
            "a/b~ada@example.com": [{"2026-11-17": "550e8400-e29b-41d4-a716-446655440000"}],
        },
        "card": 4_111_111_111_111_111_u64, "at": 1_794_895_723_218_u64, "version": "1.2.3", "order": "20261117084825",
    });
    let input = json!({"document": document, "patch": {}});
    let body = json!({"council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": input});
    let result = server
        .call_json("POST", "/v1/chains/execute", &body)
        .expect(200, "");
    let wanted = json!({
        "people": {
            "[redacted]": {"mail": "[redacted]", "age": 36},
            "[redacted] 2": 2,
            "the one with [redacted]/27": ["call [redacted]", "or [redacted] now"],
            "a/b~[redacted]": [{"2026-11-17": "550e8400-e29b-41d4-a716-446655440000"}],
        },
        "card": "[redacted]", "at": 1_794_895_723_218_u64, "version": "1.2.3", "order": "20261117084825",
    });
    assert_eq!(result["steps"][0]["output"]["document"], wanted, "{result:#}");
    let packs = result["packs"].as_array().unwrap();
    assert!(
        packs
            .iter()
            .any(|said| said["moment"] == "before-step" && said["action"] == "annotate")
    );
    let redacted: Vec<&Value> = packs.iter().filter(|said| said["action"] == "redact").collect();
    assert!(
        redacted.len() >= 7 && redacted.iter().all(|said| said["applied"] == json!(true)),
        "{packs:#?}"
    );

    // Neither the answer nor what was recorded of it has any of it, before and after a restart.
    let id = result["execution_id"].as_str().unwrap().to_owned();
    server.kill();
    let server = serve(&folder);
    let path = format!("/v1/executions/{id}");
    let kept = server.call("GET", &path).expect(200, "");
    assert_eq!(kept["steps"][0]["output"]["document"], wanted);
    let gone = [
        "123-45-6789",
        "321-45-6789",
        "4111 1111",
        "4111111111111111",
        "example.co",
        "7946",
        "555-0100",
        "ada@",
    ];
    // What the pack noticed in the step's input is said there; the caller has seen it.
    let after = |shown: &Value| {
        let mut shown = without_inputs(shown);
        if let Some(packs) = shown["packs"].as_array_mut() {
            packs.retain(|said| said["moment"] != "before-step");
        }
        shown.to_string()
    };
    for text in [after(&result), after(&kept)] {
        for secret in gone {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    server.terminate();
    let replay = mizzen()
        .args(["run", "replay", &id, "--data"])
        .arg(folder.join("data"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&replay.stdout);
    assert!(
        replay.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&replay.stderr)
    );
    for secret in gone {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
}
