//! Calls from tool to tool in a run (R3, D23), on a real `mizzen serve`: a pack that is against a tool is against it wherever it is
//! called, what happened is in the journal, and nothing happens twice.

use crate::support::host::Host;
use crate::support::http::{Answer, Served};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Knows nothing of calls that tools make: `forbid`, `hide_input`, `hide_output` and `ask` of the run's input say what it does.
const RULES: &str = r#"
(defrule forbid (moment (name before-step)) (forbid ?tool) (tool-call (tool ?tool))
  => (assert (decision (action veto) (reason (str-cat ?tool " is not to be called")))))
(defrule forbid-answer (moment (name after-step)) (forbid_answer ?tool) (tool-result (tool ?tool))
  => (assert (decision (action veto) (reason "not this answer"))))
(defrule ask (moment (name before-step)) (ask ?tool) (tool-call (tool ?tool))
  => (assert (decision (action escalate) (reason "a person must know"))))
(defrule hide-input (moment (name before-step)) (hide_input TRUE)
  (evidence (subject input) (pointer ?p) (text ?t&:(matches ?t "XK-[A-Z]+-[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "XK-[A-Z]+-[0-9]+") (reason (str-cat "found in " ?t)))))
(defrule hide-output (moment (name after-step)) (hide_output TRUE)
  (evidence (subject output) (pointer ?p) (text ?t&:(matches ?t "XK-[A-Z]+-[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "XK-[A-Z]+-[0-9]+") (reason (str-cat "found in " ?t)))))
(defrule note (nested-call (caller ?caller) (path ?path) (depth ?depth) (within ?within)) (moment (name after-step))
  => (assert (decision (action annotate) (reason (str-cat ?caller " made call " ?path " at depth " ?depth " within a " ?within)))))
"#;

const PAY: &str = "hostile.does-as-told.pay";
const KEEP: &str = "hostile.does-as-told.keep";
const ACT: &str = "hostile.does-as-told.act";
const RELAY: &str = "hostile.calls-as-told.relay";

/// A host that mounts the pack for every run, with more sections in its configuration.
fn host_with(sections: &str) -> Host {
    let config = format!(
        "[[governance]]\nid = \"guard\"\n\
         [grants.plugin]\ndoes-as-told = [\"kv:*\"]\ncalls-as-told = [\"tools:*\"]\n{sections}"
    );
    Host::new()
        .plugin("tests/guests/does-as-told")
        .plugin("tests/guests/calls-as-told")
        .rules("guard", RULES)
        .config(&config)
}

fn host() -> Host {
    host_with("")
}

/// Goes through a run again, as its journal has it, and exports it.
fn replay(host: &Host, id: &str) {
    assert!(host.yes(&["run", "replay", id]).contains("call 1"));
    assert!(host.yes(&["audit", "export", id]).contains("nested_called"));
}

/// A council whose chains call the input's tools: as a step, through another tool, and through the gate agent.
struct Council(Value);

impl Council {
    fn create(server: &Served) -> Self {
        let capability = |name: &str, tool: &str| json!({"name": name, "description": "d", "tool": tool, "parameters": {"type": "object"}});
        let sprite = |name: &str, capabilities: Value| {
            let body = json!({
                "name": name, "version": "1.0.0", "system_prompt": "Be brief.", "capabilities": capabilities,
                "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
            });
            server.call_json("POST", "/v1/sprites", &body).expect(201, "")["id"].clone()
        };
        let worker = sprite(
            "BECK-02",
            json!([
                capability("pay", PAY),
                capability("count", "hostile.does-as-told.calls"),
                capability("through", "hostile.calls-as-told.act")
            ]),
        );
        let agent = sprite(
            "LEWIS-06",
            json!([capability("evaluate_gate", "hostile.calls-as-told.evaluate_gate")]),
        );
        let told = json!({"act": "$input.act", "order": "$input.order", "times": 0});
        let step = |action: &str, input: &Value| json!({"order": 0, "sprite_id": worker, "action": action, "input_map": input});
        let through = json!({"order": "$input.order", "calls": "$input.calls"});
        let chain = |name: &str, step: Value, gates: Value| json!({"name": name, "timeout": "10m", "steps": [step], "gates": gates});
        let gate = json!([{"position": "before", "sprite_id": agent, "condition": "true"}]);
        let body = json!({
            "domain": "d", "sprites": [worker, agent], "gate_agents": [agent],
            "chains": [
                chain("pay", step("pay", &told), json!([])),
                chain("count", step("count", &told), json!([])),
                chain("through", step("through", &through), json!([])),
                chain("gated", step("count", &told), gate),
            ],
        });
        Self(server.call_json("POST", "/v1/councils", &body).expect(201, ""))
    }

    fn request(&self, chain: &str, input: Value) -> Value {
        let mut full = json!({"act": "answer", "order": "o"});
        full.as_object_mut()
            .unwrap()
            .extend(input.as_object().unwrap().clone());
        let chains = self.0["chains"].as_array().unwrap();
        let found = chains.iter().find(|found| found["name"] == chain).unwrap();
        json!({"council_id": self.0["id"], "chain_id": found["id"], "input": full})
    }

    fn execute(&self, server: &Served, chain: &str, input: Value) -> Answer {
        server.call_json("POST", "/v1/chains/execute", &self.request(chain, input))
    }

    /// Starts a chain and does not wait for it.
    fn start(&self, server: &Served, chain: &str, input: Value) -> String {
        let headers = [("content-type", "application/json"), ("prefer", "respond-async")];
        let body = self.request(chain, input).to_string();
        let accepted = server.send("POST", "/v1/chains/execute", &headers, body.as_bytes());
        let accepted = accepted.expect(202, "");
        accepted["execution_id"].as_str().unwrap().to_owned()
    }

    /// How often something was paid or kept.
    fn count(&self, server: &Served, order: &str) -> u64 {
        let result = self
            .execute(server, "count", json!({"order": order}))
            .expect(200, "");
        result["steps"][0]["output"]["calls"].as_u64().unwrap()
    }
}

/// A call that a tool is told to make.
fn call(tool: &str, order: &str) -> Value {
    json!({"tool": tool, "input": {"act": "answer", "order": order, "times": 0}})
}

/// An execution, once it has ended.
fn ended(server: &Served, id: &str) -> Value {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        let result = server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, "");
        if result["status"] != "running" {
            return result;
        }
        assert!(Instant::now() < patience, "the run does not end: {result:#}");
    }
}

/// The journal of a run.
fn entries(server: &Served, id: &str) -> Vec<Value> {
    let text = server
        .send("GET", &format!("/v1/executions/{id}/events"), &[], b"")
        .text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The journal without what comes with every entry, of one kind.
fn of_kind(entries: &[Value], kind: &str) -> Vec<Value> {
    let wanted = entries.iter().filter(|entry| entry["kind"] == kind);
    wanted.cloned().collect()
}

#[test]
fn a_tool_that_a_pack_vetoes_as_a_step_is_vetoed_when_another_tool_calls_it() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);

    let as_step = council
        .execute(&server, "pay", json!({"order": "a", "forbid": PAY}))
        .expect(409, "PACK_VETO");
    assert_eq!(as_step["details"]["rule"], "forbid");
    assert_eq!(council.count(&server, "a"), 0);

    // Directly, and with a tool in between; what nobody forbids goes on.
    let inner = json!({"tool": RELAY, "input": {"order": "r", "calls": [call(PAY, "b")]}});
    let input = json!({"forbid": PAY, "calls": [call(PAY, "b"), inner, call(ACT, "c")]});
    let result = council.execute(&server, "through", input).expect(200, "");
    let id = result["execution_id"].as_str().unwrap().to_owned();
    let answers = result["steps"][0]["output"]["answers"].clone();
    let denied =
        "denied: pack \"guard\" vetoes by its rule \"forbid\": hostile.does-as-told.pay is not to be called";
    assert_eq!(answers[0]["error"], denied);
    assert_eq!(answers[1]["output"]["answers"][0]["error"], denied);
    assert_eq!(answers[2]["output"]["order"], "c");
    assert_eq!(council.count(&server, "b"), 0);

    let calls: Vec<String> = result["steps"][0]["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| {
            let text = |name: &str| call[name].as_str().unwrap().to_owned();
            let code = call["error"]["code"].as_str().unwrap_or("-");
            format!("{} {} {} {code}", text("path"), text("tool"), text("status"))
        })
        .collect();
    assert_eq!(
        calls,
        [
            format!("1 {PAY} denied PACK_VETO"),
            format!("2 {RELAY} completed -"),
            format!("2.1 {PAY} denied PACK_VETO"),
            format!("3 {ACT} completed -"),
        ]
    );
    let journal = entries(&server, &id);
    let called = of_kind(&journal, "nested_called");
    let paths: Vec<&str> = called
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["1", "2", "2.1", "3"]);
    // What was let through is there, what was not is not.
    assert_eq!(
        (&called[0]["withheld"], called[0].get("input")),
        (&json!(true), None)
    );
    assert_eq!(called[3]["input"]["order"], "c");
    assert_eq!(
        (&called[2]["caller"], &called[2]["step"], &called[2]["attempt"]),
        (&json!(RELAY), &json!(0), &json!(1))
    );
    assert!(called[0]["digest"].as_str().unwrap().starts_with("blake3:"));
    assert_eq!(
        (
            &called[0]["version"],
            &called[0]["plugin"],
            &called[0]["side_effects"]
        ),
        (&json!("0.1.0"), &json!("does-as-told"), &json!("external"))
    );
    let ended: Vec<Value> = of_kind(&journal, "nested_ended");
    let paths: Vec<&str> = ended
        .iter()
        .map(|entry| entry["path"].as_str().unwrap())
        .collect();
    assert_eq!(paths, ["2", "3"]);
    assert_eq!(ended[1]["output"]["order"], "c");
    // The tool in between changes the world, as far as anybody knows: that it is called is said before.
    let intents: Vec<Value> = of_kind(&journal, "intent");
    let intents: Vec<(&Value, &Value)> = intents
        .iter()
        .map(|entry| (&entry["path"], &entry["idempotency_key"]))
        .collect();
    assert_eq!(
        intents,
        [
            (&Value::Null, &json!(format!("{id}/0/0"))),
            (&json!("2"), &json!(format!("{id}/0/0/2"))),
        ]
    );
    let notes: Vec<&str> = result["packs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|said| said["action"] == "annotate")
        .map(|said| said["reason"].as_str().unwrap())
        .collect();
    assert_eq!(
        notes,
        [
            "hostile.calls-as-told.act made call 2 at depth 1 within a step",
            "hostile.calls-as-told.act made call 3 at depth 1 within a step",
        ]
    );
    server.terminate();
    replay(&host, &id);
}

#[test]
fn what_a_pack_asks_a_person_about_or_withholds_does_not_reach_the_caller() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);
    let run = |input: Value| council.execute(&server, "through", input).expect(200, "");
    let error = |result: &Value| {
        let answers = &result["steps"][0]["output"]["answers"];
        answers[0]["error"].as_str().unwrap().to_owned()
    };

    let asked = run(json!({"ask": PAY, "calls": [call(PAY, "a")]}));
    let said = error(&asked);
    assert!(
        said.starts_with("denied:") && said.contains("make hostile.does-as-told.pay a step of its own"),
        "{said}"
    );
    assert_eq!(
        (&asked["status"], asked.get("escalation")),
        (&json!("completed"), None)
    );
    assert_eq!(council.count(&server, "a"), 0);
    // As a step it waits for a person.
    council
        .execute(&server, "pay", json!({"ask": PAY, "order": "a"}))
        .expect(202, "");

    // It was made, and its answer is withheld.
    let mut shouted = call(PAY, "xk-gone-5");
    shouted["shout"] = json!(true);
    let withheld = run(json!({"forbid_answer": PAY, "calls": [shouted]}));
    assert!(error(&withheld).contains("not this answer"));
    assert_eq!(council.count(&server, "XK-GONE-5"), 1);
    let id = withheld["execution_id"].as_str().unwrap();
    let ended = of_kind(&entries(&server, id), "nested_ended");
    assert_eq!(
        (&ended[0]["withheld"], ended[0].get("output")),
        (&json!(true), None)
    );
}

#[test]
fn what_a_pack_redacts_of_a_tools_call_or_its_answer_is_nowhere() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);
    let shout = |order: &str| {
        let mut shouted = call(ACT, order);
        shouted["shout"] = json!(true);
        json!([shouted])
    };
    let run = |input: Value| {
        let result = council.execute(&server, "through", input).expect(200, "");
        let answers = result["steps"][0]["output"]["answers"].clone();
        (result["execution_id"].as_str().unwrap().to_owned(), answers)
    };
    // The callee does not get it, and so cannot answer it.
    let (first, answers) = run(json!({"hide_input": true, "calls": shout("xk-in-1")}));
    assert_eq!(answers[0]["output"]["order"], "[redacted]");
    // The callee gets it, its caller does not.
    let (second, answers) = run(json!({"hide_output": true, "calls": shout("xk-out-2")}));
    assert_eq!(answers[0]["output"]["order"], "[redacted]");
    // Nobody is against it.
    let (_, answers) = run(json!({"calls": shout("xk-plain-3")}));
    assert_eq!(answers[0]["output"]["order"], "XK-PLAIN-3");
    let called = of_kind(&entries(&server, &first), "nested_called");
    assert_eq!(called[0]["input"]["order"], "[redacted]");
    let ended = of_kind(&entries(&server, &second), "nested_ended");
    assert_eq!(ended[0]["output"]["order"], "[redacted]");
    server.terminate();
    replay(&host, &first);
    replay(&host, &second);
    assert!(!host.keeps("XK-IN-1"));
    assert!(host.keeps("XK-PLAIN-3"));
}

