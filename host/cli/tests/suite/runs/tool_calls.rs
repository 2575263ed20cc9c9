//! Calls of tools without a council, over HTTP and from the command line: governed, journaled, recovered and replayed like every run.

use crate::support::host::Host;
use crate::support::http::{Answer, Served};
use crate::support::terminal;
use serde_json::{Value, json};
use std::fs;

/// A pack of the host: it knows the tool by its id, and what its input says by facts (D13).
const RULES: &str = r#"
(defrule forbidden (moment (name before-step)) (tool-call (tool "text.case")) (evidence (subject input) (text ?t&:(matches ?t "forbidden")))
  => (assert (decision (action veto) (reason "this text is not for this tool"))))
(defrule ask (moment (name before-step)) (tool-call (tool "text.case")) (evidence (subject input) (text ?t&:(matches ?t "delicate")))
  => (assert (decision (action escalate) (reason "a person must look at the whole of this text before it is written in capitals"))))
(defrule hide (moment (name after-step)) (evidence (subject output) (pointer ?p) (text ?t&:(matches ?t "XK-[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "XK-[0-9]+") (reason "a number of ours"))))
"#;

fn host() -> Host {
    Host::new()
        .plugin("plugins/text")
        .plugin("tests/guests/does-as-told")
        .rules("guard", RULES)
        .config("[grants.plugin]\ndoes-as-told = [\"kv:*\"]\n[[governance]]\nid = \"guard\"\n")
}

/// How a verb ends, and what it prints on both.
fn run(host: &Host, arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = host.run(arguments);
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

fn call(server: &Served, tool: &str, body: &Value) -> Answer {
    server.call_json("POST", &format!("/v1/tools/{tool}/call"), body)
}

fn shout(text: &str) -> Value {
    json!({"input": {"text": text, "to": "upper"}})
}

#[test]
fn a_tool_is_called_by_one_request_and_found_among_the_executions() {
    let host = host();
    let server = host.serve();
    let ended = call(&server, "text.case", &shout("hello"));
    let result = ended.expect(200, "");
    assert_eq!(result["status"], "completed", "{result}");
    assert_eq!(result["tool"], "text.case");
    assert_eq!(result["steps"][0]["output"]["text"], "HELLO");
    assert_eq!(
        result["steps"][0]["input"],
        json!({"text": "hello", "to": "upper"})
    );
    assert_eq!(result["packs"], json!([]), "the host's pack was asked: {result}");
    let location = ended.header("location").unwrap().to_owned();
    assert_eq!(server.call("GET", &location).expect(200, ""), result);
    let listed = server
        .call("GET", "/v1/executions?tool=text.case")
        .expect(200, "");
    assert_eq!((&listed["total"], &listed["executions"][0]), (&json!(1), &result));
    let others = server
        .call("GET", "/v1/executions?tool=text.word_count")
        .expect(200, "");
    assert_eq!(others["total"], 0);
    // The description that a caller needs to make one.
    let tool = server.call("GET", "/v1/tools/text.case").expect(200, "");
    assert_eq!(tool["id"], "text.case");
    assert!(tool["input_schema"].is_object(), "{tool}");
}

#[test]
fn what_cannot_be_called_leaves_no_run_behind() {
    let host = host();
    let server = host.serve();
    let input = shout("x");
    for tool in ["text.nothing", "no.such", "nodots", "%2e%2e"] {
        call(&server, tool, &input).expect(404, "TOOL_NOT_FOUND");
        server
            .call("GET", &format!("/v1/tools/{tool}"))
            .expect(404, "TOOL_NOT_FOUND");
    }
    let version = json!({"input": {}, "version": "^9"});
    let missing = call(&server, "text.case", &version).expect(404, "TOOL_NOT_FOUND");
    assert!(
        missing["message"].as_str().unwrap().contains("installed"),
        "{missing}"
    );
    for (body, part) in [
        (json!({}), "input is required"),
        (json!({"input": {}, "version": "newest"}), "/version"),
        (json!({"input": {}, "timeout": "soon"}), "/timeout"),
        (json!({"input": {}, "tool": "x"}), "not a field"),
    ] {
        let refused = call(&server, "text.case", &body).expect(400, "VALIDATION_ERROR");
        assert!(refused.to_string().contains(part), "{refused}");
    }
    // Whole numbers are never rounded in silence.
    let body = r#"{"input": {"text": "a", "n": [1, 18446744073709551616]}}"#;
    let headers = [("content-type", "application/json")];
    let refused = server.send("POST", "/v1/tools/text.case/call", &headers, body.as_bytes());
    let refused = refused.expect(400, "VALIDATION_ERROR");
    assert_eq!(refused["details"]["errors"][0]["path"], "/input/n/1", "{refused}");
    assert_eq!(server.call("GET", "/v1/executions").expect(200, "")["total"], 0);
    // An input that the tool's schema refuses is a run that failed: the packs were asked, and the attempt is on record.
    let failed = call(&server, "text.case", &json!({"input": {"text": 7}})).expect(200, "");
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["error"]["code"], "INVALID_INPUT", "{failed}");
    let not_an_object = call(&server, "text.case", &json!({"input": [1]})).expect(200, "");
    assert_eq!(not_an_object["error"]["code"], "INVALID_INPUT");
}

#[test]
fn packs_of_the_host_veto_and_escalate_a_call() {
    let host = host();
    let server = host.serve();
    let vetoed = call(&server, "text.case", &shout("forbidden words")).expect(409, "PACK_VETO");
    let details = &vetoed["details"];
    assert_eq!(
        (&details["pack_id"], &details["rule"]),
        (&json!("guard"), &json!("forbidden"))
    );
    let waiting = call(&server, "text.case", &shout("delicate words")).expect(202, "");
    assert_eq!(waiting["status"], "awaiting_approval");
    let path = format!(
        "/v1/executions/{}/decision",
        waiting["execution_id"].as_str().unwrap()
    );
    let answer = |decision: &str, waiting: &Value| json!({"decision": decision, "reason": "read it", "escalation_id": waiting["escalation"]["escalation_id"]});
    server
        .call_json("POST", &path, &answer("approve", &waiting))
        .expect(200, "");
    let events = server.call(
        "GET",
        &format!(
            "/v1/executions/{}/events",
            waiting["execution_id"].as_str().unwrap()
        ),
    );
    assert!(events.text().contains("\"DELICATE WORDS\""), "{}", events.text());
    // With a key, the same request is the same run: also one that a person has denied.
    let headers = [("content-type", "application/json"), ("idempotency-key", "k-1")];
    let body = shout("delicate again").to_string();
    let send = |body: &str| server.send("POST", "/v1/tools/text.case/call", &headers, body.as_bytes());
    let waiting = send(&body).expect(202, "");
    let path = format!(
        "/v1/executions/{}/decision",
        waiting["execution_id"].as_str().unwrap()
    );
    server
        .call_json("POST", &path, &answer("deny", &waiting))
        .expect(200, "");
    let denied = send(&body).expect(409, "PACK_VETO");
    assert_eq!(denied["details"]["execution_id"], waiting["execution_id"]);
}

#[test]
fn an_idempotency_key_makes_two_requests_one_call() {
    let host = host();
    let server = host.serve();
    let told = |order: &str| json!({"input": {"act": "answer", "order": order, "times": 0}}).to_string();
    let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
    let send = |tool: &str, order: &str| {
        let path = format!("/v1/tools/hostile.does-as-told.{tool}/call");
        server.send("POST", &path, &headers, told(order).as_bytes())
    };
    let first = send("pay", "a").expect(200, "");
    assert_eq!(first["steps"][0]["output"]["calls"], 1);
    assert_eq!(send("pay", "a").expect(200, ""), first);
    send("pay", "b").expect(422, "IDEMPOTENCY_KEY_REUSED");
    send("keep", "a").expect(422, "IDEMPOTENCY_KEY_REUSED");
    // Without a key it is another call.
    let again = call(
        &server,
        "hostile.does-as-told.pay",
        &serde_json::from_str(&told("a")).unwrap(),
    );
    assert_eq!(again.expect(200, "")["steps"][0]["output"]["calls"], 2);
}

#[test]
fn a_call_in_doubt_is_recovered_after_a_kill_and_every_run_replays_and_verifies() {
    let host = host();
    let server = host.serve();
    let start = |tool: &str, act: &str| {
        let headers = [("content-type", "application/json"), ("prefer", "respond-async")];
        let body = json!({"input": {"act": act, "order": "o", "times": 0}, "timeout": "10m"}).to_string();
        let path = format!("/v1/tools/hostile.does-as-told.{tool}/call");
        let accepted = server
            .send("POST", &path, &headers, body.as_bytes())
            .expect(202, "");
        accepted["execution_id"].as_str().unwrap().to_owned()
    };
    let (pay, act) = (start("pay", "wait"), start("act", "wait"));
    for id in [&pay, &act] {
        until(|| {
            server
                .call("GET", &format!("/v1/executions/{id}"))
                .expect(200, "")["steps"][0]["status"]
                == "running"
        });
    }
    server.kill();
    let server = host.serve();
    let shown = |id: &str| {
        server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, "")
    };
    until(|| shown(&pay)["status"] == "failed");
    let failed = shown(&pay);
    assert_eq!(failed["error"]["code"], "IN_DOUBT", "{failed}");
    assert_eq!(failed["tool"], "hostile.does-as-told.pay");
    // A pure call is made again: it is still what it was, and waits.
    assert_eq!(shown(&act)["status"], "running");
    server
        .call_json("POST", &format!("/v1/executions/{act}/cancel"), &json!({}))
        .expect(200, "");
    let done = call(&server, "text.case", &shout("hello")).expect(200, "");
    let vetoed = call(&server, "text.case", &shout("forbidden")).expect(409, "PACK_VETO");
    assert!(server.terminate().success());
    let done = done["execution_id"].as_str().unwrap();
    let vetoed = vetoed["details"]["execution_id"].as_str().unwrap();
    for id in [done, vetoed, &pay, &act] {
        let (code, out, err) = run(&host, &["run", "replay", id, "--data", "data"]);
        assert_eq!(code, Some(0), "{out}{err}");
    }
    let (code, out, err) = run(
        &host,
        &["audit", "export", done, "--data", "data", "--output", "run.json"],
    );
    assert_eq!(code, Some(0), "{out}{err}");
    let key = err
        .lines()
        .find_map(|line| line.strip_prefix("host key: "))
        .unwrap();
    let (code, out, err) = run(&host, &["audit", "verify", "run.json", "--key", key]);
    assert_eq!(code, Some(0), "{out}{err}");
    let export = fs::read_to_string(host.path("run.json")).unwrap();
    fs::write(host.path("run.json"), export.replace("HELLO", "JELLO")).unwrap();
    let (code, ..) = run(&host, &["audit", "verify", "run.json", "--key", key]);
    assert_eq!(code, Some(1));
}

#[test]
fn a_key_needs_the_grant_and_the_command_line_takes_it_from_the_environment() {
    let host = host();
    let key = |name: &str, grant: &str| {
        let (code, out, err) = run(
            &host,
            &[
                "key", "api", "new", "--name", name, "--grant", grant, "--data", "data", "--json",
            ],
        );
        assert_eq!(code, Some(0), "{err}");
        let made: Value = serde_json::from_str(&out).unwrap();
        made["key"].as_str().unwrap().to_owned()
    };
    let (may, may_not) = (key("caller", "tools:call"), key("starter", "runs:start"));
    let server = host.serve();
    let body = shout("hello").to_string();
    let send = |key: &str| {
        let bearer = format!("Bearer {key}");
        let headers = [
            ("content-type", "application/json"),
            ("authorization", bearer.as_str()),
        ];
        server.send("POST", "/v1/tools/text.case/call", &headers, body.as_bytes())
    };
    let refused = send(&may_not).expect(403, "FORBIDDEN");
    assert!(refused.to_string().contains("tools:call"), "{refused}");
    assert_eq!(send(&may).expect(200, "")["status"], "completed");
    let remote = |key: Option<&str>, input: &str, more: &[&str]| {
        let mut command = host.command(&[
            "tool",
            "call",
            "text.case",
            "--host",
            &server.url,
            "--input",
            input,
        ]);
        command.args(more);
        if let Some(key) = key {
            command.env("MIZZEN_API_KEY", key);
        }
        let output = command.output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), text(&output.stdout), text(&output.stderr))
    };
    let input = r#"{"text": "hello", "to": "upper"}"#;
    let (code, out, err) = remote(Some(&may), input, &[]);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["text"], "HELLO");
    let (code, out, _) = remote(Some(&may), input, &["--json"]);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &result["tool"]), (Some(0), &json!("text.case")));
    for (key, input, expected, part) in [
        (None, input, 1, "UNAUTHENTICATED"),
        (Some(may_not.as_str()), input, 1, "FORBIDDEN"),
        (
            Some(may.as_str()),
            r#"{"text": "forbidden", "to": "upper"}"#,
            1,
            "this text is not for this tool",
        ),
        (
            Some(may.as_str()),
            r#"{"text": "delicate", "to": "upper"}"#,
            4,
            "waits for a person",
        ),
        (Some(may.as_str()), r#"{"text": 7}"#, 1, "INVALID_INPUT"),
    ] {
        let (code, out, err) = remote(key, input, &[]);
        assert_eq!((code, out.as_str()), (Some(expected), ""), "{err}");
        assert!(err.contains(part), "{part}: {err}");
    }
    assert!(server.terminate().success());
    let (code, _, err) = run(
        &host,
        &["tool", "call", "text.case", "--host", "http://127.0.0.1:1"],
    );
    assert_eq!(code, Some(1));
    assert!(
        err.contains("127.0.0.1:1") && err.contains("cannot be reached"),
        "{err}"
    );
}

