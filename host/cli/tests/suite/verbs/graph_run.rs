//! `mizzen graph`: check, run, answers, exit codes, and the journal that a run leaves in a data folder.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn mizzen(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mizzen"));
    command
        .current_dir(folder)
        .env_remove("MIZZEN_DATA")
        .env("MIZZEN_HOME", folder.join("home"))
        .env("MIZZEN_LOG", "warn")
        .stdin(Stdio::null());
    command
}

fn said(output: &Output) -> (Option<i32>, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout) + &text(&output.stderr))
}

/// A folder with a graph in it.
fn folder(graph: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("graph.yaml"), graph).unwrap();
    folder
}

fn run(folder: &Path, arguments: &[&str]) -> (Option<i32>, Value) {
    let output = mizzen(folder)
        .args(["graph", "run", "graph.yaml", "--json"])
        .args(arguments)
        .output()
        .unwrap();
    let run = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
    (output.status.code(), run)
}

const ASKS: &str = r#"
ir_version: "1.0.0"
id: graph:asks
nodes:
  - { id: receive, kind: echo }
  - { id: ship, kind: echo }
  - { id: done, kind: halt }
rules:
  - id: ask
    when: (severity ?s&:(>= ?s 4)) (visit (node "receive"))
    then:
      - { kind: interrupt, prompt: "Ship it?", interrupt_payload: { build: 7 }, requested_capability: "runs:respond" }
  - id: no
    when: (response.approved FALSE)
    then:
      - { kind: halt, reason: refused }
state_schema: { severity: int, approved: bool }
"#;

#[test]
fn a_run_is_printed_as_the_api_has_it() {
    let folder = folder(ASKS);
    let (code, run) = run(folder.path(), &["--set", "severity=2"]);
    assert_eq!(code, Some(0), "{run}");
    assert_eq!(
        (run["status"].as_str(), run["halted"].as_str()),
        (Some("done"), Some("done"))
    );
    assert_eq!(run["graph_id"], "graph:asks");
    assert_eq!(run["state"], serde_json::json!({"severity": 2}));
    let nodes: Vec<&str> = run["path"]
        .as_array()
        .unwrap()
        .iter()
        .map(|visit| visit["node"].as_str().unwrap())
        .collect();
    assert_eq!(nodes, ["receive", "ship", "done"]);
}