#[test]
fn the_gate_agent_and_what_its_tool_calls_are_governed() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);
    let gated = |input: Value| council.execute(&server, "gated", input);
    gated(json!({})).expect(200, "");

    let mut paid = call(PAY, "a");
    let vetoed = gated(json!({"agent_calls": paid, "forbid": PAY})).expect(409, "GATE_VETO");
    let reason = vetoed["details"]["reason"].as_str().unwrap();
    assert!(reason.contains("is not to be called"), "{reason}");
    assert_eq!(council.count(&server, "a"), 0);

    // The agent's own tool reaches out, so a pack can be against that as well.
    let own = "hostile.calls-as-told.evaluate_gate";
    let vetoed = gated(json!({"agent_calls": paid, "forbid": own})).expect(409, "GATE_VETO");
    let reason = vetoed["details"]["reason"].as_str().unwrap();
    assert!(reason.contains(&format!("{own} is not to be called")), "{reason}");
    assert_eq!(council.count(&server, "a"), 0);

    // What it quotes is redacted before anybody reads it.
    paid["shout"] = json!(true);
    paid["input"]["order"] = json!("xk-gate-4");
    let vetoed = gated(json!({"agent_calls": paid, "hide_output": true})).expect(409, "GATE_VETO");
    let reason = vetoed["details"]["reason"].as_str().unwrap();
    assert!(reason.contains("[redacted]"), "{reason}");
    let id = vetoed["details"]["execution_id"].as_str().unwrap().to_owned();
    let result = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    let calls = &result["gates"][0]["calls"];
    assert_eq!(
        (&calls[0]["tool"], &calls[0]["status"]),
        (&json!(PAY), &json!("completed"))
    );
    let journal = entries(&server, &id);
    let started = of_kind(&journal, "started");
    assert_eq!(started[0]["governs"], json!(["gate_agent", "reasons"]));
    let called = of_kind(&journal, "nested_called");
    assert!(called[0]["question"].is_u64() && called[0].get("step").is_none());
    server.terminate();
    replay(&host, &id);
}

