//! Executions that are open: shares of them, how long they wait for a person, and what they cost meanwhile (R9).

use crate::support::council::{capability, offline, register, serve_with};
use crate::support::http::{Answer, Served};
use crate::support::puppet::{Puppet, ended, shown, until};
use crate::support::verb::bearer;
use serde_json::{Value, json};
use std::path::Path;

fn serve(folder: &Path, sections: &str) -> Served {
    serve_with(&folder.join("data"), sections, |command| command)
}

/// A council whose executions wait for a person when they are risky.
fn asking(server: &Served) -> Puppet {
    let rules = json!([{"id": "ask", "name": "ask", "condition": "has(input.risky)", "action": "escalate"}]);
    Puppet::create(server, rules, json!([capability("look", None)]))
}

fn start(server: &Served, key: &str, request: &Value) -> Answer {
    let headers = [("content-type", "application/json"), ("authorization", key)];
    server.send(
        "POST",
        "/v1/chains/execute",
        &headers,
        request.to_string().as_bytes(),
    )
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn decide(server: &Served, waiting: &Value, decision: &str) -> Answer {
    let id = text(&waiting["execution_id"]);
    let answer = json!({
        "decision": decision, "reason": "looked", "escalation_id": waiting["escalation"]["escalation_id"],
    });
    server.call_json("POST", &format!("/v1/executions/{id}/decision"), &answer)
}

#[test]
fn one_key_cannot_take_every_open_execution() {
    let folder = tempfile::tempdir().unwrap();
    // A quarter, 4, for one key; the last eighth, 2, for keys that have none.
    let server = serve(folder.path(), "[runs]\nopen = 16\n");
    let puppet = asking(&server);
    let request = puppet.request("act", json!({"risky": true}));
    let keys: Vec<String> = (0..5)
        .map(|_| bearer(&server.data, &["runs:start", "runs:respond"]))
        .collect();
    let mut waiting = Vec::new();
    for _ in 0..4 {
        waiting.push(start(&server, &keys[0], &request).expect(202, ""));
    }
    let refused = start(&server, &keys[0], &request);
    assert!(refused.header("retry-after").is_some());
    let refused = refused.expect(503, "TOO_MANY_RUNS");
    assert_eq!(refused["details"], json!({"limit": "open_per_caller", "most": 4}));
    for key in &keys[1..3] {
        for _ in 0..4 {
            start(&server, key, &request).expect(202, "");
        }
    }
    for _ in 0..2 {
        start(&server, &keys[3], &request).expect(202, "");
    }
    let refused = start(&server, &keys[3], &request).expect(503, "TOO_MANY_RUNS");
    assert_eq!(refused["details"]["limit"], "open");
    start(&server, &keys[4], &request).expect(202, "");
    // Who answers what waits has room again: fifteen are open, and the last two places are not for who has some.
    let headers = [
        ("content-type", "application/json"),
        ("authorization", keys[0].as_str()),
    ];
    for waiting in &waiting[..2] {
        let path = format!("/v1/executions/{}/decision", text(&waiting["execution_id"]));
        let escalation = &waiting["escalation"]["escalation_id"];
        let answer = json!({"decision": "deny", "reason": "no", "escalation_id": escalation}).to_string();
        server
            .send("POST", &path, &headers, answer.as_bytes())
            .expect(200, "");
    }
    let harmless = puppet.request("act", json!({}));
    until("the place is given back", || {
        let started = start(&server, &keys[0], &harmless);
        (started.status == 200).then_some(())
    });
}

#[test]
fn without_keys_one_council_cannot_take_every_open_execution() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), "[runs]\nopen = 16\nopen_per_caller = 2\n");
    let puppet = asking(&server);
    let request = puppet.request("act", json!({"risky": true}));
    let execute = |request: &Value| server.call_json("POST", "/v1/chains/execute", request);
    for _ in 0..2 {
        execute(&request).expect(202, "");
    }
    execute(&request).expect(503, "TOO_MANY_RUNS");
    let other = register(
        &server,
        "OTHER-1",
        json!([capability("act", Some("hostile.does-as-told.act"))]),
        false,
    );
    let council = json!({
        "domain": "others", "sprites": [other], "gate_agents": [other],
        "chains": [{"name": "act", "timeout": "1m", "gates": [], "steps": [{
            "order": 0, "sprite_id": other, "action": "act",
            "input_map": {"act": "answer", "order": "o", "times": 0},
        }]}],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let request = json!({"council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": {}});
    let done = execute(&request).expect(200, "");
    assert_eq!(done["status"], "completed", "{done}");
}

#[test]
fn a_share_is_counted_again_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let sections = "[runs]\nopen_per_caller = 2\n";
    let server = serve(folder.path(), sections);
    let puppet = asking(&server);
    let request = puppet.request("act", json!({"risky": true}));
    let first = server
        .call_json("POST", "/v1/chains/execute", &request)
        .expect(202, "");
    server
        .call_json("POST", "/v1/chains/execute", &request)
        .expect(202, "");
    server.kill();
    let server = serve(folder.path(), sections);
    server
        .call_json("POST", "/v1/chains/execute", &request)
        .expect(503, "TOO_MANY_RUNS");
    let done = decide(&server, &first, "approve").expect(200, "");
    assert_eq!(done["execution_id"], first["execution_id"]);
    assert_eq!(
        ended(&server, text(&first["execution_id"]))["status"],
        "completed"
    );
    until("the place is given back", || {
        let started = server.call_json("POST", "/v1/chains/execute", &request);
        (started.status == 202).then_some(())
    });
}

