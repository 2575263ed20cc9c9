//! `mizzen runs` against a running host.

use crate::support::council::{capability, serve};
use crate::support::http::{Served, mizzen};
use crate::support::puppet::Puppet;
use serde_json::{Value, json};
use std::process::Output;

fn runs(server: &Served, key: Option<&str>, arguments: &[&str]) -> Output {
    let mut command = mizzen();
    command.arg("runs").args(arguments).args(["--host", &server.url]);
    match key {
        Some(key) => command.env("MIZZEN_API_KEY", key),
        None => command.env_remove("MIZZEN_API_KEY"),
    };
    command.output().unwrap()
}

#[track_caller]
fn yes(server: &Served, key: Option<&str>, arguments: &[&str]) -> String {
    let output = runs(server, key, arguments);
    assert!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn no(server: &Served, key: Option<&str>, arguments: &[&str]) -> String {
    let output = runs(server, key, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
}

#[test]
fn an_operator_lists_shows_answers_cancels_and_watches_executions() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let rules = json!([{"id": "ask", "name": "ask", "condition": "has(input.risky)", "action": "escalate"}]);
    let puppet = Puppet::create(&server, rules, json!([capability("look", None)]));
    let ask = || {
        let made = puppet.execute(&server, "act", json!({"risky": true, "order": "\u{1b}[2Jred"}));
        made.expect(202, "")["execution_id"].as_str().unwrap().to_owned()
    };
    let (first, second) = (ask(), ask());
    let listed = yes(&server, None, &["list", "--status", "awaiting_approval"]);
    assert!(listed.contains(&first) && listed.contains(&second), "{listed}");
    let shown = yes(&server, None, &["show", &first]);
    assert!(
        shown.contains("rule ask asks") && shown.contains("escalation "),
        "{shown}"
    );

    yes(&server, None, &["approve", &first, "--reason", "looked at it"]);
    let watched = yes(&server, None, &["watch", &first]);
    assert!(watched.contains("completed"), "{watched}");
    let shown = yes(&server, None, &["show", &first]);
    assert!(shown.contains("answered: approve (looked at it)"), "{shown}");
    assert!(!shown.contains('\u{1b}'), "what a client sent steers no terminal");
    let again = no(&server, None, &["approve", &first, "--reason", "twice"]);
    assert!(again.contains("waits for no answer"), "{again}");
    let other = ["deny", &second, "--reason", "no", "--escalation", "another"];
    assert!(no(&server, None, &other).contains("ESCALATION_NOT_FOUND"));
    let denied: Value = serde_json::from_str(&yes(
        &server,
        None,
        &["deny", &second, "--reason", "no", "--json"],
    ))
    .unwrap();
    assert_eq!(denied["escalation"]["answer"]["decision"], "deny");
    assert!(no(&server, None, &["watch", &second]).contains("vetoed"));

    let running = puppet.start(&server, "act", json!({"act": "wait"}));
    let cancelled = yes(&server, None, &["cancel", &running]);
    assert!(cancelled.contains("cancelled"), "{cancelled}");
    assert!(no(&server, None, &["watch", &running]).contains("cancelled"));

    let key = mizzen()
        .args(["key", "api", "--data"])
        .arg(&server.data)
        .args(["new", "--grant", "runs:read"])
        .output()
        .unwrap();
    let key = String::from_utf8(key.stdout).unwrap();
    let key = Some(key.trim());
    assert!(no(&server, None, &["list"]).contains("put the key into MIZZEN_API_KEY"));
    assert!(yes(&server, key, &["list"]).contains(&running));
    assert!(no(&server, key, &["cancel", &running]).contains("runs:cancel"));
    let wrong = runs(&server, key, &["show", "../plugins"]);
    assert_eq!(wrong.status.code(), Some(2), "an id is not a path");
    server.kill();
}

#[test]
fn a_host_that_does_not_answer_is_named() {
    let nowhere = mizzen()
        .args(["runs", "list", "--host", "http://127.0.0.1:1"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&nowhere.stderr).into_owned();
    assert_eq!(nowhere.status.code(), Some(1), "{said}");
    assert!(
        said.contains("http://127.0.0.1:1 cannot be asked") && said.contains("mizzen serve"),
        "{said}"
    );
}
