//! `mizzen condition eval`, as a person runs it.

use crate::support::verb::fed;
use std::process::{Command, Output};

fn eval(arguments: &[&str], context: &str) -> Output {
    fed(
        &[&["condition", "eval"], arguments, &["--with", "-"]].concat(),
        context,
    )
}

fn check(arguments: &[&str], context: &str, code: i32, stdout: &str, stderr: &str) {
    let output = eval(arguments, context);
    let (out, err) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    assert_eq!(output.status.code(), Some(code), "{arguments:?}\n{out}\n{err}");
    assert!(out.contains(stdout), "{arguments:?}: {out}");
    assert!(err.contains(stderr), "{arguments:?}: {err}");
}

#[test]
fn an_answer_is_printed_and_exits_zero() {
    check(
        &["output.confidence >= 0.85"],
        r#"{"output": {"confidence": 0.9}}"#,
        0,
        "true\n",
        "",
    );
    check(
        &["output.confidence >= 0.85"],
        r#"{"output": {"confidence": 0.8}}"#,
        0,
        "false\n",
        "",
    );
    check(&["-1 < 0"], "{}", 0, "true\n", "");
    check(
        &["--json", "size(input) == 0"],
        r#"{"input": {}}"#,
        0,
        "\"result\": true",
        "",
    );
    check(
        &["--rule", "all:\n - input.a == 1\n - not: chain.b\n"],
        r#"{"input": {"a": 1}, "chain": {"b": false}}"#,
        0,
        "true",
        "",
    );
}

#[test]
fn what_has_no_answer_exits_one_and_says_where_and_why() {
    check(
        &["output.confidance >= 0.85"],
        r#"{"output": {"confidence": 0.9}}"#,
        1,
        "",
        "there is no `confidance`",
    );
    check(&["outptu.x"], "{}", 1, "", "did you mean `output`?");
    check(&["--json", "foo()"], "{}", 1, "\"stage\": \"compile\"", "");
    check(&["--json", "output.x"], "{}", 1, "\"stage\": \"evaluate\"", "");
    check(&["--fuel", "3", "1 + 1 == 2"], "{}", 1, "", "budget of 3");
    check(&["true"], "[]", 1, "", "JSON object");
    check(&["true"], "{", 1, "", "not JSON");
    check(
        &["true"],
        r#"{"outptu": 1}"#,
        1,
        "",
        "unknown variable \"outptu\"",
    );
    check(&["--nonsense", "true"], "{}", 2, "", "unexpected argument");
}

#[test]
fn help_has_an_example() {
    let output = Command::new(env!("CARGO_BIN_EXE_mizzen"))
        .args(["condition", "eval", "--help"])
        .output()
        .unwrap();
    assert!(output.status.success());
    assert!(
        String::from_utf8_lossy(&output.stdout).contains("mizzen condition eval 'output.confidence >= 0.85'")
    );
}