#[test]
fn the_command_line_calls_a_tool_on_a_folder() {
    let host = host();
    let input = r#"{"text": "hello", "to": "upper"}"#;
    let (code, out, err) = run(
        &host,
        &["tool", "call", "text.case", "--data", "data", "--input", input],
    );
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(serde_json::from_str::<Value>(&out).unwrap()["text"], "HELLO");
    assert!(err.contains("step  0 text.case"), "{err}");
    fs::write(host.path("input.json"), input).unwrap();
    let (code, out, err) = run(
        &host,
        &[
            "tool",
            "call",
            "text.case",
            "--data",
            "data",
            "-i",
            "@input.json",
            "--json",
        ],
    );
    assert_eq!(code, Some(0), "{err}");
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&result["status"], &result["tool"]),
        (&json!("completed"), &json!("text.case"))
    );
    for (tool, input, expected, part) in [
        (
            "text.case",
            r#"{"text": "forbidden", "to": "upper"}"#,
            1,
            "this text is not for this tool",
        ),
        (
            "text.case",
            r#"{"text": "delicate", "to": "upper"}"#,
            4,
            "it waits for a person",
        ),
        ("text.case", r#"{"text": 7}"#, 1, "INVALID_INPUT"),
        ("text.case", "{", 1, "--input is not JSON"),
        (
            "text.case",
            r#"{"text": 99999999999999999999}"#,
            1,
            "would be rounded",
        ),
        ("text.nothing", "{}", 1, "there is no tool"),
    ] {
        let (code, out, err) = run(&host, &["tool", "call", tool, "--data", "data", "--input", input]);
        assert_eq!((code, out.as_str()), (Some(expected), ""), "{input}: {err}");
        assert!(err.contains(part), "{part}: {err}");
    }
    let (code, ..) = run(
        &host,
        &[
            "tool",
            "call",
            "text.case",
            "--host",
            "http://127.0.0.1:1",
            "--data",
            "data",
        ],
    );
    assert_eq!(code, Some(2));
}

