//! `mizzen ir` as a user calls it.
use crate::support::verb::fed;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

fn mizzen(arguments: &[&str], input: &str) -> Output {
    fed(&[&["ir"], arguments].concat(), input)
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap()
}

const VALID: &str = r#"{"ir_version":"1.0.0","id":"g","nodes":[{"id":"a","kind":"echo"}]}"#;

#[test]
fn validate_answers_by_exit_code() {
    let check = |arguments: &[&str], input: &str, code: i32| {
        assert_eq!(
            mizzen(arguments, input).status.code(),
            Some(code),
            "{arguments:?} {input}"
        );
    };
    check(&["validate", "-"], VALID, 0);
    check(&["validate", "-"], "{}", 1);
    check(&["validate", "-"], "not json", 1);
    check(&["validate", "-"], "", 1);
    check(&["validate"], "", 2);
    check(&["validate", "there-is-no-such-file.json"], "", 2);
    check(&["validate", "--nonsense", "-"], VALID, 2);
    check(&["validate", "--max-depth", "2", "-"], VALID, 1);
    check(&["validate", "--max-bytes", "10", "-"], VALID, 1);
    check(&["validate", "--max-values", "3", "-"], VALID, 1);
    check(
        &["validate", "--record", "NodeSpec", "-"],
        r#"{"id":"A B","kind":"x"}"#,
        0,
    );
    check(&["validate", "--record", "Nothing", "-"], "{}", 2);
}

#[test]
fn a_diagnostic_shows_the_line_the_place_and_what_to_do() {
    let output = mizzen(
        &["validate", "-"],
        "{\n  \"ir_version\": \"1.0.0\",\n  \"id\": \"g\",\n  \"nodes\": [{\"id\": \"a\", \"knd\": 1, \"kind\": \"b\"}]\n}\n",
    );
    assert_eq!(
        stderr(&output),
        "error[structural/extra_forbidden]: unknown field\n --> <stdin>:4:25\n  |\n4 |   \"nodes\": [{\"id\": \"a\", \"knd\": 1, \"kind\": \"b\"}]\n  |                         ^^^^^ did you mean `kind`? unknown keys are forbidden\n  |\n  = at: /nodes/0/knd\n\n"
    );
    assert_eq!(stdout(&output), "<stdin>: invalid, 1 error\n");
}

#[test]
fn yaml_is_validated_and_pointed_into() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graph.yaml");
    std::fs::write(
        &file,
        "ir_version: \"1.0.0\"\nid: g\nnodes:\n  - { id: a, kind: 3 }\n",
    )
    .unwrap();
    let output = mizzen(&["validate", file.to_str().unwrap()], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(
        stderr(&output).contains("graph.yaml:4:20") && stderr(&output).contains("/nodes/0/kind"),
        "{}",
        stderr(&output)
    );
    std::fs::write(
        &file,
        "ir_version: \"1.0.0\"\nid: g\nnodes:\n  - { id: a, kind: echo }\n",
    )
    .unwrap();
    assert_eq!(
        mizzen(&["validate", file.to_str().unwrap()], "").status.code(),
        Some(0)
    );
    assert_eq!(stdout(&mizzen(&["dump", file.to_str().unwrap()], "")), VALID);
    assert_eq!(
        mizzen(&["validate", "--syntax", "json", file.to_str().unwrap()], "")
            .status
            .code(),
        Some(1)
    );
}

