//! The specification's example requests and responses, in the order of its pages and to the letter, on a real server with a
//! plugin that performs the capabilities they name. A client that was written from those pages works unchanged.

use crate::support::host::Host;
use crate::support::http::Served;
use serde_json::{Value, json};

/// "Capability Structure".
const CAPABILITY: &str = r#"{
"name": "generate_code",
"description": "Generate production-ready code from a specification",
"parameters": {
"type": "object",
"properties": {
"language": { "type": "string", "enum": ["python", "typescript", "rust"] },
"spec": { "type": "string", "minLength": 1 }
},
"required": ["language", "spec"]
}
}"#;

/// "Chain Execution Result".
const RESULT: &str = r#"{
"execution_id": "uuid",
"council_id": "uuid",
"chain_id": "uuid",
"status": "completed",
"started_at": "2026-04-27T10:00:00Z",
"completed_at": "2026-04-27T10:00:05Z",
"duration_ms": 5000,
"steps": [
{
"order": 0,
"sprite_id": "uuid",
"action": "generate_code",
"status": "completed",
"output": {"code": "def hello(): ..."}
}
],
"gates": [
{
"type": "before",
"sprite_id": "uuid",
"decision": "allow",
"reason": "Task scope approved"
}
]
}"#;

/// "Gate Veto Response (409)".
const VETO: &str = r#"{
"code": "GATE_VETO",
"message": "Chain execution was vetoed by gate authority",
"details": {
"execution_id": "uuid",
"gate_sprite_id": "uuid",
"gate_type": "before",
"reason": "Task scope not authorised"
},
"request_id": "req-uuid"
}"#;

/// "Health Check (GET /health)".
const HEALTH: &str = r#"{
"status": "healthy",
"version": "1.0.0",
"uptime_seconds": 3600,
"checks": {
"database": "healthy",
"sprite_registry": "healthy",
"council_registry": "healthy",
"telemetry": "healthy"
},
"timestamp": "2026-04-27T12:00:00Z"
}"#;