/// W18, for calls without a council.
#[test]
fn a_tool_of_a_disabled_plugin_is_not_called_missing() {
    let host = host();
    let config = fs::read_to_string(host.path("mizzen.toml")).unwrap();
    let disabled = config.replace("[trust]", "disabled = [\"text\"]\n[trust]");
    fs::write(host.path("mizzen.toml"), disabled).unwrap();
    let enable = "which is disabled; run `mizzen plugins enable text`";
    let (code, _, err) = run(&host, &["tool", "call", "text.case", "--data", "data"]);
    assert_eq!(code, Some(1));
    assert!(err.contains(enable), "{err}");
    let server = host.serve();
    let called = call(&server, "text.case", &shout("x")).expect(404, "TOOL_NOT_FOUND");
    let read = server
        .call("GET", "/v1/tools/text.case")
        .expect(404, "TOOL_NOT_FOUND");
    for refused in [called, read] {
        assert!(refused["message"].as_str().unwrap().contains(enable), "{refused}");
    }
}

/// W6: what a tool writes is on the host's log and with the step, unless a pack took something out of what it answered.
#[test]
fn what_a_tool_logs_is_seen_unless_a_pack_redacts_its_answer() {
    let host = host();
    let server = host.serve_with_log("server.log");
    let say = |order: &str| {
        let body = json!({"input": {"act": "say", "order": order, "times": 0}}).to_string();
        let headers = [("content-type", "application/json")];
        let path = "/v1/tools/hostile.does-as-told.act/call";
        let answer = server.send("POST", path, &headers, body.as_bytes());
        answer.expect(200, "")
    };
    let told = say("tea");
    let expected = json!([{"level": "info", "message": "order tea is told"}]);
    assert_eq!(told["steps"][0]["log"], expected, "{told}");
    let hidden = say("XK-4711");
    assert_eq!(hidden["steps"][0]["output"]["order"], "[redacted]", "{hidden}");
    assert_eq!(hidden["steps"][0].get("log"), None, "{hidden}");
    let events = |result: &Value| {
        let path = format!(
            "/v1/executions/{}/events",
            result["execution_id"].as_str().unwrap()
        );
        server.send("GET", &path, &[], b"").text()
    };
    assert!(events(&told).contains("order tea is told"));
    // The input has it, as the caller sent it (R13); what the tool made of it has not.
    assert!(
        !events(&hidden).contains("order XK-4711 is told"),
        "{}",
        events(&hidden)
    );
    assert!(server.terminate().success());
    let log = fs::read_to_string(host.path("server.log")).unwrap();
    let line = log
        .lines()
        .find(|line| line.contains("order tea is told"))
        .unwrap();
    let line: Value = serde_json::from_str(line).unwrap();
    assert_eq!(line["target"], "mizzen::plugin", "{line}");
    assert_eq!(line["level"], "INFO");
    for (name, value) in [
        ("plugin", json!("does-as-told")),
        ("tool", json!("hostile.does-as-told.act")),
        ("step", json!(0)),
    ] {
        assert_eq!(line[name], value, "{line}");
    }
    assert_eq!(line["execution_id"], told["execution_id"]);
    let (code, out, err) = run(
        &host,
        &[
            "run",
            "replay",
            told["execution_id"].as_str().unwrap(),
            "--data",
            "data",
        ],
    );
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, err) = run(
        &host,
        &[
            "run",
            "replay",
            hidden["execution_id"].as_str().unwrap(),
            "--data",
            "data",
        ],
    );
    assert_eq!(code, Some(0), "{out}{err}");
}