#[test]
fn warnings_are_shown_and_leave_the_document_valid() {
    let text = r#"{"ir_version":"1.0.0","id":"g","nodes":[{"id":"a","kind":"halt"},{"id":"b","kind":"x"},{"id":"a","kind":"x"}],
      "rules":[{"id":"r","when":"(x","then":[{"kind":"goto","target":"zz"},{"kind":"parallel","targets":["a"],"join":"yy","strategy":"most"}]},
               {"id":"s","when":"(unknown 1)","then":[{"kind":"halt"}]}],"state_schema":{"x":"int"}}"#;
    let output = mizzen(&["validate", "--json", "-"], text);
    assert_eq!(output.status.code(), Some(0));
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["valid"], true);
    let warnings = answer["documents"][0]["warnings"].as_array().unwrap();
    let seen: Vec<(&str, &str)> = warnings
        .iter()
        .map(|warning| {
            (
                warning["code"].as_str().unwrap(),
                warning["path"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("unknown_target", "/rules/0/then/0/target"),
            ("unknown_join", "/rules/0/then/1/join"),
            ("unknown_strategy", "/rules/0/then/1/strategy"),
            ("unreachable_node", "/nodes/1"),
            ("when_unparsable", "/rules/0/when"),
            ("rule_never_fires", "/rules/1/when"),
            ("duplicate_id", "/nodes/2/id"),
        ]
    );
    assert!(
        warnings
            .iter()
            .all(|warning| warning["line"].is_u64() && warning["span"].is_array())
    );
}

#[test]
fn check_answers_every_line_in_order() {
    let input = format!(
        "{}\n\n{}\n[]\nnonsense\n{}\n",
        r#"{"name":"one","text":"{}"}"#,
        serde_json::json!({"name": "two\u{2028}", "text": VALID}),
        r#"{"name":3,"text":"\ud800"}"#,
    );
    let output = mizzen(&["check", "--jsonl"], &input);
    let lines: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(lines[0]["name"], "one");
    assert_eq!(lines[0]["valid"], false);
    let keys: Vec<&String> = lines[0].as_object().unwrap().keys().collect();
    assert!(
        !keys
            .iter()
            .any(|key| ["dumps", "canonical", "hash"].contains(&key.as_str()))
    );
    let error = &lines[0]["errors"][0];
    assert_eq!(
        (&error["stage"], &error["code"], &error["path"]),
        (&"structural".into(), &"missing".into(), &"/ir_version".into())
    );
    for key in ["expected", "actual", "hint"] {
        assert!(error.get(key).is_some(), "{key}");
    }
    assert_eq!(lines[1]["name"], "two\u{2028}");
    assert_eq!(lines[1]["dumps"], VALID);
    assert_eq!(
        lines[1]["canonical"],
        r#"{"id":"g","ir_version":"1.0.0","nodes":[{"id":"a","kind":"echo"}]}"#
    );
    assert_eq!(lines[1]["hash"].as_str().unwrap().len(), 64);
    for broken in &lines[2..] {
        assert_eq!(
            (&broken["valid"], &broken["errors"][0]["stage"]),
            (&false.into(), &"json_parse".into())
        );
    }
    assert_eq!(lines[4]["name"], 3);
    assert!(stdout(&output).is_ascii());
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        mizzen(&["check", "--jsonl"], r#"{"name":"one","text":"{}"}"#)
            .status
            .code(),
        Some(0)
    );
    assert_eq!(mizzen(&["check"], "").status.code(), Some(2));
}

/// A document with half a surrogate pair is answered under its name, at its field, however the line spells it.
#[test]
fn half_a_surrogate_pair_is_an_error_of_the_field_and_not_of_the_line() {
    let rows = [
        r#"{"name":"raw","text":"{\"ir_version\":\"1.0.0\",\"id\":\"\ud800\",\"nodes\":[]}"}"#,
        r#"{"name":"escaped","text":"{\"ir_version\":\"1.0.0\",\"id\":\"\\ud800\",\"nodes\":[]}"}"#,
    ];
    let output = mizzen(&["check", "--jsonl"], &rows.join("\n"));
    let lines: Vec<serde_json::Value> = stdout(&output)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    for (line, name) in lines.iter().zip(["raw", "escaped"]) {
        assert_eq!(line["name"], name);
        assert_eq!(line["errors"][0]["stage"], "structural");
        assert_eq!(line["errors"][0]["path"], "/id");
    }
    assert_eq!((lines.len(), output.status.code()), (2, Some(0)));
}

#[test]
fn facts_are_hashed_one_by_one_and_by_line() {
    let hash = "02c49f64bb738d8f4ac3212a473b5b5d";
    assert_eq!(
        stdout(&mizzen(&["fact-hash", "-"], r#"{ "k" : "v" }"#)),
        format!("{hash}\n")
    );
    let output = mizzen(
        &["fact-hash", "--jsonl"],
        "{\"text\":\"{\\\"k\\\":\\\"v\\\"}\"}\n{\"text\":\"{\"}\n",
    );
    let lines: Vec<&str> = stdout(&output).lines().collect();
    assert_eq!(lines[0], format!("{{\"hash\":\"{hash}\"}}"));
    assert!(lines[1].starts_with("{\"hash\":null,\"error\":"), "{}", lines[1]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(mizzen(&["fact-hash"], "").status.code(), Some(2));
}

#[test]
fn the_hash_is_that_of_the_canonical_dump() {
    let spaced = VALID.replace(',', " ,\n ");
    let hash = mizzen(&["hash", "-"], VALID);
    assert_eq!(stdout(&hash), stdout(&mizzen(&["hash", "-"], &spaced)));
    assert_eq!(stdout(&hash).len(), 65);
    assert_ne!(
        stdout(&hash),
        stdout(&mizzen(&["hash", "-"], &VALID.replace("echo", "halt")))
    );
    assert_eq!(
        stdout(&mizzen(&["dump", "--canonical", "-"], &spaced)),
        r#"{"id":"g","ir_version":"1.0.0","nodes":[{"id":"a","kind":"echo"}]}"#
    );
    assert_eq!(mizzen(&["hash", "-"], "{}").status.code(), Some(1));
    assert_eq!(mizzen(&["dump", "-"], "{}").status.code(), Some(1));
}

#[test]
fn diff_is_by_meaning() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.to_str().unwrap().to_owned()
    };
    let a = write(
        "a.json",
        r#"{"ir_version":"1.0.0","id":"g","nodes":[{"id":"a","kind":"x"},{"id":"b","kind":"x"},{"id":"c","kind":"x"}]}"#,
    );
    let same = write(
        "same.yaml",
        "rules: []\nid: g\nir_version: 1.0.0\nnodes: [{kind: x, id: a}, {id: b, kind: x}, {id: c, kind: x}]\n",
    );
    let b = write(
        "b.json",
        r#"{"ir_version":"1.0.0","id":"g","nodes":[{"id":"new","kind":"x"},{"id":"b","kind":"y"},{"id":"a","kind":"x"}],"state_class":"m:C"}"#,
    );
    let output = mizzen(&["diff", &a, &same], "");
    assert_eq!((output.status.code(), stdout(&output)), (Some(0), ""));
    let output = mizzen(&["diff", &a, &b], "");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        stdout(&output),
        "- /nodes/2: {\"id\":\"c\",\"kind\":\"x\"}\n\
         + /nodes/0: {\"id\":\"new\",\"kind\":\"x\"}\n\
         > /nodes/1: moved from /nodes/1\n\
         ~ /nodes/1/kind: \"x\" -> \"y\"\n\
         > /nodes/2: moved from /nodes/0\n\
         + /state_class: \"m:C\"\n"
    );
    let json: serde_json::Value =
        serde_json::from_slice(&mizzen(&["diff", "--json", &a, &b], "").stdout).unwrap();
    assert_eq!(
        (&json["same"], json["changes"].as_array().unwrap().len()),
        (&false.into(), 6)
    );
}

#[test]
fn a_new_document_is_valid_and_never_overwrites() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["new.yaml", "new.json"] {
        let file = folder.path().join(name);
        let file = file.to_str().unwrap();
        assert_eq!(
            mizzen(&["new", "graph:mine", "--output", file], "").status.code(),
            Some(0)
        );
        assert_eq!(mizzen(&["validate", file], "").status.code(), Some(0));
        assert_eq!(mizzen(&["new", "--output", file], "").status.code(), Some(1));
    }
    let text = mizzen(&["new"], "");
    assert_eq!(mizzen(&["validate", "-"], stdout(&text)).status.code(), Some(0));
}

