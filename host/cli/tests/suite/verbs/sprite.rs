//! `mizzen sprite validate` and `fingerprint`, as a person or a script runs them.
use crate::support::verb::fed;
use std::process::Output;

const VECTORS: &str = include_str!("../../../../model/tests/data/sprite-fingerprints.json");

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn vectors() -> Vec<serde_json::Value> {
    serde_json::from_str(VECTORS).unwrap()
}

#[test]
fn lines_of_sprites_give_lines_of_the_reference_fingerprints() {
    let rows = vectors();
    let input: String = rows
        .iter()
        .map(|row| {
            format!(
                "{}\n",
                serde_json::json!({"name": row["name"], "sprite": row["sprite"]})
            )
        })
        .collect();
    let output = fed(&["sprite", "fingerprint", "--jsonl"], &input);
    assert!(output.status.success());
    let expected: String = rows
        .iter()
        .map(|row| {
            format!(
                "{{\"name\":{},\"fingerprint\":{}}}\n",
                row["name"], row["expected"]["text"]
            )
        })
        .collect();
    assert_eq!(stdout(&output), expected);
}

#[test]
fn numbers_are_hashed_as_they_are_written() {
    // The canonical text is {"a":[1e-07,1e+16,1.0,123456789012345678901234567890,1],"b":"\u00e9\u007f"}.
    let line = "{\"name\":\"n\",\"sprite\":{\"b\":\"é\\u007f\",\"id\":1,\"a\":[1e-7,1E16,1.0,123456789012345678901234567890,1]}}\n";
    let canonical = r#"{"a":[1e-07,1e+16,1.0,123456789012345678901234567890,1],"b":"\u00e9\u007f"}"#;
    let expected = blake3_of(canonical);
    let output = fed(&["sprite", "fingerprint", "--jsonl", "-"], line);
    assert_eq!(
        stdout(&output),
        format!("{{\"name\":\"n\",\"fingerprint\":\"blake3:{expected}\"}}\n")
    );
}

/// The hash of a text, by way of a document whose canonical text is the same text.
fn blake3_of(canonical: &str) -> String {
    let output = fed(&["sprite", "fingerprint", "--json", "-"], canonical);
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    answer["hash"].as_str().unwrap().to_owned()
}

#[test]
fn a_line_that_is_no_sprite_is_named_and_the_others_are_answered() {
    let input = "{\"name\":\"a\",\"sprite\":{}}\nnot json\n\n{\"name\":\"b\",\"sprite\":[]}\n{\"name\":\"c\",\"sprite\":{}}\n";
    let output = fed(&["sprite", "fingerprint", "--jsonl"], input);
    assert_eq!(output.status.code(), Some(1));
    let answers: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<_> = answers.iter().map(|answer| answer["name"].as_str()).collect();
    assert_eq!(names, [Some("a"), None, Some("b"), Some("c")]);
    for (answer, good) in answers.iter().zip([true, false, false, true]) {
        assert_eq!(answer["fingerprint"].is_string(), good, "{answer}");
        assert_eq!(answer.get("error").is_none(), good, "{answer}");
    }
}

#[test]
fn half_a_surrogate_pair_has_no_fingerprint() {
    let line = r#"{"name":"s","sprite":{"a":"\ud800"}}"#;
    let output = fed(&["sprite", "fingerprint", "--jsonl"], line);
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!(
        (answer["fingerprint"].is_null(), output.status.code()),
        (true, Some(1))
    );
    assert!(
        answer["error"].as_str().unwrap().contains("surrogate"),
        "{answer}"
    );
}

#[test]
fn a_whole_sprite_is_valid_and_its_mistakes_are_listed() {
    let sprite = vectors()[0]["sprite"].clone();
    let output = fed(&["sprite", "validate", "-"], &sprite.to_string());
    assert!(output.status.success(), "{}", stdout(&output));
    assert!(stdout(&output).contains("valid sprite SOL-FORGE 1.0.0"));

    let mut broken = sprite;
    broken["name"] = "sol".into();
    broken.as_object_mut().unwrap().remove("version");
    let output = fed(&["sprite", "validate", "--json", "-"], &broken.to_string());
    assert_eq!(output.status.code(), Some(1));
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let problems = answer["files"][0]["problems"].as_array().unwrap();
    let found: Vec<_> = problems
        .iter()
        .map(|p| (p["path"].as_str().unwrap(), p["code"].as_str().unwrap()))
        .collect();
    assert_eq!(found, [("/name", "pattern"), ("/version", "missing")]);

    // S3: a wrong name hid `type: objet`.
    broken["capabilities"][0]["parameters"] = serde_json::json!({"type": "objet"});
    let output = fed(&["sprite", "validate", "--json", "-"], &broken.to_string());
    let answer: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    let last = answer["files"][0]["problems"].as_array().unwrap().last().unwrap();
    assert_eq!(last["path"], "/capabilities/0/parameters/type", "{answer}");
    let message = last["message"].as_str().unwrap();
    assert!(message.contains("type \"objet\" is not one of"), "{message}");
}

#[test]
fn a_file_without_id_and_fingerprint_is_a_draft_and_may_be_yaml() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sol-forge.yaml");
    std::fs::write(
        &file,
        "name: SOL-FORGE\nversion: 1.0.0\ncapabilities:\n  - name: generate_code\n    description: Writes code\n    parameters: {type: object}\n\
         system_prompt: |\n  Write small functions.\nmetadata:\n  author: ada\n  tags: [core]\n",
    )
    .unwrap();
    let output = fed(&["sprite", "validate", file.to_str().unwrap()], "");
    assert!(output.status.success(), "{}", stdout(&output));
    assert!(stdout(&output).contains("valid draft SOL-FORGE 1.0.0"));
    let mut sprite = vectors()[0]["sprite"].clone();
    sprite.as_object_mut().unwrap().remove("id");
    let output = fed(&["sprite", "validate", "-"], &sprite.to_string());
    assert_eq!(output.status.code(), Some(1), "a whole sprite needs both");
}

#[test]
fn capabilities_with_unusable_schemas_are_not_valid() {
    let mut sprite = vectors()[0]["sprite"].clone();
    sprite["capabilities"][0]["parameters"] = serde_json::json!({"type": "nonsense"});
    let output = fed(&["sprite", "validate", "-"], &sprite.to_string());
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("/capabilities/0/parameters"));
}

#[test]
fn what_cannot_be_read_is_said_with_its_place() {
    let output = fed(&["sprite", "validate", "-"], "{\"name\": }");
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("-:1:10"), "{errors}");
    assert_eq!(fed(&["sprite", "validate"], "").status.code(), Some(2));
    // As the server reads it: two readers could take different ones for the value.
    let mut sprite = vectors()[0]["sprite"].to_string();
    sprite.replace_range(..1, "{\"name\": \"OTHER-1\", ");
    let output = fed(&["sprite", "validate", "-"], &sprite);
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(errors.contains("the key \"name\" stands twice"), "{errors}");
}