/// W22: whoever approves sees what is approved.
#[test]
fn a_call_that_escalates_on_a_terminal_shows_tool_effects_and_input() {
    let host = host();
    let long = format!("delicate {}", "x".repeat(600));
    let input = json!({"text": long, "to": "upper"}).to_string();
    let command = host.command(&["tool", "call", "text.case", "--data", "data", "--input", &input]);
    let mut terminal = terminal::Terminal::run_sized(&command, "cols 60 rows 20");
    terminal.wait_for("approve? [y/n] ", 1);
    terminal.type_in("y\n");
    terminal.wait_for("reason (recorded; return for none): ", 1);
    terminal.type_in("\n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(0), "{seen}");
    for part in [
        "a person must look at the whole of this text before it is written in capitals",
        "  tool          text.case ",
        "  side effects  none",
        &format!("  input         {input}"),
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    assert!(seen.contains(&long.to_uppercase()), "{seen}");
}

/// As on a folder: the person at the terminal is asked, and the host is sent the decision.
#[test]
fn a_call_on_a_running_host_that_escalates_asks_on_the_terminal() {
    let host = host();
    let server = host.serve();
    let long = format!("delicate {}", "x".repeat(600));
    let input = json!({"text": long, "to": "upper"}).to_string();
    let command = host.command(&[
        "tool",
        "call",
        "text.case",
        "--host",
        &server.url,
        "--input",
        &input,
    ]);
    let decide = |answer: &str, reason: &str| {
        let mut terminal = terminal::Terminal::run_sized(&command, "cols 60 rows 20");
        terminal.wait_for("approve? [y/n] ", 1);
        terminal.type_in(answer);
        terminal.wait_for("reason (recorded; return for none): ", 1);
        terminal.type_in(reason);
        terminal.end()
    };
    let (code, seen) = decide("y\n", "read it\n");
    assert_eq!(code, Some(0), "{seen}");
    for part in [
        "a person must look at the whole of this text before it is written in capitals",
        "  tool          text.case",
        &format!("  input         {input}"),
        &long.to_uppercase(),
    ] {
        assert!(seen.contains(part), "{part}: {seen}");
    }
    let (code, seen) = decide("n\n", "\n");
    assert_eq!(code, Some(1), "{seen}");
    let runs = server
        .call("GET", "/v1/executions?tool=text.case")
        .expect(200, "");
    let answer = |index: usize| runs["executions"][index]["escalation"]["answer"].clone();
    assert_eq!(
        (&answer(0)["decision"], &answer(1)["decision"]),
        (&json!("deny"), &json!("approve")),
        "{runs}"
    );
    assert_eq!(answer(1)["reason"], "read it");

    // A key that may call and not decide: the refusal is shown, and the run still waits.
    let key = host.key(&["tools:call"]);
    let mut command = command;
    command.env("MIZZEN_API_KEY", &key);
    let mut terminal = terminal::Terminal::run(&command);
    terminal.wait_for("approve? [y/n] ", 1);
    terminal.type_in("y\n");
    terminal.wait_for("reason (recorded; return for none): ", 1);
    terminal.type_in("\n");
    let (code, seen) = terminal.end();
    assert_eq!(code, Some(4), "{seen}");
    assert!(
        seen.contains("runs:respond") && seen.contains("mizzen runs approve"),
        "{seen}"
    );
}

/// How long a run waits for a person is the host's setting, also for a run that the command line begins on its folder.
#[test]
fn a_call_on_a_folder_that_waits_for_a_person_expires_as_on_a_server() {
    let host = host();
    let config = fs::read_to_string(host.path("mizzen.toml")).unwrap();
    let expiring = format!("{config}[runs]\nescalation_expires = \"1s\"\n");
    fs::write(host.path("mizzen.toml"), expiring).unwrap();
    let input = r#"{"text": "delicate", "to": "upper"}"#;
    let call = [
        "tool",
        "call",
        "text.case",
        "--data",
        "data",
        "--input",
        input,
        "--json",
    ];
    let (code, out, err) = run(&host, &call);
    assert_eq!(code, Some(4), "{err}");
    let waiting: Value = serde_json::from_str(&out).unwrap();
    let path = format!("/v1/executions/{}", waiting["execution_id"].as_str().unwrap());
    // How long it waits was written when it began, whatever is set by now.
    fs::write(host.path("mizzen.toml"), config).unwrap();
    let server = host.serve();
    until(|| server.call("GET", &path).expect(200, "")["status"] == "vetoed");
    let expired = server.call("GET", &path).expect(200, "");
    assert_eq!(expired["error"]["code"], "ESCALATION_EXPIRED", "{expired}");
}

/// Asks until it is so.
fn until(mut found: impl FnMut() -> bool) {
    let patience = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !found() {
        assert!(std::time::Instant::now() < patience, "it never came");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