#[test]
fn a_tools_own_code_is_in_the_error_of_its_step_and_of_its_call() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);
    let failed = council
        .execute(&server, "pay", json!({"act": "break"}))
        .expect(200, "");
    for error in [&failed["error"], &failed["steps"][0]["error"]] {
        assert_eq!(
            *error,
            json!({"code": "TOOL_FAILED", "message": "OUT_OF_STOCK: as told", "step": 0, "tool_code": "OUT_OF_STOCK"})
        );
    }
    let mut broken = call(PAY, "a");
    broken["input"]["act"] = json!("break");
    let result = council
        .execute(&server, "through", json!({"calls": [broken]}))
        .expect(200, "");
    let error = &result["steps"][0]["calls"][0]["error"];
    assert_eq!(
        (&error["code"], &error["tool_code"]),
        (&json!("TOOL_FAILED"), &json!("OUT_OF_STOCK"))
    );
}

#[test]
fn guests_that_wait_for_packs_never_wait_for_a_slot_that_guests_like_them_hold() {
    // Four outermost guests at once. One waits for a long time; the others for their calls to be durable and for the pack's answers
    // about them, so that none of the four ends before the pack was asked.
    let host = host_with("[sandbox]\nslots = 8\nthreads = 1\n");
    let server = host.serve();
    let council = Council::create(&server);
    let calls: Vec<Value> = (0..20).map(|_| call(KEEP, "a")).collect();
    let waits = council.start(&server, "pay", json!({"act": "wait", "order": "w"}));
    let patience = Instant::now() + Duration::from_secs(60);
    while council.count(&server, "w") < 1 {
        assert!(Instant::now() < patience, "nobody waits");
    }
    let runs: Vec<String> = (0..8)
        .map(|_| council.start(&server, "through", json!({"calls": calls})))
        .collect();
    for id in runs {
        let result = ended(&server, &id);
        let calls = result["steps"][0]["calls"].as_array().unwrap();
        assert_eq!(calls.len(), 20);
        assert!(
            calls.iter().all(|call| call["status"] == "completed"),
            "{calls:#?}"
        );
    }
    server
        .send("POST", &format!("/v1/executions/{waits}/cancel"), &[], b"")
        .expect(200, "");
}