#[test]
fn answers_are_taken_in_order_and_checked() {
    let folder = folder(ASKS);
    let severe = ["--set", "severity=5"];
    let respond = |answers: &[&str]| {
        let mut arguments = severe.to_vec();
        for answer in answers {
            arguments.extend(["--respond", answer]);
        }
        run(folder.path(), &arguments)
    };
    let (code, approved) = respond(&[r#"{"approved": true}"#]);
    assert_eq!(
        (code, approved["halted"].as_str()),
        (Some(0), Some("done")),
        "{approved}"
    );
    assert_eq!(approved["state"]["approved"], true);
    assert_eq!(approved["interrupt"]["answer"]["actor"], "local");
    // One that does not fit is refused, and the next one answers.
    let (code, refused) = respond(&[r#"{"approved": "yes"}"#, r#"{"approved": false}"#]);
    assert_eq!(
        (code, refused["halted"].as_str()),
        (Some(0), Some("refused")),
        "{refused}"
    );
    // Nobody is there to be asked.
    let (code, left) = respond(&[]);
    assert_eq!(
        (code, left["status"].as_str()),
        (Some(4), Some("cancelled")),
        "{left}"
    );
}

#[test]
fn a_run_stays_in_a_data_folder_and_can_be_replayed_and_verified() {
    let folder = folder(ASKS);
    let arguments = [
        "--set",
        "severity=5",
        "--respond",
        r#"{"approved": true}"#,
        "--data",
        "data",
    ];
    let (code, run) = run(folder.path(), &arguments);
    assert_eq!(code, Some(0), "{run}");
    let id = run["run_id"].as_str().unwrap();
    let replayed = mizzen(folder.path())
        .args(["run", "replay", id, "--data", "data"])
        .output()
        .unwrap();
    let (code, told) = said(&replayed);
    assert_eq!(code, Some(0), "{told}");
    assert!(told.contains("completed"), "{told}");
    let exported = mizzen(folder.path())
        .args(["audit", "export", id, "--data", "data", "--output", "run.json"])
        .output()
        .unwrap();
    let (code, told) = said(&exported);
    assert_eq!(code, Some(0), "{told}");
    let key = told
        .lines()
        .find_map(|line| line.strip_prefix("host key: "))
        .unwrap()
        .to_owned();
    let verified = mizzen(folder.path())
        .args(["audit", "verify", "run.json", "--key", &key])
        .output()
        .unwrap();
    let (code, told) = said(&verified);
    assert_eq!(code, Some(0), "{told}");
}

#[test]
fn all_problems_of_a_document_are_listed_with_their_places() {
    let folder = folder(
        r#"
ir_version: "1.0.0"
id: graph:wrong
nodes:
  - { id: a, kind: teleport }
  - { id: b, kind: acme.none }
tools: [{ id: acme.none, version: 1.0.0 }]
skills: [{ id: acme.skill }]
stores: [{ name: notes, provider: acme }]
governance: [{ id: pack.none }]
rules:
  - { id: r, when: "(severity ?s", then: [{ kind: goto, target: nowhere }] }
state_schema: { n: integer }
"#,
    );
    for verb in ["check", "run"] {
        let output = mizzen(folder.path())
            .args(["graph", verb, "graph.yaml"])
            .output()
            .unwrap();
        let (code, told) = said(&output);
        assert_eq!(code, Some(1), "{told}");
        for expected in [
            "/nodes/0/kind: there is no node kind \"teleport\"",
            "/nodes/1/kind:",
            "/tools/0:",
            "/skills/0: skill \"acme.skill\" is not installed",
            "/stores/0:",
            "/governance/0:",
            "/rules/0/when:",
            "/rules/0/then/0/target: there is no node \"nowhere\"",
            "/state_schema/n:",
        ] {
            assert!(told.contains(expected), "{verb}: {expected}\n{told}");
        }
    }
}

#[test]
fn parameters_that_do_not_fit_and_invalid_documents_are_refused() {
    let folder = folder(ASKS);
    let output = mizzen(folder.path())
        .args(["graph", "run", "graph.yaml", "--set", "severity=high"])
        .output()
        .unwrap();
    let (code, told) = said(&output);
    assert_eq!(code, Some(1), "{told}");
    assert!(told.contains("/params/severity"), "{told}");
    std::fs::write(folder.path().join("graph.yaml"), "ir_version: \"1.0.0\"\nid: x\n").unwrap();
    let output = mizzen(folder.path())
        .args(["graph", "check", "graph.yaml"])
        .output()
        .unwrap();
    let (code, told) = said(&output);
    assert!(code == Some(1) && told.contains("nodes"), "{told}");
}

#[test]
fn a_graph_that_was_written_by_the_verb_runs_as_it_is() {
    let folder = folder("");
    let made = mizzen(folder.path())
        .args(["graph", "new", "graph:mine", "--output", "mine.yaml"])
        .output()
        .unwrap();
    assert!(made.status.success(), "{made:?}");
    let output = mizzen(folder.path())
        .args(["graph", "run", "mine.yaml", "--set", "severity=1"])
        .output()
        .unwrap();
    let (code, told) = said(&output);
    assert_eq!(code, Some(0), "{told}");
    for node in ["receive", "look_up", "classify", "handle", "done"] {
        assert!(told.contains(node), "{told}");
    }
    let again = mizzen(folder.path())
        .args(["graph", "new", "--output", "mine.yaml"])
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1));
}
