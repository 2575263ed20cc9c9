//! Documents that use every field.

use mizzen_json::Json;

pub(crate) const SOL_FORGE: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";
pub(crate) const LEWIS: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c36";
pub(crate) const STRANGER: &str = "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c39";
pub(crate) const CHAIN_ID: &str = "7f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35";

pub(crate) fn json(text: &str) -> Json {
    Json::parse(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

pub(crate) fn sprite(id: &str, name: &str) -> String {
    format!(
        r##"{{
        "id": "{id}", "name": "{name}", "version": "1.0.0-rc.1+build.5",
        "capabilities": [
            {{"name": "generate_code", "description": "Écrit du code", "tool": "acme.code.generate@^1",
              "parameters": {{"type": "object", "properties": {{"n": {{"default": 12345678901234567890123}}}}}}}},
            {{"name": "review", "description": "", "parameters": {{}}}}
        ],
        "system_prompt": "Write small functions.",
        "metadata": {{"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T12:00:00.25+02:00", "tags": ["core"]}},
        "fingerprint": {{"type": "sha256", "hash": "{hash}"}},
        "chains": ["{CHAIN_ID}"],
        "tests": [{{"name": "t", "input": {{"a": 1e-7}}, "expected_output": {{"b": null}}, "tags": ["fast"]}}],
        "role": "test-architect", "protected": true, "gate_authority": false
    }}"##,
        hash = "0123456789abcdef".repeat(4)
    )
}

pub(crate) fn chain() -> String {
    format!(
        r#"{{
        "id": "{CHAIN_ID}", "name": "build",
        "steps": [
            {{"order": 0, "sprite_id": "{SOL_FORGE}", "action": "generate_code", "input_map": {{"spec": "$input.spec"}},
              "output_map": {{}}, "timeout": "10s", "retries": 2, "retry_backoff": "50ms",
              "gates_before": [{{"sprite_id": "{LEWIS}", "condition": "true"}}],
              "gates_after": [{{"position": "after", "sprite_id": "{LEWIS}", "condition": "true", "veto_message": "no"}}]}},
            {{"order": 1, "sprite_id": "{LEWIS}", "action": "review"}}
        ],
        "gates": [
            {{"position": "before", "sprite_id": "{LEWIS}", "condition": "true", "veto_message": "no"}},
            {{"position": "after", "sprite_id": "{LEWIS}", "condition": "output.confidence >= 0.85", "scope": "step"}}
        ],
        "timeout": "5m", "governance": [{{"id": "pack.bosun.routing", "mode": "advisory"}}]
    }}"#
    )
}

pub(crate) const RULES: &str = r##"[
    {"id": "r1", "name": "reviewed", "condition": "all: [\"true\"]", "action": "deny", "hook": "notify:slack:#alerts", "enforcement": "advisory"},
    {"id": "r2", "name": "big", "condition": "size(steps) > 3", "action": "escalate", "hook": "webhook:https://ops.example/x"},
    {"id": "r3", "name": "else", "condition": "true", "action": "allow"}
]"##;

pub(crate) fn council() -> String {
    format!(
        r#"{{
        "id": "9f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "Engineering", "domain": "engineering",
        "sprites": [{}, {}], "chains": [{}], "gate_agents": ["{LEWIS}"], "rules": {RULES},
        "governance": [{{"id": "budgets", "version": "1.2.0", "mode": "mandatory",
            "requires": {{"stargraph_facts_version": "1.0", "api_version": "^1"}}}}],
        "created_at": "2026-04-27T10:00:00Z", "updated_at": "2026-04-27T10:00:00Z",
        "warnings": [{{"path": "/chains/0", "code": "c", "message": "m"}}],
        "drift": [{{"sprite_id": "{LEWIS}", "pinned": "blake3:a", "current": "blake3:b"}}]
    }}"#,
        sprite(SOL_FORGE, "SOL-FORGE"),
        sprite(LEWIS, "LEWIS-06"),
        chain()
    )
}

pub(crate) fn council_draft() -> String {
    format!(
        r#"{{"domain": "engineering", "sprites": ["{SOL_FORGE}", "{LEWIS}"], "gate_agents": ["{LEWIS}"],
            "chains": [{}], "rules": {RULES}}}"#,
        chain()
    )
}

/// Sets (or with `None` removes) what a pointer names. Panics when the parent is not there: the test is wrong then.
pub(crate) fn with(document: &str, pointer: &str, value: Option<&str>) -> Json {
    let mut document: serde_json::Value = serde_json::from_str(document).unwrap();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let value = value.map(|text| serde_json::from_str(text).unwrap());
    match (document.pointer_mut(parent).unwrap(), value) {
        (serde_json::Value::Object(members), Some(value)) => drop(members.insert(key.to_owned(), value)),
        (serde_json::Value::Object(members), None) => drop(members.remove(key).unwrap()),
        (serde_json::Value::Array(items), Some(value)) => {
            let index: usize = key.parse().unwrap();
            if index < items.len() {
                items[index] = value
            } else {
                items.push(value)
            }
        }
        (other, _) => panic!("{other} has no {key}"),
    }
    json(&document.to_string())
}

/// Paths and codes, for comparing.
pub(crate) fn summary(problems: &mizzen_model::problem::Problems) -> Vec<(String, &'static str)> {
    problems
        .iter()
        .map(|problem| (problem.path.clone(), problem.code))
        .collect()
}