#[test]
fn a_tools_payment_that_was_under_way_at_kill_9_is_in_doubt_and_never_made_twice() {
    let host = host();
    let server = host.serve();
    let council = Council::create(&server);
    // What has ended before the host stops, what is under way then, and a key by which a repeated call is told.
    let under_way = |tool: &str, before: &str, order: &str, act: &str| {
        let mut last = call(tool, order);
        last["input"]["act"] = json!(act);
        json!({"order": order, "calls": [call(PAY, before), last]})
    };
    let paid = council.start(&server, "through", under_way(PAY, "p1", "p2", "wait"));
    let kept = council.start(&server, "through", under_way(KEEP, "k1", "k2", "wait"));
    let patience = Instant::now() + Duration::from_secs(60);
    while council.count(&server, "p2") + council.count(&server, "k2") < 2 {
        assert!(Instant::now() < patience, "the calls are not made");
    }
    server.kill();
    let server = host.serve();
    let result = ended(&server, &paid);
    // The step is made again; what it had paid is answered from the journal, what was under way is in doubt.
    assert_eq!(result["status"], "completed", "{result:#}");
    let answers = &result["steps"][0]["output"]["answers"];
    assert_eq!(answers[0]["output"]["order"], "p1");
    let doubt = answers[1]["error"].as_str().unwrap();
    assert!(doubt.contains("IN_DOUBT"), "{doubt}");
    assert_eq!(
        (council.count(&server, "p1"), council.count(&server, "p2")),
        (1, 1)
    );
    let journal = entries(&server, &paid);
    let paths: Vec<String> = journal
        .iter()
        .filter(|entry| {
            ["nested_called", "nested_ended", "interrupted"].contains(&entry["kind"].as_str().unwrap())
        })
        .map(|entry| {
            let path = entry["path"].as_str().unwrap_or("-");
            format!("{} {path}", entry["kind"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        paths,
        [
            "nested_called 1",
            "nested_ended 1",
            "nested_called 2",
            "interrupted -",
            "nested_called 1",
            "nested_called 2",
        ]
    );
    // The one that tells a repeated call by its key is made again, with the same key.
    while council.count(&server, "k2") < 2 {
        assert!(Instant::now() < patience, "it is not called again");
    }
    assert_eq!(council.count(&server, "k1"), 1);
    let cancelled = server
        .send("POST", &format!("/v1/executions/{kept}/cancel"), &[], b"")
        .expect(200, "");
    let calls = &cancelled["steps"][0]["calls"];
    assert_eq!(
        (&calls[1]["status"], &calls[1]["error"]["code"]),
        (&json!("failed"), &json!("CALLER_ENDED"))
    );
    server.terminate();
    replay(&host, &paid);
    replay(&host, &kept);
}
