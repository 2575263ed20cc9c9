//! `mizzen rules check|run`, as a person runs it.

use std::process::Command;

fn check(verb: &str, rules: &str, facts: &str, arguments: &[&str], code: i32, stdout: &str, stderr: &str) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("rules.clp"), rules).unwrap();
    std::fs::write(folder.path().join("facts.json"), facts).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_mizzen"));
    command
        .current_dir(folder.path())
        .args(["rules", verb, "rules.clp"])
        .args(arguments);
    if verb == "run" {
        command.args(["--facts", "facts.json"]);
    }
    let output = command.output().unwrap();
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(code), "{rules}\n{out}\n{err}");
    assert!(out.contains(stdout), "{rules}\n{out}");
    assert!(err.contains(stderr), "{rules}\n{err}");
}

const SEED: &str = "(defrule escalate (severity ?s&:(>= ?s 4)) => (assert (escalated ?s)))";

#[test]
fn rules_run_over_a_state_and_over_facts() {
    check("run", SEED, r#"{"severity": 5}"#, &[], 0, "(escalated 5)\n", "");
    check(
        "run",
        SEED,
        r#"["(severity 5)"]"#,
        &["--trace"],
        0,
        "fired escalate on f-1 (severity 5); asserted f-2 (escalated 5)",
        "",
    );
    check(
        "run",
        SEED,
        r#"[{"name": "severity", "fields": [5]}]"#,
        &["--json"],
        0,
        "\"rule\": \"escalate\"",
        "",
    );
    check(
        "run",
        SEED,
        r#"{"severity": 3}"#,
        &["--trace"],
        0,
        "did not fire: escalate: no fact matches (severity",
        "",
    );
    check(
        "run",
        SEED,
        r#"{"severity": 3}"#,
        &["--trace", "--json"],
        0,
        "\"not_fired\"",
        "",
    );
}

#[test]
fn a_rule_file_cannot_steer_the_terminal_and_silence_is_explained() {
    let hostile = "(defrule a (x \"\u{1b}]0;owned\u{7}\") => ";
    check(
        "check",
        hostile,
        "",
        &[],
        1,
        "",
        "| (defrule a (x \"\u{fffd}]0;owned\u{fffd}\") =>",
    );
    let said = "(defrule a => (assert (said \"\u{1b}[31m\")))";
    for arguments in [&[][..], &["--trace"]] {
        check("run", said, "[]", arguments, 0, "(said \"\u{fffd}[31m\")", "");
    }
    check("run", SEED, "[]", &[], 0, "", "no rule fired; --trace says");
}

#[test]
fn what_cannot_run_exits_one_and_says_why() {
    check(
        "run",
        SEED,
        r#"{"severity": "high"}"#,
        &[],
        1,
        "",
        "`>=` takes numbers",
    );
    check("run", SEED, "[1]", &[], 1, "", "a fact is a text or an object");
    check("run", SEED, "{", &[], 1, "", "not JSON");
    check(
        "run",
        "(defrule r (n ?x) => (assert (n (+ ?x 1))))",
        r#"{"n": 1}"#,
        &[],
        1,
        "",
        "budget of 64",
    );
    check(
        "run",
        SEED,
        r#"{"severity": 5}"#,
        &["--operations", "1"],
        1,
        "",
        "budget of 1 match operations",
    );
    // What goes round is shown, and the kind of the error.
    check(
        "run",
        "(defrule round (n ?x) => (assert (n (+ ?x 1))))",
        r#"{"n": 1}"#,
        &["--trace"],
        1,
        "fired round on f-64 (n 64); asserted f-65 (n 65)",
        "budget of 64",
    );
    check(
        "run",
        "(defrule round (n ?x) => (assert (n (+ ?x 1))))",
        r#"{"n": 1}"#,
        &["--json"],
        1,
        "\"code\": \"BUDGET_EXHAUSTED\"",
        "",
    );
    check(
        "run",
        "(defrule r (s ?x) => (assert (s (str-cat ?x ?x))))",
        r#"["(s \"aaaaaaaa\")"]"#,
        &["--json"],
        1,
        "\"code\": \"BUDGET_EXHAUSTED\"",
        "",
    );
    check(
        "check",
        &"(".repeat(4_096),
        "",
        &["--json"],
        1,
        "\"code\": \"BUDGET_EXHAUSTED\"",
        "",
    );
    check(
        "check",
        "(defrule r (a) => (printout t))",
        "",
        &["--json"],
        1,
        "\"code\": \"RULE_REFUSED\"",
        "",
    );
    check(
        "check",
        "(defrule r (a) =>\n\t(printout t))",
        "",
        &[],
        1,
        "",
        "   | \t(printout t))\n   | \t ^^^^^^^^\n  hint: ",
    );
    check("check", SEED, "", &[], 0, "1 rules", "");
    check(
        "check",
        "(defrule r (attempts < 3) =>)",
        "",
        &[],
        1,
        "",
        "(attempts ?v&:(< ?v 3))",
    );
    check(
        "check",
        "(defrule r\n (a) => (printout t x))",
        "",
        &["--json"],
        1,
        "\"line\": 2",
        "",
    );
}

/// Generated packs point to it: their authors have the binary and not this repository.
#[test]
fn the_facts_of_the_host_are_in_the_binary() {
    let facts = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_mizzen"))
            .args(["rules", "facts"])
            .args(arguments)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (
            output.status.code(),
            text,
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let (code, text, _) = facts(&[]);
    assert_eq!(code, Some(0));
    assert!(
        text.contains("| `tool-result` |") && text.contains("# The fact vocabulary"),
        "{text}"
    );
    let (_, text, _) = facts(&["evidence"]);
    assert!(
        text.contains("evidence (at before-step, after-step, on-error)"),
        "{text}"
    );
    assert!(
        text.contains("subject") && text.contains("SYMBOL: input, output"),
        "{text}"
    );
    let (_, text, _) = facts(&["--json"]);
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    let names: Vec<&str> = document["templates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|template| template["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, mizzen_model::facts::templates().collect::<Vec<_>>());
    let (code, _, error) = facts(&["evidnce"]);
    assert_ne!(code, Some(0));
    assert!(
        error.contains("no template \"evidnce\"") && error.contains("evidence"),
        "{error}"
    );
}
