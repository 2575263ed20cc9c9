use super::*;
use serde_json::json;

fn good() -> Value {
    json!({
        "name": "count", "namespace": "acme.text", "version": "1.0.0", "description": "Counts words.",
        "input_schema": {"type": "object", "properties": {"text": {"type": "string"}, "request": {"type": "string"}}},
        "output_schema": {"type": "object"},
        "side_effects": "read", "replay_policy": "recorded_result", "permissions": ["kv:read"],
        "idempotency_key": "request", "cost_estimate": "0.0025",
        "examples": [{"name": "two", "input": {"text": "a b"}, "output": {"words": 2}}, {"input": {"text": ""}}],
        "tags": ["text"], "deprecated": true
    })
}

fn check_document(document: &Value) -> Result<ToolSpec, Vec<ToolProblem>> {
    ToolDraft::from_json(document).and_then(|(draft, _)| ToolSpec::check(draft))
}

#[test]
fn a_complete_descriptor_is_read_and_written_with_the_names_of_the_specification() {
    let tool = check_document(&good()).unwrap();
    assert_eq!(tool.id().as_str(), "acme.text.count");
    assert_eq!(tool.replay_policy(), ReplayPolicy::RecordedResult);
    assert_eq!(tool.cost_estimate().unwrap().as_str(), "0.0025");
    assert_eq!(tool.examples()[0].output, Some(json!({"words": 2})));
    assert_eq!(tool.examples()[1].name, "example 2");
    let mut written = serde_json::to_value(&tool).unwrap();
    written["replay_policy"] = json!("recorded_result");
    written["examples"][1].as_object_mut().unwrap().remove("name");
    assert_eq!(written, good());
}

#[test]
fn what_is_left_out_takes_the_defaults_of_the_specification() {
    let mut document = good();
    let object = document.as_object_mut().unwrap();
    for key in [
        "replay_policy",
        "permissions",
        "idempotency_key",
        "cost_estimate",
        "examples",
        "tags",
        "deprecated",
    ] {
        object.remove(key);
    }
    let tool = check_document(&document).unwrap();
    assert_eq!(tool.replay_policy(), ReplayPolicy::MustStub);
    assert!(tool.permissions().is_empty() && tool.examples().is_empty() && tool.tags().is_empty());
    assert!(!tool.deprecated() && tool.idempotency_key().is_none() && tool.cost_estimate().is_none());
}

#[test]
fn the_legacy_flag_is_up_converted_and_said_so() {
    for (flag, effects) in [(true, SideEffects::Write), (false, SideEffects::None)] {
        let mut document = good();
        document["side_effects"] = json!(flag);
        let (draft, legacy) = ToolDraft::from_json(&document).unwrap();
        assert_eq!(
            (draft.side_effects, legacy),
            (effects, LegacySideEffects::UpConverted)
        );
    }
    assert_eq!(
        ToolDraft::from_json(&good()).unwrap().1,
        LegacySideEffects::Absent
    );
}

#[test]
fn each_bad_field_is_named() {
    let long = "x".repeat(5_000);
    for (field, value) in [
        ("name", json!("Count")),
        ("namespace", json!("acme.")),
        ("version", json!("1")),
        ("description", json!("")),
        ("description", json!(long)),
        ("input_schema", json!(true)),
        ("output_schema", json!([])),
        ("side_effects", json!("some")),
        ("side_effects", json!(null)),
        ("replay_policy", json!("sometimes")),
        ("permissions", json!(["fs:read"])),
        ("permissions", json!("kv:read")),
        ("idempotency_key", json!("missing")),
        ("cost_estimate", json!(0.0025)),
        ("cost_estimate", json!("-1")),
        ("cost_estimate", json!("1e3")),
        ("cost_estimate", json!("01.5")),
        ("examples", json!([{"output": 1}])),
        ("examples", json!([3])),
        ("tags", json!([""])),
        ("deprecated", json!("no")),
        ("tool", json!(1)),
    ] {
        let mut document = good();
        document[field] = value.clone();
        let problems = check_document(&document).unwrap_err();
        assert!(
            problems.iter().any(|problem| problem.field == field),
            "{field} {value}: {problems:?}"
        );
    }
}

#[test]
fn every_problem_is_reported_at_once() {
    let mut document = good();
    document["name"] = json!("X");
    document["version"] = json!("X");
    document["cost_estimate"] = json!("X");
    let fields: Vec<&str> = check_document(&document)
        .unwrap_err()
        .iter()
        .map(|problem| problem.field)
        .collect();
    assert_eq!(fields, ["name", "version", "cost_estimate"]);
}

#[test]
fn a_schema_that_is_too_large_or_too_deep_is_refused() {
    let (draft, _) = ToolDraft::from_json(&good()).unwrap();
    let deep = format!("{}{}", "{\"a\":".repeat(100_000), "1");
    for schema in [
        deep,
        format!("{{\"a\": \"{}\"}}", "x".repeat(300_000)),
        "not json".to_owned(),
    ] {
        let problems = ToolSpec::check(ToolDraft {
            input_schema: schema,
            ..draft.clone()
        })
        .unwrap_err();
        assert!(problems.iter().any(|problem| problem.field == "input_schema"));
    }
}

#[test]
fn a_claim_of_effects_that_is_weaker_than_the_permissions_is_refused_with_the_line_to_change() {
    let claim = |side_effects: Value, permissions: &[&str]| {
        let mut document = good();
        document["side_effects"] = side_effects;
        document["permissions"] = json!(permissions);
        check_document(&document)
    };
    for (claimed, permissions, least) in [
        ("none", &["kv:read"][..], "read"),
        ("none", &["net:GET@a.example"], "read"),
        ("none", &["secret:a", "clock"], "read"),
        ("read", &["kv:read", "kv:write"], "write"),
        ("read", &["db.notes:*"], "write"),
        ("write", &["kv:*", "net:a.example"], "external"),
        ("read", &["net:POST@a.example", "net:GET@a.example"], "external"),
        ("write", &["llm:default"], "external"),
    ] {
        let problems = claim(json!(claimed), permissions).unwrap_err();
        let [problem] = problems.as_slice() else {
            panic!("{problems:?}")
        };
        assert_eq!(problem.field, SIDE_EFFECTS);
        assert!(
            problem
                .message
                .ends_with(&format!("write side_effects = \"{least}\"")),
            "{problem}"
        );
        assert!(claim(json!(least), permissions).is_ok(), "{permissions:?}");
        assert!(
            claim(json!("external"), permissions).is_ok(),
            "more may be claimed"
        );
    }
    assert!(
        claim(json!(false), &["kv:write"]).is_err(),
        "the legacy form is no way around it"
    );
    assert!(claim(json!("none"), &["clock", "random", "config", "tools:acme.*"]).is_ok());
}