#[test]
fn an_escalation_that_nobody_answers_expires_and_is_denied_also_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let expires = |time: &str| format!("[runs]\nescalation_expires = {time:?}\n");
    let server = serve(folder.path(), &expires("never"));
    let puppet = asking(&server);
    let execute = |server: &Served| {
        puppet
            .execute(server, "act", json!({"risky": true}))
            .expect(202, "")
    };
    let patient = execute(&server);
    server.kill();
    let server = serve(folder.path(), &expires("1s"));
    let (here, over) = (execute(&server), execute(&server));
    let expired = |server: &Served, waiting: &Value| {
        let result = ended(server, text(&waiting["execution_id"]));
        assert_eq!(result["status"], "vetoed", "{result}");
        assert_eq!(result["error"]["code"], "ESCALATION_EXPIRED", "{result}");
        assert_eq!(result["escalation"]["answer"]["decision"], "deny", "{result}");
        assert_eq!(result["steps"][0]["status"], "skipped", "{result}");
        decide(server, waiting, "approve").expect(409, "DECISION_CONFLICT");
    };
    expired(&server, &here);
    server.kill();
    // How long it waits was written when it began, whatever is set by now.
    let server = serve(folder.path(), &expires("never"));
    expired(&server, &over);
    assert_eq!(
        shown(&server, text(&patient["execution_id"]))["status"],
        "awaiting_approval"
    );
    decide(&server, &patient, "approve").expect(200, "");
    assert_eq!(
        ended(&server, text(&patient["execution_id"]))["status"],
        "completed"
    );
    // What was recorded can be shown to follow from itself.
    server.kill();
    for run in [&here, &over, &patient] {
        let replayed = offline(folder.path())
            .args(["run", "replay", text(&run["execution_id"]), "--data", "data"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&replayed.stderr);
        assert!(replayed.status.success(), "{said}");
    }
}

#[test]
fn what_waits_for_a_person_is_not_kept_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), "");
    let puppet = asking(&server);
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() / 1024
    };
    let blob = "x".repeat(1_000_000);
    let execute = || {
        let input = json!({"risky": true, "order": "kept", "blob": blob});
        puppet.execute(&server, "act", input).expect(202, "")
    };
    // What a request of this size takes for a moment is not what is kept.
    for _ in 0..20 {
        execute();
    }
    let before = resident();
    let waiting: Vec<Value> = (0..200).map(|_| execute()).collect();
    let grown = resident().saturating_sub(before);
    assert!(
        grown < 100,
        "200 executions with inputs of 1 MB that wait take {grown} MiB"
    );
    // They can be read, followed and answered as before.
    let listed = server
        .call("GET", "/v1/executions?status=awaiting_approval&limit=100")
        .expect(200, "");
    assert_eq!(listed["total"], 220);
    let id = text(&waiting[7]["execution_id"]);
    std::thread::scope(|scope| {
        let events = scope.spawn(|| server.call("GET", &format!("/v1/executions/{id}/events")));
        decide(&server, &waiting[7], "approve").expect(200, "");
        let events = events.join().unwrap();
        let events = String::from_utf8_lossy(&events.body);
        assert!(
            events.contains("event: decided"),
            "the stream goes on when it is answered"
        );
        assert!(events.contains("event: call_ended"));
    });
    let done = ended(&server, id);
    assert_eq!(done["status"], "completed", "{done}");
    assert_eq!(done["steps"][0]["output"]["order"], "kept", "{done}");
    let cancelled = format!("/v1/executions/{}/cancel", text(&waiting[8]["execution_id"]));
    let cancelled = server.call("POST", &cancelled).expect(200, "");
    assert_eq!(cancelled["status"], "cancelled");
}

#[test]
fn many_answers_at_once_to_one_question_are_one_answer() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(folder.path(), "");
    let puppet = asking(&server);
    for _ in 0..10 {
        let waiting = puppet
            .execute(&server, "act", json!({"risky": true}))
            .expect(202, "");
        let statuses: Vec<(&str, u16)> = std::thread::scope(|scope| {
            let asked: Vec<_> = (0..8)
                .map(|number| {
                    let decision = if number % 2 == 0 { "approve" } else { "deny" };
                    let (server, waiting) = (&server, &waiting);
                    scope.spawn(move || (decision, decide(server, waiting, decision).status))
                })
                .collect();
            asked.into_iter().map(|asked| asked.join().unwrap()).collect()
        });
        let result = ended(&server, text(&waiting["execution_id"]));
        let taken = text(&result["escalation"]["answer"]["decision"]);
        for (decision, status) in statuses {
            let expected = if decision == taken { 200 } else { 409 };
            assert_eq!(status, expected, "{decision}: {result}");
        }
    }
}
