//! `mizzen tool check`: descriptors as documents.

use serde_json::{Value, json};
use std::process::{Command, Output};

fn check(arguments: &[&str], files: &[(&str, &str)]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    Command::new(env!("CARGO_BIN_EXE_mizzen"))
        .current_dir(&folder)
        .args(["tool", "check"])
        .args(arguments)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn descriptor(name: &str, side_effects: Value) -> Value {
    json!({
        "name": name, "namespace": "acme.text", "version": "1.0.0", "description": "Counts words.",
        "input_schema": {"type": "object"}, "output_schema": {"type": "object"}, "side_effects": side_effects,
    })
}

#[test]
fn the_legacy_side_effects_are_up_converted_with_one_warning() {
    let list = json!([
        descriptor("a", json!(true)),
        descriptor("b", json!(false)),
        descriptor("c", json!("external"))
    ]);
    let output = check(&["tools.json"], &[("tools.json", &list.to_string())]);
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{err}");
    let printed: Vec<Value> = serde_json::Deserializer::from_str(&out)
        .into_iter()
        .map(Result::unwrap)
        .collect();
    let effects: Vec<&str> = printed
        .iter()
        .map(|tool| tool["side_effects"].as_str().unwrap())
        .collect();
    assert_eq!(effects, ["write", "none", "external"]);
    assert_eq!(err.matches("warning:").count(), 1, "{err}");
    assert!(err.contains("2 of 3"), "{err}");

    let output = check(&["--json", "tools.json"], &[("tools.json", &list.to_string())]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["valid"], true);
    assert_eq!(report["warnings"].as_array().unwrap().len(), 1);
    assert_eq!(report["tools"][0]["tool"]["side_effects"], "write");
    assert_eq!(report["tools"][0]["tool"]["replay_policy"], "must-stub");

    // What is printed is a descriptor of the current form: it passes without a warning.
    let again = check(&["again.json"], &[("again.json", &printed[0].to_string())]);
    assert!(again.status.success() && again.stderr.is_empty(), "{again:?}");
}

#[test]
fn a_descriptor_is_held_to_what_a_host_would_load() {
    let yaml = "name: count\nnamespace: acme.text\nversion: 1.0.0\ndescription: Counts.\n\
                input_schema: {type: object}\noutput_schema: {}\nside_effects: none\n";
    assert!(check(&["tool.yaml"], &[("tool.yaml", yaml)]).status.success());

    let mut explosive = descriptor("count", json!("none"));
    explosive["input_schema"] = json!({"$ref": "#"});
    let mut unknown = descriptor("Count", json!("sometimes"));
    unknown["colour"] = json!("blue");
    for (tool, parts) in [
        (explosive, &["input_schema"][..]),
        (unknown, &["unknown key `colour`", "sometimes"]),
        (json!(7), &["a tool is a JSON object"]),
    ] {
        let output = check(&["tool.json"], &[("tool.json", &tool.to_string())]);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{err}");
        for part in parts {
            assert!(err.contains(part), "{part}: {err}");
        }
    }
    let report = check(&["--json", "tool.json"], &[("tool.json", "{}")]);
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["valid"], false);
    assert!(report["tools"][0]["problems"].as_array().unwrap().len() > 3);
}

/// S3: one schema hid the other, a wrong name hid both, and the reason was the schema of schemas' own.
#[test]
fn every_problem_of_both_schemas_is_listed_beside_the_others() {
    let mut tool = descriptor("Bad Name", json!("none"));
    tool["input_schema"] = json!({"type": "objet", "properties": {"n": {"type": "int"}}});
    tool["output_schema"] = json!({"type": "object", "properties": {"t": {"pattern": "\\A"}}});
    let output = check(&["--json", "t.json"], &[("t.json", &tool.to_string())]);
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let problems = report["tools"][0]["problems"].to_string();
    for part in [
        "name",
        "input_schema/type",
        "is not one of array, boolean",
        "input_schema/properties/n/type",
        "output_schema/properties/t/pattern",
    ] {
        assert!(problems.contains(part), "{part}: {problems}");
    }
    assert!(!problems.contains("anyOf"), "{problems}");
}