#[test]
fn graphs_are_drawn_and_labels_cannot_break_out() {
    let text = r#"{"ir_version":"1.0.0","id":"g","nodes":[{"id":"a","kind":"x\"] --> evil[\""},{"id":"b","kind":"halt"}],
      "rules":[{"id":"r","then":[{"kind":"goto","target":"b"},{"kind":"goto","target":"zz"}]}]}"#;
    let mermaid = mizzen(&["graph", "-"], text);
    assert_eq!(
        stdout(&mermaid),
        "flowchart TD\n  n0[\"a (x#34;#93; --#62; evil#91;#34;)\"]\n  n1([\"b (halt)\"])\n  r0{{\"r\"}}\n  m0[/\"zz (missing)\"/]\n  n0 --> n1\n  r0 -.->|\"goto\"| n1\n  r0 -.->|\"goto\"| m0\n"
    );
    let dot = mizzen(&["graph", "--format", "dot", "-"], text);
    assert!(
        stdout(&dot).starts_with("digraph ir {") && stdout(&dot).contains(r#"label="a (x\"] --> evil[\")""#),
        "{}",
        stdout(&dot)
    );
}

#[test]
fn the_schema_is_printed_for_all_and_for_one() {
    let all: serde_json::Value = serde_json::from_slice(&mizzen(&["schema"], "").stdout).unwrap();
    assert_eq!(all["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let names = mizzen(&["schema", "--list"], "");
    for name in stdout(&names).lines().filter(|name| *name != "Action") {
        assert!(all["$defs"].get(name).is_some(), "{name}");
    }
    let one: serde_json::Value =
        serde_json::from_slice(&mizzen(&["schema", "tool-spec"], "").stdout).unwrap();
    assert_eq!(one["title"], "ToolSpec");
    assert_eq!(mizzen(&["schema", "Nothing"], "").status.code(), Some(2));
}

#[test]
fn every_verb_has_help_with_an_example() {
    for verb in [
        "validate",
        "dump",
        "hash",
        "fact-hash",
        "diff",
        "schema",
        "graph",
        "new",
        "check",
    ] {
        let output = mizzen(&[verb, "--help"], "");
        assert!(stdout(&output).contains("Example:"), "{verb}");
    }
}

/// As in `mizzen ir dump - | head -0`: the reader is gone before anything is printed. One of the verbs prints with `println!`, the
/// other writes.
#[test]
fn a_reader_that_goes_away_is_no_panic() {
    for verb in ["dump", "graph"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_mizzen"))
            .args(["ir", verb, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        child.stdin.take().unwrap().write_all(VALID.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((stderr(&output), output.status.code()), ("", Some(141)), "{verb}");
    }
}
