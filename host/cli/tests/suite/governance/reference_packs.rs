//! The reference packs on a real `mizzen serve`: all four in one run, and what `safety-pii` redacts wherever it stands in an answer, in
//! values, in numbers and in the keys of objects.

use crate::support::host::Host;
use crate::support::http::Served;
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use serde_json::{Value, json};
use std::fs;

/// Without what the caller gave: that is the caller's own, and is kept.
fn without_inputs(value: &Value) -> Value {
    match value {
        Value::Object(members) => members
            .iter()
            .filter(|(name, _)| *name != "input")
            .map(|(name, value)| (name.clone(), without_inputs(value)))
            .collect(),
        Value::Array(items) => items.iter().map(without_inputs).collect(),
        other => other.clone(),
    }
}

/// A host with one of the plugins and some of the packs of this repository, and more sections in its configuration.
fn host(plugin: &str, packs: &[&str], sections: &str) -> Host {
    let host = Host::new().plugin(&format!("plugins/{plugin}"));
    packs
        .iter()
        .fold(host, |host, pack| host.pack(&format!("plugins/{pack}")))
        .config(sections)
}

/// A sprite with capabilities, each with its tool; its id.
fn sprite(server: &Served, capabilities: &[(&str, &str)]) -> Value {
    let capabilities: Vec<Value> = capabilities
        .iter()
        .map(|(name, tool)| json!({"name": name, "description": "d", "tool": tool, "parameters": {"type": "object"}}))
        .collect();
    let body = json!({
        "name": "BECK-02", "version": "1.0.0", "system_prompt": "Be brief.", "capabilities": capabilities,
        "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
    });
    server.call_json("POST", "/v1/sprites", &body).expect(201, "")["id"].clone()
}

