//! The generated JSON Schema says what the validator says.
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_json::Json;
use mizzen_model::ir::{RecordName, Stage, validate};

fn compile(schema: &Json) -> jsonschema::Validator {
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .build(&schema.to_serde().unwrap())
        .unwrap()
}

#[test]
fn every_record_has_a_schema_of_the_2020_12_draft() {
    let all = RecordName::all_schemas();
    let definitions = all.get("$defs").unwrap().as_object().unwrap();
    for name in RecordName::ALL {
        let schema = name.schema();
        assert!(
            jsonschema::meta::is_valid(&schema.to_serde().unwrap()),
            "{}",
            name.as_str()
        );
        compile(&schema);
        assert!(
            *name == RecordName::Action || definitions.contains_key(name.as_str()),
            "{}",
            name.as_str()
        );
    }
    compile(&all);
}

#[test]
fn the_schema_agrees_with_the_validator_on_every_vector() {
    let validator = compile(&RecordName::all_schemas());
    let mut seen = [0, 0];
    for line in include_str!("data/ir-documents.jsonl").lines() {
        let row = Json::parse(line).unwrap();
        let text = row.get("text").unwrap().as_str().unwrap();
        let errors = validate(text);
        // A schema knows nothing of slugs across records and of versions.
        let structural = match errors.first().map(|error| error.stage) {
            Some(Stage::JsonParse) => continue,
            Some(Stage::Structural) => false,
            _ => true,
        };
        let value = Json::parse(text).unwrap().to_serde().unwrap();
        assert_eq!(validator.is_valid(&value), structural, "{:?}", row.get("name"));
        seen[usize::from(structural)] += 1;
    }
    assert!(seen[0] > 20 && seen[1] > 20, "{seen:?}");
}

/// Per record: what it accepts and what it refuses.
const CASES: &[(&str, &[&str], &[&str])] = &[
    (
        "NodeSpec",
        &[r#"{"id":"a","kind":"b"}"#],
        &[r#"{"id":"a"}"#, r#"{"id":"a","kind":"b","c":1}"#, "[]", "null"],
    ),
    (
        "RuleSpec",
        &[r#"{"id":"r"}"#, r#"{"id":"r","then":[{"kind":"halt"}]}"#],
        &[r#"{"id":"r","then":[{}]}"#, r#"{"id":"r","when":null}"#],
    ),
    (
        "Action",
        &[r#"{"kind":"halt"}"#, r#"{"kind":"goto","target":"a"}"#],
        &[
            "{}",
            r#"{"kind":"jump"}"#,
            r#"{"kind":"goto"}"#,
            r#"{"kind":"goto","target":"a","then":[]}"#,
        ],
    ),
    (
        "RetryAction",
        &[
            r#"{"kind":"retry","target":"a","backoff_ms":-5}"#,
            r#"{"kind":"retry","target":"a","backoff_ms":123456789012345678901234567890}"#,
        ],
        &[
            r#"{"kind":"retry","target":"a","backoff_ms":1.5}"#,
            r#"{"kind":"retry","target":"a","backoff_ms":"1"}"#,
            r#"{"kind":"retry","target":"a","backoff_ms":true}"#,
        ],
    ),
    (
        "InterruptAction",
        &[
            r#"{"kind":"interrupt","prompt":"p"}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":"PT1H","interrupt_payload":{"a":[1]}}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":1.5}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":null}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":"1 day, 02:03"}"#,
        ],
        &[
            r#"{"kind":"interrupt"}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":"soon"}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":true}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":1e300}"#,
            r#"{"kind":"interrupt","prompt":"p","timeout":"P"}"#,
            r#"{"kind":"interrupt","prompt":"p","interrupt_payload":[]}"#,
            r#"{"kind":"interrupt","prompt":"p","on_timeout":null}"#,
        ],
    ),
    (
        "StoreSpec",
        &[r#"{"name":"n","provider":"p","protocol":"fact","config_schema":{}}"#],
        &[
            r#"{"name":"n","provider":"p","protocol":"sql","config_schema":{}}"#,
            r#"{"name":"n","provider":"p","protocol":"fact"}"#,
        ],
    ),
    (
        "ToolSpec",
        &[
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":"none"}"#,
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":"write","replay_policy":"fail_loud","cost_estimate":"0.10","examples":[{}],"tags":["t"],"deprecated":true}"#,
        ],
        &[
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":true}"#,
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":"none","cost_estimate":"much"}"#,
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":"none","deprecated":"yes"}"#,
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":[],"output_schema":{},"side_effects":"none"}"#,
            r#"{"name":"n","namespace":"a","version":"1.0.0","description":"","input_schema":{},"output_schema":{},"side_effects":"none","examples":[1]}"#,
        ],
    ),
    (
        "SkillSpec",
        &[r#"{"name":"n","namespace":"a","version":"1","description":"","kind":"agent"}"#],
        &[r#"{"name":"n","namespace":"a","version":"1","description":"","kind":"bot"}"#],
    ),
    (
        "PluginManifest",
        &[
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":["tool","pack"]}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[],"order":10000}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[],"order":0}"#,
        ],
        &[
            r#"{"name":"n","version":"1","api_version":"2","namespaces":[],"provides":[]}"#,
            r#"{"name":"n","version":"1","api_version":1,"namespaces":[],"provides":[]}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":["trigger"]}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[],"order":10001}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[],"order":-1}"#,
            r#"{"name":"n","version":"1","api_version":"1","namespaces":[],"provides":[],"order":null}"#,
        ],
    ),
    (
        "PackMount",
        &[
            r#"{"id":"p","requires":{}}"#,
            r#"{"id":"p","version":null,"requires":null}"#,
        ],
        &[r#"{"id":"p","requires":{"x":1}}"#, r#"{"version":"1"}"#],
    ),
    (
        "ParallelBlock",
        &[r#"{"targets":[]}"#],
        &["{}", r#"{"targets":"a"}"#],
    ),
    (
        "MigrateBlock",
        &[r#"{"from_hash":"a","to_hash":"b"}"#],
        &[r#"{"from_hash":"a"}"#],
    ),
    (
        "FactTemplate",
        &[r#"{"name":"t","slots":[{"name":"s","type":"int","default":"1"}]}"#],
        &[r#"{"name":"t","slots":[{"name":"s"}]}"#],
    ),
];

#[test]
fn schema_and_reader_agree_on_every_record() {
    for (name, accepted, refused) in CASES {
        let name = RecordName::parse(name).unwrap();
        let validator = compile(&name.schema());
        for (texts, valid) in [(accepted, true), (refused, false)] {
            for text in *texts {
                assert_eq!(
                    name.loads(text).is_ok(),
                    valid,
                    "reader: {} {text}",
                    name.as_str()
                );
                let value = Json::parse(text).unwrap().to_serde().unwrap();
                assert_eq!(
                    validator.is_valid(&value),
                    valid,
                    "schema: {} {text}",
                    name.as_str()
                );
            }
        }
    }
}

#[test]
fn every_record_that_is_accepted_survives_its_wire_form() {
    for (name, accepted, _) in CASES {
        let name = RecordName::parse(name).unwrap();
        for text in *accepted {
            let record = name.loads(text).unwrap();
            assert_eq!(name.loads(&record.dumps()).as_ref(), Ok(&record), "{text}");
            assert_eq!(
                name.loads(&record.dumps_canonical()).as_ref(),
                Ok(&record),
                "{text}"
            );
        }
    }
}
