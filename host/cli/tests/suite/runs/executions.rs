//! Chains run over HTTP, on the real server, in the real sandbox, with first-party plugins.

use crate::support::council::{Council, offline, serve};
use crate::support::http::{Answer, Served, mizzen};
use serde_json::{Value, json};

fn start() -> (tempfile::TempDir, Served, Council) {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let council = Council::create(&server);
    (folder, server, council)
}

/// The journal of an execution: waits for its end, because the stream ends there.
fn events(server: &Served, id: &str, after: &str) -> Vec<(u64, String, Value)> {
    let answer = server.send(
        "GET",
        &format!("/v1/executions/{id}/events"),
        &[("last-event-id", after)],
        b"",
    );
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/event-stream"));
    parse_events(&answer)
}

fn parse_events(answer: &Answer) -> Vec<(u64, String, Value)> {
    let text = answer.text();
    // The body comes in chunks; their sizes stand on lines of their own, and no event has such a line.
    let field = |block: &str, name: &str| {
        block
            .lines()
            .find_map(|line| line.strip_prefix(name).map(str::to_owned))
    };
    text.split("\n\n")
        .filter_map(|block| {
            let id = field(block, "id: ")?.parse().unwrap();
            let data = serde_json::from_str(&field(block, "data: ")?).unwrap();
            Some((id, field(block, "event: ")?, data))
        })
        .collect()
}

#[test]
fn a_chain_completes_with_the_seeds_result() {
    let (_folder, server, council) = start();
    let result = council
        .execute(&server, "completes", json!({"text": "hello brave world"}))
        .expect(200, "");
    assert_eq!(result["status"], "completed");
    assert_eq!(
        (&result["council_id"], &result["chain_id"]),
        (&json!(council.id), &json!(council.chain("completes")))
    );
    assert_eq!(result["steps"][0]["output"], json!({"words": 3}));
    assert_eq!(result["steps"][1]["output"]["text"], "HELLO BRAVE WORLD");
    for (order, step) in result["steps"].as_array().unwrap().iter().enumerate() {
        assert_eq!(
            (&step["order"], &step["status"], &step["attempts"]),
            (&json!(order), &json!("completed"), &json!(1))
        );
    }
    let gates: Vec<(&Value, &Value)> = result["gates"]
        .as_array()
        .unwrap()
        .iter()
        .map(|gate| (&gate["type"], &gate["decision"]))
        .collect();
    assert_eq!(
        gates,
        [
            (&json!("before"), &json!("allow")),
            (&json!("after"), &json!("allow"))
        ]
    );
    assert!(
        result["duration_ms"].is_u64()
            && result["completed_at"].is_string()
            && result["started_at"].is_string()
    );
    let id = result["execution_id"].as_str().unwrap();
    assert_eq!(
        server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, ""),
        result
    );
}

#[test]
fn vetoes_are_409_with_the_seeds_details_and_are_kept() {
    let (_folder, server, council) = start();
    for (chain, position, reason) in [
        ("vetoed-before", "before", "Task scope not authorised"),
        ("vetoed-after", "after", "too short"),
        ("on-error-vetoes", "on_error", "stop"),
    ] {
        let body = council
            .execute(&server, chain, json!({"text": "a b"}))
            .expect(409, "GATE_VETO");
        assert_eq!(body["message"], "Chain execution was vetoed by gate authority");
        let id = body["details"]["execution_id"].as_str().unwrap();
        assert_eq!(
            body["details"],
            json!({"execution_id": id, "gate_sprite_id": council.lewis, "gate_type": position, "reason": reason})
        );
        let kept = server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, "");
        assert_eq!(kept["status"], "vetoed");
    }
    let denied = council
        .execute(&server, "completes", json!({"text": "a", "secret": 1}))
        .expect(409, "RULE_DENIED");
    assert_eq!(denied["details"]["rule_id"], "r-deny");
    // The rule's hook leads to a private address: it is refused, visibly, and changes nothing.
    let id = denied["details"]["execution_id"].as_str().unwrap();
    let delivery = loop {
        let list = server
            .call("GET", &format!("/v1/executions/{id}/deliveries"))
            .expect(200, "");
        if list["deliveries"][0]["state"] != "pending" {
            break list["deliveries"][0].clone();
        }
        std::thread::yield_now();
    };
    assert_eq!(delivery["state"], "failed");
    assert!(
        delivery["last_error"]
            .as_str()
            .unwrap()
            .contains("not a public address"),
        "{delivery}"
    );
}

