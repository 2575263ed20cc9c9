//! What a council says in its maps, and a sprite in its schemas, is judged before it is kept.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

use mizzen_engine::{admit, admit_sprite};
use mizzen_json::Json;
use mizzen_model::council::Council;
use mizzen_model::problem::Problems;
use mizzen_model::sprite::Sprite;

const SPRITE: &str = r#"{
    "id": "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "SOL-FORGE", "version": "1.0.0",
    "capabilities": [{"name": "c", "description": "", "parameters": PARAMETERS}], "system_prompt": "",
    "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": []},
    "fingerprint": {"type": "blake3", "hash": "0000000000000000000000000000000000000000000000000000000000000000"}}"#;

fn found(problems: &Problems) -> Vec<String> {
    problems
        .iter()
        .map(|problem| format!("{} {}", problem.path, problem.code))
        .collect()
}

/// A mistake that the table finds must not hide those that it does not know.
#[test]
fn a_council_that_is_not_right_otherwise_has_its_conditions_and_maps_judged_too() {
    let document = r#"{"domain": 7,
        "rules": [{"action": "explode", "condition": "nonsense: 1"}, 3, {"condition": "council.domain == \"x\""}],
        "chains": [{"gates": [{"condition": "output.x >="}], "steps": [
            {"gates_after": [{"condition": "("}], "input_map": {"a": "$inptu.x"}, "output_map": {"b": "$."}},
            {"gates_before": [{"condition": "true"}]}]}]}"#;
    let problems = mizzen_engine::admit_council_document(&Json::parse(document).unwrap());
    assert_eq!(
        found(&problems),
        [
            "/rules/0/condition condition",
            "/chains/0/gates/0/condition condition",
            "/chains/0/steps/0/gates_after/0/condition condition",
            "/chains/0/steps/0/input_map/a map",
            "/chains/0/steps/0/output_map/b map",
        ]
    );
}

fn admit_maps(input_map: &str, output_map: &str) -> Vec<String> {
    admit_all(input_map, output_map, "true", "true")
}

fn admit_all(input_map: &str, output_map: &str, gate: &str, rule: &str) -> Vec<String> {
    let (gate, rule) = (Json::from(gate).to_compact(), Json::from(rule).to_compact());
    let sprite = SPRITE.replace("PARAMETERS", "{}");
    let step = |order: u32, maps: &str| {
        format!(
            r#"{{"order": {order}, "sprite_id": "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "action": "c"{maps}}}"#
        )
    };
    let steps = [
        step(0, ""),
        step(
            1,
            &format!(r#", "input_map": {input_map}, "output_map": {output_map}"#),
        ),
    ]
    .join(",");
    let council = format!(
        r#"{{"id": "9f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "n", "domain": "d", "sprites": [{sprite}], 
            "rules": [{{"id": "r", "name": "r", "action": "deny", "condition": {rule}}}],
            "gate_agents": ["3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35"],
            "chains": [{{"id": "8f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "name": "c", "timeout": "1s", "steps": [{steps}],
                "gates": [{{"position": "after", "sprite_id": "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "condition": {gate}}}]}}]}}"#
    );
    let council = Council::parse(&Json::parse(&council).unwrap()).unwrap();
    found(&admit(&council))
}

#[test]
fn maps_refer_to_earlier_steps_only() {
    assert!(
        admit_maps(
            r#"{"a": "$steps[0].output.x", "b": "$input"}"#,
            r#"{"c": "$.y", "d": "$steps[0].output"}"#
        )
        .is_empty()
    );
    assert_eq!(
        admit_maps(r#"{"a/b": "$steps[1].output.x"}"#, r#"{"c": "$steps[2].output"}"#),
        [
            "/chains/0/steps/1/input_map/a~1b forward_reference",
            "/chains/0/steps/1/output_map/c forward_reference"
        ]
    );
}

#[test]
fn maps_that_do_not_parse_are_refused_where_they_stand() {
    assert_eq!(
        admit_maps(r#"{"a": "$inptu.x", "b": "$output.x", "c": 1}"#, r#"{"d": "$."}"#),
        [
            "/chains/0/steps/1/input_map/a map",
            "/chains/0/steps/1/input_map/b map",
            "/chains/0/steps/1/output_map/d map"
        ]
    );
}

#[test]
fn a_literal_that_runs_would_round_is_refused_where_it_stands() {
    assert_eq!(
        admit_maps(
            r#"{"a": {"b": [1, 18446744073709551616]}, "c": 18446744073709551615}"#,
            "{}"
        ),
        ["/chains/0/steps/1/input_map/a/b/1 map"]
    );
}

#[test]
fn conditions_that_do_not_compile_are_refused_where_they_stand() {
    assert!(
        admit_all(
            "{}",
            "{}",
            "output.confidence >= 0.85",
            "all: [\"true\", {not: \"input.x\"}]"
        )
        .is_empty()
    );
    assert_eq!(
        admit_all("{}", "{}", "output.confidence >=", "true"),
        ["/chains/0/gates/0/condition condition"]
    );
    assert_eq!(
        admit_all("{}", "{}", "true", "nonsense: 1"),
        ["/rules/0/condition condition"]
    );
}

#[test]
fn parameters_that_are_no_schema_are_refused_where_they_stand() {
    let check = |parameters: &str, expected: &[&str]| {
        let document = Json::parse(&SPRITE.replace("PARAMETERS", parameters)).unwrap();
        assert!(Sprite::parse(&document).is_ok());
        assert_eq!(found(&admit_sprite(&document)), expected, "{parameters}");
    };
    check(
        r#"{"type": "object", "properties": {"language": {"enum": ["rust"]}}}"#,
        &[],
    );
    check(r#"{"type": "text"}"#, &["/capabilities/0/parameters/type schema"]);
    check(
        r#"{"type": "text", "properties": {"a": {"minimum": "1"}}}"#,
        &[
            "/capabilities/0/parameters/properties/a/minimum schema",
            "/capabilities/0/parameters/type schema",
        ],
    );
    check(
        r#"{"$ref": "https://example.com/schema.json"}"#,
        &["/capabilities/0/parameters schema"],
    );
    let deep = format!("{}{{}}{}", r#"{"not":"#.repeat(300), "}".repeat(300));
    check(&deep, &["/capabilities/0/parameters schema"]);
}