/// Holds an answer to an example: the same members with the same words, where `uuid` stands for an id and a time for a time.
/// Numbers of time, the host's version and a gate's free text may differ in value, not in kind.
fn hold(example: &Value, answer: &Value, path: &str) {
    match (example, answer) {
        (Value::Object(members), Value::Object(answered)) => {
            for (name, value) in members {
                let found = answered
                    .get(name)
                    .unwrap_or_else(|| panic!("{path}/{name} is missing in {answer}"));
                hold(value, found, &format!("{path}/{name}"));
            }
        }
        (Value::Array(items), Value::Array(answered)) => {
            assert_eq!(items.len(), answered.len(), "{path}: {answer}");
            for (index, (item, found)) in items.iter().zip(answered).enumerate() {
                hold(item, found, &format!("{path}/{index}"));
            }
        }
        (Value::String(word), Value::String(found)) => match word.as_str() {
            "uuid" => assert!(is_uuid(found), "{path}: {found}"),
            "req-uuid" => assert!(found.strip_prefix("req-").is_some_and(is_uuid), "{path}: {found}"),
            time if is_time(time) => assert!(is_time(found), "{path}: {found}"),
            _ if path == "/version" || path == "/gates/0/reason" => assert!(!found.is_empty(), "{path}"),
            _ => assert_eq!(word, found, "{path}"),
        },
        (Value::Number(_), Value::Number(found))
            if path.ends_with("duration_ms") || path == "/uptime_seconds" =>
        {
            assert!(found.is_u64(), "{path}: {found}");
        }
        _ => assert_eq!(example, answer, "{path}"),
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && uuid::Uuid::try_parse(text).is_ok_and(|id| id.to_string() == text)
}

/// `2026-04-27T10:00:00Z`; executions say milliseconds, too, which RFC 3339 and every reader of it allow.
fn is_time(text: &str) -> bool {
    let pattern = match text.len() {
        20 => "dddd-dd-ddTdd:dd:ddZ",
        _ => "dddd-dd-ddTdd:dd:dd.dddZ",
    };
    let fits = |(byte, expected): (u8, u8)| match expected {
        b'd' => byte.is_ascii_digit(),
        _ => byte == expected,
    };
    text.len() == pattern.len() && text.bytes().zip(pattern.bytes()).all(fits)
}

fn example(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn register(server: &Served, name: &str, role: &str, capability: &Value) -> Value {
    let sprite = json!({
        "name": name, "version": "1.0.0", "role": role, "capabilities": [capability],
        "system_prompt": "Write small, tested functions.", "protected": role == "reviewer",
        "gate_authority": role == "planner",
        "metadata": {
            "author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["core"],
        },
    });
    let made = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "");
    for (member, value) in sprite.as_object().unwrap() {
        assert_eq!(&made[member], value, "{member}");
    }
    assert!(is_uuid(made["id"].as_str().unwrap()));
    assert_eq!(made["fingerprint"]["type"], "blake3");
    assert_eq!(made["fingerprint"]["hash"].as_str().unwrap().len(), 64);
    made["id"].clone()
}

#[test]
fn the_examples_of_the_specification_pass_in_order_and_to_the_letter() {
    let host = Host::new().plugin("tests/guests/performs-the-seeds");
    let server = host.serve();

    // Sprites, with the page's names, roles and capability.
    let capability = |name: &str| {
        let mut capability = example(CAPABILITY);
        capability["name"] = json!(name);
        capability["parameters"] = json!({"type": "object"});
        capability
    };
    let forge = register(&server, "SOL-FORGE", "architect", &example(CAPABILITY));
    let beck = register(&server, "BECK-02", "reviewer", &capability("review_pull_request"));
    let martinez = register(&server, "MARTINEZ-04", "operator", &capability("deploy"));
    let lewis = register(&server, "LEWIS-06", "planner", &capability("plan"));

    // The flow between the steps, as drawn.
    let step = |order: u32, sprite: &Value, action: &str, input: Value, output: Value| json!({"order": order, "sprite_id": sprite, "action": action, "input_map": input, "output_map": output});
    let generate = step(
        0,
        &forge,
        "generate_code",
        json!({"spec": "$input.user_prompt", "language": "python"}),
        json!({"code": "$output.code"}),
    );
    let review = step(
        1,
        &beck,
        "review_pull_request",
        json!({"code": "$steps[0].output.code"}),
        json!({"approved": "$output.approved"}),
    );
    let deploy = step(
        2,
        &martinez,
        "deploy",
        json!({"approved": "$steps[1].output.approved"}),
        json!({"url": "$output.url", "confidence": "$output.confidence"}),
    );
    let gate = |position: &str, condition: &str, message: &str| json!({"position": position, "sprite_id": lewis, "condition": condition, "veto_message": message});
    let council = json!({
        "domain": "engineering",
        "sprites": [forge, beck, martinez, lewis],
        "gate_agents": [lewis],
        "chains": [
            {"name": "generate", "steps": [generate], "timeout": "30s",
             "gates": [gate("before", "has(input.user_prompt)", "Task scope not authorised")]},
            {"name": "deliver", "steps": [generate, review, deploy], "timeout": "5m",
             "gates": [gate("after", "output.confidence >= 0.85", "not sure enough")]},
        ],
        "rules": [{
            "id": "r1", "name": "All code changes must be reviewed", "condition": "has(input.unreviewed)",
            "action": "escalate", "hook": "notify:slack:#iris-alerts",
        }],
    });

    // The eight validations in their order, each alone.
    let nobody = "11111111-1111-4111-8111-111111111111";
    let with = |member: &str, value: Value| {
        let mut changed = council.clone();
        changed[member] = value;
        changed
    };
    for (body, status, code) in [
        (with("domain", json!("")), 400, "VALIDATION_ERROR"),
        (with("sprites", json!([])), 400, "VALIDATION_ERROR"),
        (with("gate_agents", json!([])), 400, "VALIDATION_ERROR"),
        (with("sprites", json!([forge, nobody])), 404, "SPRITE_NOT_FOUND"),
        (with("gate_agents", json!([nobody])), 404, "GATE_AGENT_NOT_FOUND"),
        (
            with("sprites", json!([forge, beck, martinez])),
            400,
            "INVALID_GATE_AGENT",
        ),
        (
            with("gate_agents", json!([lewis, beck])),
            400,
            "INVALID_GATE_AGENT",
        ),
    ] {
        let refused = server
            .call_json("POST", "/v1/councils", &body)
            .expect(status, code);
        if status == 404 {
            let missing = refused["details"].as_object().unwrap().values().next();
            assert_eq!(missing, Some(&json!([nobody])), "{refused}");
        }
    }
    let made = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    server
        .call_json("POST", "/v1/councils", &council)
        .expect(409, "COUNCIL_CONFLICT");
    assert_eq!(made["sprites"][0]["name"], "SOL-FORGE", "full sprites, not ids");
    let chain = |index: usize| made["chains"][index]["id"].clone();

    // Execute: the result, the veto, and what is not there.
    let execute = |chain: Value, input: Value| {
        let body = json!({"council_id": made["id"], "chain_id": chain, "input": input});
        server.call_json("POST", "/v1/chains/execute", &body)
    };
    let result = execute(chain(0), json!({"user_prompt": "say hello"})).expect(200, "");
    hold(&example(RESULT), &result, "");
    assert_eq!(
        (
            &result["council_id"],
            &result["chain_id"],
            &result["steps"][0]["sprite_id"],
            &result["gates"][0]["sprite_id"]
        ),
        (&made["id"], &chain(0), &forge, &lewis)
    );
    let delivered = execute(chain(1), json!({"user_prompt": "say hello"})).expect(200, "");
    assert_eq!(delivered["steps"][2]["output"]["url"], "https://iris.dev/hello");
    let veto = execute(chain(0), json!({})).expect(409, "GATE_VETO");
    hold(&example(VETO), &veto, "");
    assert_eq!(veto["details"]["gate_sprite_id"], lewis);
    execute(json!(nobody), json!({})).expect(404, "CHAIN_NOT_FOUND");

    // History: the newest first, {executions, total, limit, offset}, by status.
    let path = format!("/v1/chains/{}/history", chain(0).as_str().unwrap());
    let history = server.call("GET", &path).expect(200, "");
    assert_eq!(
        (&history["total"], &history["limit"], &history["offset"]),
        (&json!(2), &json!(20), &json!(0))
    );
    let statuses = |history: &Value| -> Vec<String> {
        let all = history["executions"].as_array().unwrap();
        all.iter()
            .map(|one| one["status"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(statuses(&history), ["vetoed", "completed"]);
    let vetoed = server
        .call("GET", &format!("{path}?status=vetoed&limit=1&offset=0"))
        .expect(200, "");
    assert_eq!(statuses(&vetoed), ["vetoed"]);
    assert_eq!((&vetoed["total"], &vetoed["limit"]), (&json!(1), &json!(1)));
    for query in ["limit=0", "limit=101", "offset=-1", "status=lost"] {
        server
            .call("GET", &format!("{path}?{query}"))
            .expect(400, "VALIDATION_ERROR");
    }

    // All chains of the council; asked again under the same key, the same executions.
    let all = |body: &Value| {
        let path = format!("/v1/councils/{}/execute-all", made["id"].as_str().unwrap());
        let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
        server.send("POST", &path, &headers, body.to_string().as_bytes())
    };
    let body = json!({"input": {"user_prompt": "say hello"}});
    let first = all(&body).expect(200, "");
    assert_eq!(first["executions"].as_array().unwrap().len(), 2);
    assert_eq!(all(&body).expect(200, ""), first);
    all(&json!({"input": {}})).expect(422, "IDEMPOTENCY_KEY_REUSED");

    hold(
        &example(HEALTH),
        &server.call("GET", "/health").expect(200, ""),
        "",
    );
    assert!(
        server
            .call("GET", "/metrics")
            .text()
            .contains("mizzen_chain_executions_total")
    );
}
