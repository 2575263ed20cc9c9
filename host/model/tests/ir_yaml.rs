//! An IR document written as YAML is the same document, and its errors point into the YAML.

use mizzen_json::{Json, ReadLimits, yaml};
use mizzen_model::ir::{IRDocument, Options, dumps, inspect_tape, loads};

const SEED_EXAMPLE: &str = r#"ir_version: "1.0.0"
id: "graph:triage"
nodes:
- { id: "node_a", kind: "echo" }
- { id: "node_b", kind: "dspy" }
- { id: "halt", kind: "halt" }
rules:
- id: "rule.escalate"
  when: "(severity ?s&:(>= ?s 4))"
  then:
  - { kind: "goto", target: "node_b" }
state_schema:
  message: "str"
  severity: "int"
governance:
- id: "pack.bosun.routing"
  version: "1.0.0"
  requires: { stargraph_facts_version: "1.0", api_version: "1" }
"#;

#[test]
fn the_seeds_example_means_the_same_as_its_json() {
    let vectors = include_str!("data/ir-documents.jsonl");
    let row = Json::parse(vectors.lines().next().unwrap()).unwrap();
    let tape = yaml::parse(SEED_EXAMPLE, ReadLimits::default()).unwrap();
    let inspection = inspect_tape(&tape, Options::default());
    assert_eq!(inspection.errors, []);
    let document = inspection.document.unwrap();
    assert_eq!(
        Some(dumps(&document).as_str()),
        row.get("dumps").unwrap().as_str()
    );
    assert_eq!(
        loads::<IRDocument>(row.get("text").unwrap().as_str().unwrap()),
        Ok(document)
    );
}

#[test]
fn errors_point_into_the_yaml() {
    let text = "# é comment: ü\nir_version: \"1.0.0\"\nid: 'gräph'\nnodes:\n  - id: ok\n    kind: 7\n  - { id: b, kin: echo }\n";
    let tape = yaml::parse(text, ReadLimits::default()).unwrap();
    let seen: Vec<(String, &str)> = inspect_tape(&tape, Options::default())
        .errors
        .into_iter()
        .map(|error| {
            (
                error.path,
                error
                    .span
                    .map(|span| &text[span.start..span.end])
                    .unwrap_or_default(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("/nodes/0/kind".to_owned(), "7"),
            ("/nodes/1/kind".to_owned(), "{"),
            ("/nodes/1/kin".to_owned(), "kin"),
        ]
    );
}