#[test]
fn what_is_found_in_keys_numbers_and_nested_values_is_redacted_through_a_run() {
    let host = host(
        "json",
        &["safety-pii"],
        "[[governance]]\nid = \"bosun.safety-pii\"\n",
    );
    let server = host.serve();
    let sprite = sprite(&server, &[("merge", "json.merge")]);
    let council = json!({
        "domain": "d", "sprites": [sprite], "gate_agents": [sprite],
        "chains": [{"name": "merge", "timeout": "60s", "gates": [], "steps": [{
            "order": 0, "sprite_id": sprite, "action": "merge", "input_map": {"target": "$input.document", "patch": "$input.patch"},
        }]}],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let document = json!({
        "people": {
            "123-45-6789": {"mail": "ada.l+x@mail.example.co.uk", "age": 36},
            "321-45-6789": 2,
            "the one with 4111 1111 1111 1111 12/27": ["call +44 20 7946 0958", "or (555) 555-0100 now"],
            "a/b~ada@example.com": [{"2026-11-17": "550e8400-e29b-41d4-a716-446655440000"}],
        },
        "card": 4_111_111_111_111_111_u64, "at": 1_794_895_723_218_u64, "version": "1.2.3", "order": "20261117084825",
    });
    let input = json!({"document": document, "patch": {}});
    let body = json!({"council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": input});
    let result = server
        .call_json("POST", "/v1/chains/execute", &body)
        .expect(200, "");
    let wanted = json!({
        "people": {
            "[redacted]": {"mail": "[redacted]", "age": 36},
            "[redacted] 2": 2,
            "the one with [redacted]/27": ["call [redacted]", "or [redacted] now"],
            "a/b~[redacted]": [{"2026-11-17": "550e8400-e29b-41d4-a716-446655440000"}],
        },
        "card": "[redacted]", "at": 1_794_895_723_218_u64, "version": "1.2.3", "order": "20261117084825",
    });
    assert_eq!(result["steps"][0]["output"]["document"], wanted, "{result:#}");
    let packs = result["packs"].as_array().unwrap();
    assert!(
        packs
            .iter()
            .any(|said| said["moment"] == "before-step" && said["action"] == "annotate")
    );
    let redacted: Vec<&Value> = packs.iter().filter(|said| said["action"] == "redact").collect();
    assert!(
        redacted.len() >= 7 && redacted.iter().all(|said| said["applied"] == json!(true)),
        "{packs:#?}"
    );

    // Neither the answer nor what was recorded of it has any of it, before and after a restart.
    let id = result["execution_id"].as_str().unwrap().to_owned();
    server.kill();
    let server = host.serve();
    let path = format!("/v1/executions/{id}");
    let kept = server.call("GET", &path).expect(200, "");
    assert_eq!(kept["steps"][0]["output"]["document"], wanted);
    let gone = [
        "123-45-6789",
        "321-45-6789",
        "4111 1111",
        "4111111111111111",
        "example.co",
        "7946",
        "555-0100",
        "ada@",
    ];
    // What the pack noticed in the step's input is said there; the caller has seen it.
    let after = |shown: &Value| {
        let mut shown = without_inputs(shown);
        if let Some(packs) = shown["packs"].as_array_mut() {
            packs.retain(|said| said["moment"] != "before-step");
        }
        shown.to_string()
    };
    for text in [after(&result), after(&kept)] {
        for secret in gone {
            assert!(!text.contains(secret), "{secret} in {text}");
        }
    }
    server.terminate();
    let said = host.yes(&["run", "replay", &id]);
    for secret in gone {
        assert!(!said.contains(secret), "{secret} in {said}");
    }
}

/// A tool's error that quotes what it was given: the message is redacted before anybody is told, and before it is tried again.
#[test]
fn what_an_error_says_is_redacted_through_a_run() {
    let more = "[[governance]]\nid = \"bosun.safety-pii\"\n";
    let host = host("text", &["safety-pii"], more);
    let server = host.serve();
    let sprite = sprite(&server, &[("fill", "text.template")]);
    let council = json!({
        "domain": "d", "sprites": [sprite], "gate_agents": [sprite],
        "chains": [{"name": "fill", "timeout": "60s",
            "gates": [{"position": "on_error", "sprite_id": sprite, "condition": "!error.message.contains('@')"}],
            "steps": [
                {"order": 0, "sprite_id": sprite, "action": "fill", "input_map": {"template": "$input.template", "values": {}}},
                {"order": 1, "sprite_id": sprite, "action": "fill", "input_map": {"template": "done", "values": {}}},
            ],
        }],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let execute = |template: &str| {
        let body = json!({
            "council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": {"template": template},
        });
        server
            .call_json("POST", "/v1/chains/execute", &body)
            .expect(200, "")
    };
    // An error to which the pack has nothing to say stays as it is.
    let plain = execute("{{nobody}}");
    let message = plain["steps"][0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("`{{nobody}}`"), "{plain:#}");
    assert_eq!(
        (&plain["status"], &plain["packs"]),
        (&json!("completed"), &json!([]))
    );
    let result = execute("{{ada@example.com or 123-45-6789}}");
    let message = result["steps"][0]["error"]["message"].as_str().unwrap();
    assert!(message.contains("`{{[redacted] or [redacted]}}`"), "{result:#}");
    assert_eq!(result["gates"][0]["decision"], "allow", "{result:#}");
    let packs = result["packs"].as_array().unwrap();
    let redacted = packs.iter().filter(|said| said["moment"] == "on-error");
    let redacted: Vec<&Value> = redacted.map(|said| &said["applied"]).collect();
    assert_eq!(redacted, [&json!(true), &json!(true)], "{packs:#?}");

    // Nor is it in what was recorded, before and after a restart.
    let id = result["execution_id"].as_str().unwrap().to_owned();
    server.kill();
    let server = host.serve();
    let kept = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    server.terminate();
    let (_, exported, _) = host.export(&id);
    let entries = exported["entries"].as_array().unwrap().iter();
    let entries: Vec<Value> = entries
        .map(|entry| serde_json::from_str(entry["bytes"].as_str().unwrap()).unwrap())
        .collect();
    let failed = entries
        .iter()
        .find(|entry| entry["kind"] == "call_ended")
        .unwrap();
    assert_eq!(failed["failure"]["message"], message, "{failed:#}");
    let replayed = |id: &str| host.yes(&["run", "replay", id]);
    let plain = plain["execution_id"].as_str().unwrap();
    let silent = replayed(plain);
    assert!(
        silent.contains("a pack had nothing to say; step 0 failed"),
        "{silent}"
    );
    silence_is_named_and_cannot_be_made_up(&host, plain);
    let said = replayed(&id);
    for shown in [&result, &kept, &Value::Array(entries)] {
        let text = without_inputs(shown).to_string();
        for secret in ["ada@example", "123-45-6789"] {
            assert!(
                !text.contains(secret) && !said.contains(secret),
                "{secret} in {text}{said}"
            );
        }
    }
}

/// Where no pack had anything to say before a call, the entry of its end names who was asked; a journal that names others is found out.
fn silence_is_named_and_cannot_be_made_up(host: &Host, id: &str) {
    let (_, exported, _) = host.export(id);
    let entry = |at: usize| -> Value {
        serde_json::from_str(exported["entries"][at]["bytes"].as_str().unwrap()).unwrap()
    };
    let ended = entry(1);
    assert_eq!(ended["kind"], "call_ended", "{ended:#}");
    assert_eq!(ended["cleared"][0]["asked"], json!([0]), "{ended:#}");
    assert_eq!(ended["cleared"][0]["question"], 1, "{ended:#}");
    let file = host.path("changed.json");
    let changes: [fn(&mut Value); 4] = [
        |entry| entry["cleared"] = json!([]),
        |entry| entry["cleared"][0]["asked"] = json!([]),
        |entry| entry["cleared"][0]["question"] = json!(7),
        |entry| entry["cleared"] = json!("all of them"),
    ];
    for change in changes {
        let (mut changed, mut body) = (exported.clone(), ended.clone());
        change(&mut body);
        changed["entries"][1]["bytes"] = json!(body.to_string());
        let mut link = Link::first(ExecutionId::parse(id).unwrap());
        for entry in changed["entries"].as_array_mut().unwrap() {
            link = link.next(entry["bytes"].as_str().unwrap());
            entry["hash"] = json!(link.to_string());
        }
        fs::write(&file, changed.to_string()).unwrap();
        let replay = host.run(&["run", "replay", "--json", file.to_str().unwrap()]);
        let said: Value = serde_json::from_slice(&replay.stdout).unwrap();
        assert_eq!(
            (&said["ok"], &said["difference"]["seq"]),
            (&json!(false), &json!(2)),
            "{said:#}"
        );
    }
}

/// Five attempts, whatever the step's own policy has room for; and the operator cannot ask for more.
#[test]
fn a_step_is_tried_five_times_at_most() {
    let more = "[[governance]]\nid = \"bosun.retries\"\n[config.retries]\ndelay_ms = 1\n";
    let host = host("text", &["retries"], more);
    let server = host.serve();
    let worker = sprite(&server, &[("fill", "text.template")]);
    let council = json!({
        "domain": "d", "sprites": [worker], "gate_agents": [worker],
        "chains": [{"name": "c", "timeout": "60s", "gates": [], "steps": [{
            "order": 0, "sprite_id": worker, "action": "fill", "retries": 9, "retry_backoff": "1ms",
            "input_map": {"template": "$input.template", "values": "$input.values"},
        }]}],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let input = json!({"template": "{{x}}".repeat(2_000), "values": {"x": "x".repeat(1_000)}});
    let body = json!({"council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": input});
    let vetoed = server
        .call_json("POST", "/v1/chains/execute", &body)
        .expect(409, "PACK_VETO");
    assert_eq!(
        vetoed["details"]["reason"],
        "TOOL_FAILED did not pass in 5 attempts"
    );
    let id = vetoed["details"]["execution_id"].as_str().unwrap();
    let kept = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(kept["steps"][0]["attempts"], 5);
    // The pack has nothing against what the error says.
    assert!(
        kept["steps"][0]["error"]["message"]
            .as_str()
            .unwrap()
            .contains("RESULT_TOO_LONG"),
        "{kept:#}"
    );
    server.terminate();

    host.configure(&more.replace("delay_ms = 1\n", "attempts = 20\n"));
    let said = host.refused();
    assert!(said.contains("retries") && said.contains("attempts"), "{said}");
}

/// Mounted by the host, the council and the chain; in one run each of the four has something to say.
#[test]
fn all_four_reference_packs_govern_one_run_together() {
    let more = "[[governance]]\nid = \"bosun.budgets\"\n[config.budgets]\nsteps = 10\n[config.retries]\ndelay_ms = 1\n";
    let host = host("text", &["budgets", "retries", "safety-pii", "audit"], more);
    let server = host.serve();
    let worker = sprite(&server, &[("shout", "text.case"), ("fill", "text.template")]);

    // Nine steps that answer, the first with a number of a person, and a tenth that fails whenever it is tried.
    let mut steps: Vec<Value> = (0..9)
        .map(|order| {
            let text = if order == 0 { "$input.text" } else { "again" };
            json!({"order": order, "sprite_id": worker, "action": "shout", "input_map": {"text": text, "to": "upper"}})
        })
        .collect();
    steps.push(json!({
        "order": 9, "sprite_id": worker, "action": "fill", "retries": 2,
        "input_map": {"template": "$input.template", "values": "$input.values"},
    }));
    let council = json!({
        "domain": "all", "sprites": [worker], "gate_agents": [worker], "governance": [{"id": "bosun.retries"}, {"id": "bosun.safety-pii"}],
        "chains": [{"name": "all", "timeout": "60s", "gates": [], "governance": [{"id": "bosun.audit"}], "steps": steps}],
    });
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let execute = |input: Value| {
        let body =
            json!({"council_id": council["id"], "chain_id": council["chains"][0]["id"], "input": input});
        server.call_json("POST", "/v1/chains/execute", &body).json()
    };
    let long = json!({"text": "ssn 123-45-6789", "template": "{{x}}".repeat(2_000), "values": {"x": "x".repeat(1_000)}});
    let result = execute(long);
    assert_eq!(
        (&result["status"], &result["steps"][9]["attempts"]),
        (&json!("failed"), &json!(3)),
        "{result:#}"
    );
    assert_eq!(result["steps"][0]["output"]["text"], "SSN [redacted]");
    let packs = result["packs"].as_array().unwrap();
    let one = |pack: &str, moment: &str, step: Value, rule: &str| -> &Value {
        let found = packs.iter().find(|said| {
            (&said["pack_id"], &said["moment"], &said["step"], &said["rule"])
                == (&json!(pack), &json!(moment), &step, &json!(rule))
        });
        found.unwrap_or_else(|| panic!("{pack} {moment} {step} {rule}: {packs:#?}"))
    };
    assert_eq!(
        one("bosun.safety-pii", "after-step", json!(0), "redact")["applied"],
        json!(true)
    );
    let warned = one("bosun.budgets", "before-step", json!(9), "nearly-spent");
    assert_eq!(
        (&warned["severity"], &warned["details"]["used"]),
        (&json!("warning"), &json!(9))
    );
    let delays: Vec<(&Value, &Value)> = packs
        .iter()
        .filter(|said| said["rule"] == "try-again")
        .map(|said| (&said["details"]["delay_ms"], &said["applied"]))
        .collect();
    // The step's own policy has room for two; the third is only asked for.
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(delays, [(&json!(1), &yes), (&json!(2), &yes), (&json!(4), &no)]);
    let ended = one("bosun.audit", "at-end", Value::Null, "transition");
    assert_eq!(ended["details"]["to"], "failed");
    for said in packs {
        let id = said["pack_id"].as_str().unwrap().strip_prefix("bosun.").unwrap();
        let installed = server.call("GET", &format!("/v1/plugins/{id}")).expect(200, "");
        assert_eq!(
            (&said["digest"], &said["version"]),
            (&installed["digest"], &installed["version"]),
            "{said}"
        );
    }

    // Where nothing is wrong the run completes; the steps are still nearly spent.
    let result = execute(json!({"text": "hello", "template": "{{x}}", "values": {"x": "x"}}));
    assert_eq!(result["status"], "completed", "{result:#}");
    let others: Vec<&Value> = result["packs"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|said| said["pack_id"] != "bosun.audit")
        .map(|said| &said["rule"])
        .collect();
    assert!(
        !others.is_empty() && others.iter().all(|rule| **rule == "nearly-spent"),
        "{others:?}"
    );
}