#[test]
fn a_step_that_nothing_performs_fails_in_its_place_and_on_error_gates_decide() {
    let (_folder, server, council) = start();
    let failed = council
        .execute(&server, "fails", json!({"text": "a"}))
        .expect(200, "");
    assert_eq!(
        (&failed["status"], &failed["error"]["code"]),
        (&json!("failed"), &json!("CAPABILITY_UNRESOLVED"))
    );
    assert!(
        failed["steps"][0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("install")
    );
    assert_eq!(failed["steps"][1]["status"], "skipped");
    let went_on = council
        .execute(&server, "goes-on", json!({"text": "a"}))
        .expect(200, "");
    assert_eq!(went_on["status"], "completed");
    assert_eq!(
        (&went_on["steps"][0]["status"], &went_on["steps"][1]["status"]),
        (&json!("failed"), &json!("completed"))
    );
}

#[test]
fn a_guest_in_a_loop_is_stopped_by_the_chains_timeout() {
    let (_folder, server, council) = start();
    let result = council.execute(&server, "times-out", json!({})).expect(200, "");
    assert_eq!(
        (
            &result["status"],
            &result["error"]["code"],
            &result["error"]["step"]
        ),
        (&json!("failed"), &json!("TIMEOUT"), &json!(0))
    );
    assert!(result["duration_ms"].as_u64().unwrap() >= 200);
}

#[test]
fn an_escalation_waits_for_a_person_and_is_answered_once() {
    let (_folder, server, council) = start();
    let asked = council.execute(&server, "completes", json!({"text": "a", "risky": true}));
    let location = asked.header("location").unwrap().to_owned();
    let waiting = asked.expect(202, "");
    assert_eq!(waiting["status"], "awaiting_approval");
    let escalation = waiting["escalation"]["escalation_id"].as_str().unwrap();
    let decide = |decision: &str, escalation: &str| {
        let body = json!({"decision": decision, "reason": "looked at it", "escalation_id": escalation});
        server.call_json("POST", &format!("{location}/decision"), &body)
    };
    decide("approve", "another").expect(404, "ESCALATION_NOT_FOUND");
    decide("maybe", escalation).expect(400, "VALIDATION_ERROR");
    decide("approve", escalation).expect(200, "");
    decide("approve", escalation).expect(200, "");
    decide("deny", escalation).expect(409, "DECISION_CONFLICT");
    let id = waiting["execution_id"].as_str().unwrap();
    let journal = events(&server, id, "");
    assert_eq!(journal.iter().filter(|(_, kind, _)| kind == "decided").count(), 1);
    assert_eq!(
        server.call("GET", &location).expect(200, "")["status"],
        "completed"
    );

    let denied = council
        .execute(&server, "completes", json!({"text": "a", "risky": true}))
        .expect(202, "");
    let escalation = denied["escalation"]["escalation_id"].as_str().unwrap();
    let id = denied["execution_id"].as_str().unwrap();
    let body = json!({"decision": "deny", "reason": "no", "escalation_id": escalation});
    let ended = server
        .call_json("POST", &format!("/v1/executions/{id}/decision"), &body)
        .expect(200, "");
    assert_eq!(
        (&ended["status"], &ended["error"]["code"]),
        (&json!("vetoed"), &json!("ESCALATION_DENIED"))
    );

    let cancelled = council
        .execute(&server, "completes", json!({"text": "a", "risky": true}))
        .expect(202, "");
    let path = format!(
        "/v1/executions/{}/cancel",
        cancelled["execution_id"].as_str().unwrap()
    );
    assert_eq!(
        server.send("POST", &path, &[], b"").expect(200, "")["status"],
        "cancelled"
    );
    assert_eq!(
        server.send("POST", &path, &[], b"").expect(200, "")["status"],
        "cancelled"
    );
    server
        .send("POST", &format!("{location}/cancel"), &[], b"")
        .expect(409, "EXECUTION_ENDED");
}

#[test]
fn a_chain_runs_from_the_command_line_with_a_line_per_decision_and_step() {
    let (folder, server, council) = start();
    let data = server.data.clone();
    assert!(server.terminate().success());
    let run = |chain: &str| {
        let output = offline(folder.path())
            .args([
                "chain",
                "run",
                "--council",
                &council.id,
                "--chain",
                council.chain(chain),
            ])
            .args(["--input", r#"{"text": "a b"}"#, "--data"])
            .arg(&data)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, said) = run("completes");
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("gate  before") && said.contains("end   completed"),
        "{said}"
    );
    let (code, said) = run("vetoed-before");
    assert_eq!(code, Some(1));
    assert!(said.contains("veto         Task scope not authorised"), "{said}");
}

#[test]
fn what_is_not_there_is_404_and_what_is_wrong_is_400() {
    let (_folder, server, council) = start();
    let nil = "00000000-0000-0000-0000-000000000000";
    let post = |body: Value| server.call_json("POST", "/v1/chains/execute", &body);
    let chain = council.chain("completes");
    post(json!({"council_id": nil, "chain_id": chain, "input": {}})).expect(404, "COUNCIL_NOT_FOUND");
    post(json!({"council_id": council.id, "chain_id": nil, "input": {}})).expect(404, "CHAIN_NOT_FOUND");
    post(json!({"council_id": council.id, "chain_id": chain})).expect(400, "VALIDATION_ERROR");
    post(json!({"council_id": council.id, "chain_id": chain, "input": []})).expect(400, "VALIDATION_ERROR");
    post(json!({"council_id": "x", "chain_id": chain, "input": {}})).expect(400, "VALIDATION_ERROR");
    server
        .call("GET", &format!("/v1/chains/{nil}/history"))
        .expect(404, "CHAIN_NOT_FOUND");
    server
        .call("GET", &format!("/v1/executions/{nil}"))
        .expect(404, "EXECUTION_NOT_FOUND");
    server
        .call("GET", &format!("/v1/executions/{nil}/events"))
        .expect(404, "EXECUTION_NOT_FOUND");
    server
        .send("POST", &format!("/v1/executions/{nil}/cancel"), &[], b"")
        .expect(404, "EXECUTION_NOT_FOUND");
}

#[test]
fn history_is_the_newest_first_in_pages_and_by_status_and_time() {
    let (_folder, server, council) = start();
    let path = format!("/v1/chains/{}/history", council.chain("completes"));
    assert_eq!(
        server.call("GET", &path).expect(200, ""),
        json!({"executions": [], "total": 0, "limit": 20, "offset": 0})
    );
    let mut ids = Vec::new();
    for number in 0..5 {
        let result = council
            .execute(&server, "completes", json!({"text": format!("{number}")}))
            .expect(200, "");
        ids.insert(0, result["execution_id"].clone());
    }
    council
        .execute(&server, "completes", json!({"text": "a", "secret": 1}))
        .expect(409, "RULE_DENIED");
    let get = |query: &str| server.call("GET", &format!("{path}?{query}"));
    let found = |body: &Value| -> Vec<Value> {
        body["executions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|run| run["execution_id"].clone())
            .collect()
    };
    let page = get("status=completed&limit=2&offset=1").expect(200, "");
    assert_eq!(
        (&page["total"], &page["limit"], &page["offset"]),
        (&json!(5), &json!(2), &json!(1))
    );
    assert_eq!(found(&page), ids[1..3]);
    let next = page["next_cursor"].as_str().unwrap();
    assert_eq!(
        found(&get(&format!("status=completed&limit=2&cursor={next}")).expect(200, "")),
        ids[3..5]
    );
    assert_eq!(found(&get("status=vetoed").expect(200, "")).len(), 1);
    assert_eq!(get("until=2020-01-01T00:00:00Z").expect(200, "")["total"], 0);
    assert_eq!(get("since=2020-01-01T00:00:00Z").expect(200, "")["total"], 6);
    for wrong in [
        "limit=0",
        "limit=101",
        "offset=-1",
        "status=done",
        "since=yesterday",
        "cursor=00",
        "odd=1",
    ] {
        get(wrong).expect(400, "VALIDATION_ERROR");
    }
    assert_eq!(
        server
            .call("GET", "/v1/executions?status=completed")
            .expect(200, "")["total"],
        5
    );
    let all = format!("/v1/councils/{}/execute-all", council.id);
    let ran = server
        .call_json("POST", &all, &json!({"input": {"text": "a b"}}))
        .expect(200, "");
    assert_eq!(ran["executions"].as_array().unwrap().len(), council.chains.len());
    let metrics = server.call("GET", "/metrics").text();
    for line in [
        "mizzen_chain_executions_total{status=\"completed\"}",
        "mizzen_gate_decisions_total{position=\"before\",decision=\"allow\"}",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
}

#[test]
fn async_idempotent_and_resumable() {
    let (_folder, server, council) = start();
    let body = council
        .request("completes", &json!({"text": "a b c"}))
        .to_string();
    let json_type = ("content-type", "application/json");
    let post = |more: &[(&str, &str)], body: &str| {
        let mut headers = vec![json_type];
        headers.extend_from_slice(more);
        server.send("POST", "/v1/chains/execute", &headers, body.as_bytes())
    };
    let accepted = post(&[("prefer", "respond-async")], &body);
    let id = accepted.expect(202, "")["execution_id"]
        .as_str()
        .unwrap()
        .to_owned();
    assert_eq!(
        accepted.header("location"),
        Some(format!("/v1/executions/{id}").as_str())
    );
    assert_eq!(accepted.header("preference-applied"), Some("respond-async"));
    let whole = events(&server, &id, "");
    let numbers: Vec<u64> = whole.iter().map(|(seq, _, _)| *seq).collect();
    assert_eq!(
        numbers,
        (1..=u64::try_from(whole.len()).unwrap()).collect::<Vec<_>>()
    );
    assert_eq!(events(&server, &id, "1"), whole[1..]);
    // An EventSource comes back when a stream ends; a 204 tells it that there is nothing more.
    let last = whole.len().to_string();
    let path = format!("/v1/executions/{id}/events");
    let done = server.send("GET", &path, &[("last-event-id", &last)], b"");
    assert_eq!((done.status, done.body.len()), (204, 0));
    let first = post(&[("idempotency-key", "once")], &body);
    let second = post(&[("idempotency-key", "once")], &body);
    assert_eq!(second.expect(200, ""), first.expect(200, ""));
    assert_eq!(
        [&first, &second].map(|answer| answer.header("idempotency-replayed")),
        [None, Some("true")]
    );
    assert_eq!(first.header("preference-applied"), None);
    let other = council.request("completes", &json!({"text": "d"})).to_string();
    post(&[("idempotency-key", "once")], &other).expect(422, "IDEMPOTENCY_KEY_REUSED");
}

/// Something done to an export.
type Change = fn(&mut Value);

#[test]
fn an_export_verifies_offline_and_every_change_is_found() {
    let (folder, server, council) = start();
    let result = council
        .execute(&server, "completes", json!({"text": "hello"}))
        .expect(200, "");
    let id = result["execution_id"].as_str().unwrap();
    let data = server.data.clone();
    let file = folder.path().join("run.json");
    let exported = mizzen()
        .args(["audit", "export", id, "--data"])
        .arg(&data)
        .arg("--output")
        .arg(&file)
        .output()
        .unwrap();
    let said = String::from_utf8(exported.stderr).unwrap();
    assert!(exported.status.success(), "{said}");
    let key = said
        .lines()
        .find_map(|line| line.strip_prefix("host key: "))
        .unwrap()
        .to_owned();
    let verify = |text: &str, key: &str| {
        std::fs::write(&file, text).unwrap();
        let output = mizzen()
            .args(["audit", "verify"])
            .arg(&file)
            .args(["--key", key])
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let text = std::fs::read_to_string(&file).unwrap();
    let good: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(verify(&text, &key).0, Some(0));
    let public = data.join("keys/host.pub");
    assert_eq!(verify(&text, public.to_str().unwrap()).0, Some(0));
    for (bad, part) in [
        ("ed25519:12", "write ed25519: and 64 hexadecimal digits"),
        (
            "ed25519:0100000000000000000000000000000000000000000000000000000000000000",
            "no point of the curve",
        ),
        ("no-such.pub", "no-such.pub"),
    ] {
        let (code, said) = verify(&text, bad);
        assert!(code == Some(2) && said.contains(part), "{bad}: {said}");
    }
    let change = |change: Change| {
        let mut bad = good.clone();
        change(&mut bad);
        bad.to_string()
    };
    let cases: [(&str, Change, &str); 12] = [
        (
            "edited",
            |bad| {
                let bytes = bad["entries"][1]["bytes"]
                    .as_str()
                    .unwrap()
                    .replace("hello", "jello")
                    .replace("\"at\"", "\"At\"");
                bad["entries"][1]["bytes"] = json!(bytes);
            },
            "entry 2",
        ),
        (
            "dropped",
            |bad| drop(bad["entries"].as_array_mut().unwrap().remove(1)),
            "entry 2",
        ),
        (
            "reordered",
            |bad| bad["entries"].as_array_mut().unwrap().swap(0, 1),
            "entry 1",
        ),
        (
            "truncated",
            |bad| drop(bad["entries"].as_array_mut().unwrap().pop()),
            "were sealed",
        ),
        (
            "result",
            |bad| bad["result"] = json!(bad["result"].as_str().unwrap().replace("completed", "failed")),
            "result",
        ),
        (
            "another gate in the council",
            |bad| bad["definition"] = json!(bad["definition"].as_str().unwrap().replace("true", "false")),
            "definition",
        ),
        ("no council", |bad| bad["definition"] = Value::Null, "definition"),
        (
            "another run's name",
            |bad| bad["execution_id"] = json!("3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35"),
            "execution_id",
        ),
        (
            "another key's name",
            |bad| bad["seal"]["key"] = json!(format!("ed25519:{}", "0".repeat(64))),
            "key",
        ),
        // One seal has one text (R20): a parser of numbers reads these two as the same bytes.
        (
            "the signature in capitals",
            |bad| bad["seal"]["signature"] = json!(bad["seal"]["signature"].as_str().unwrap().to_uppercase()),
            "signature",
        ),
        (
            "the signature with a sign",
            |bad| {
                let mut signature = bad["seal"]["signature"].as_str().unwrap().to_owned();
                let at = signature.find('0').unwrap_or(0);
                signature.replace_range(at..=at, "+");
                bad["seal"]["signature"] = json!(signature);
            },
            "signature",
        ),
        (
            "something added",
            |bad| bad["entries"][0]["note"] = json!("approved by nobody"),
            "note",
        ),
    ];
    // Another reader may take the first of two.
    let twice = text.replacen('{', "{\"result\":\"forged\",", 1);
    let (code, said) = verify(&twice, &key);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("twice"), "{said}");
    for (what, with, expected) in cases {
        let (code, said) = verify(&change(with), &key);
        assert_eq!(code, Some(1), "{what}");
        assert!(said.contains(expected), "{what}: {said}");
    }
    let other = format!(
        "ed25519:{}",
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
    );
    assert_eq!(verify(&text, &other).0, Some(1));
    let doctor = mizzen().args(["doctor", "--data"]).arg(&data).output().unwrap();
    assert!(
        doctor.status.success(),
        "{}",
        String::from_utf8_lossy(&doctor.stdout)
    );
}
