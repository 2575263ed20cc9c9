//! Who may do what: keys, grants, rates, origins, addresses.

use crate::support::documents::{chain, council, sprite};
use crate::support::{JSON, TestHost};
use mizzen_server::{Config, ServeError, Server, routes};
use serde_json::json;
use std::net::SocketAddr;
use std::sync::Arc;

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

/// The actions in the audit log that ended in one way.
fn audited(server: &TestHost, outcome: &str) -> Vec<String> {
    let auditor = server.bearer(&["audit:read"]);
    let first = format!("/v1/audit?outcome={outcome}&limit=100");
    let (mut actions, mut path) = (Vec::new(), first.clone());
    loop {
        let headers = [("authorization", auditor.as_str())];
        let page = server.send("GET", &path, &headers, b"").expect(200, "");
        let entries = page["entries"].as_array().unwrap().iter();
        actions.extend(entries.map(|entry| entry["action"].as_str().unwrap().to_owned()));
        let Some(next) = page["next_cursor"].as_str() else {
            return actions;
        };
        path = format!("{first}&cursor={next}");
    }
}

#[test]
fn from_the_first_key_on_every_request_needs_one_with_the_grant() {
    let server = TestHost::new();
    server.call("GET", "/v1/sprites").expect(200, "");
    let (id, reader) = server.new_key(&["sprites:read"]);
    let get = |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, b"");

    let refused = get("/v1/sprites", &[]);
    refused.expect(401, "UNAUTHENTICATED");
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    get("/v1/sprites", &[("authorization", &bearer(&reader))]).expect(200, "");
    get("/v1/sprites", &[("x-api-key", &reader)]).expect(200, "");
    let denied = get("/v1/councils", &[("authorization", &bearer(&reader))]).expect(403, "FORBIDDEN");
    assert_eq!(denied["details"]["missing_grant"], "councils:read");
    assert!(denied["message"].as_str().unwrap().contains("councils:read"));
    let (body, authorization) = (sprite("NO-1").to_string(), bearer(&reader));
    let headers = [("authorization", authorization.as_str()), JSON];
    let denied = server
        .send("POST", "/v1/sprites", &headers, body.as_bytes())
        .expect(403, "FORBIDDEN");
    assert_eq!(denied["details"]["missing_grant"], "sprites:write");

    let mut wrong = reader.clone();
    let last = if wrong.pop() == Some('0') { '1' } else { '0' };
    wrong.push(last);
    for token in [wrong.as_str(), "mzn_", "x", "", &reader[..30]] {
        get("/v1/sprites", &[("authorization", &bearer(token))]).expect(401, "UNAUTHENTICATED");
    }
    get("/v1/sprites", &[("authorization", "Basic eDp5")]).expect(401, "UNAUTHENTICATED");
    get("/health", &[]).expect(200, "");
    assert_eq!(get("/openapi.json", &[]).status, 200);

    let admin = server.bearer(&["admin"]);
    get("/v1/plugins", &[("authorization", &admin)]).expect(200, "");
    assert_eq!(get("/metrics", &[("authorization", &admin)]).status, 200);

    let revoked = server.wait(server.host.revoke_api_key(&server.operator(), &id));
    assert!(revoked.unwrap());
    get("/v1/sprites", &[("authorization", &bearer(&reader))]).expect(401, "UNAUTHENTICATED");

    assert!(audited(&server, "unauthenticated").contains(&"listSprites".to_owned()));
    let denied = audited(&server, "denied");
    for action in ["listCouncils", "createSprite"] {
        assert!(denied.contains(&action.to_owned()), "{action} in {denied:?}");
    }
    assert!(audited(&server, "done").contains(&"create_api_key".to_owned()));
}

#[test]
fn the_audit_log_is_read_by_filter_in_pages_and_only_with_its_grant() {
    let server = TestHost::new();
    for number in 0..5 {
        let made = server.call_json("POST", "/v1/sprites", &sprite(&format!("UNIT-{number}")));
        made.expect(201, "");
    }
    let auditor = server.bearer(&["audit:read"]);
    let reader = server.bearer(&["sprites:read"]);
    let get = |path: &str, key: &str| server.send("GET", path, &[("authorization", key)], b"");
    let denied = get("/v1/audit", &reader).expect(403, "FORBIDDEN");
    assert_eq!(denied["details"]["missing_grant"], "audit:read");
    get("/v1/sprites", &auditor).expect(403, "FORBIDDEN");

    let mut seen = Vec::new();
    let mut path = "/v1/audit?action=create_sprite&limit=2".to_owned();
    loop {
        let page = get(&path, &auditor).expect(200, "");
        let entries = page["entries"].as_array().unwrap();
        assert!(entries.len() <= 2);
        seen.extend(entries.iter().map(|entry| entry["seq"].as_i64().unwrap()));
        assert!(
            entries
                .iter()
                .all(|entry| entry["action"] == "create_sprite" && entry["actor"] == "local")
        );
        let Some(next) = page["next_cursor"].as_str() else {
            break;
        };
        path = format!("/v1/audit?action=create_sprite&limit=2&cursor={next}");
    }
    assert_eq!(seen.len(), 5);
    assert!(seen.is_sorted_by(|newer, older| newer > older), "{seen:?}");

    let refusals = get("/v1/audit?outcome=denied", &auditor).expect(200, "");
    let actions: Vec<&str> = refusals["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    assert_eq!(actions, ["listSprites", "readAudit"]);
    assert_eq!(refusals["entries"][1]["detail"]["missing_grant"], "audit:read");
    let none = get("/v1/audit?until=1999-01-01T00:00:00Z", &auditor).expect(200, "");
    assert_eq!(none["entries"], json!([]));
    let none = get("/v1/audit?since=2999-01-01T00:00:00Z", &auditor).expect(200, "");
    assert_eq!(none["entries"], json!([]));
    for wrong in [
        "since=yesterday",
        "actor=",
        "limit=0",
        "cursor=x0",
        "outcome=refused",
    ] {
        get(&format!("/v1/audit?{wrong}"), &auditor).expect(400, "VALIDATION_ERROR");
    }
}

#[test]
fn each_way_of_using_runs_needs_its_own_grant() {
    let server = TestHost::new();
    let worker = server
        .call_json("POST", "/v1/sprites", &sprite("WORKER-1"))
        .expect(201, "");
    let worker = worker["id"].as_str().unwrap();
    let mut council = council("engineering", &[worker]);
    council["chains"] = json!([chain(worker, worker)]);
    council["rules"] =
        json!([{"id": "ask", "name": "ask", "condition": "has(input.risky)", "action": "escalate"}]);
    let council = server.call_json("POST", "/v1/councils", &council).expect(201, "");
    let chain = council["chains"][0]["id"].as_str().unwrap();
    let execute =
        json!({"council_id": council["id"], "chain_id": chain, "input": {"risky": true, "user_prompt": "x"}});
    let waiting = server
        .call_json("POST", "/v1/chains/execute", &execute)
        .expect(202, "");
    let run = format!("/v1/executions/{}", waiting["execution_id"].as_str().unwrap());
    let answer = json!({
        "decision": "approve", "reason": "ok", "escalation_id": waiting["escalation"]["escalation_id"],
    });
    let all_of_them = format!("/v1/councils/{}/execute-all", council["id"].as_str().unwrap());
    let history = format!("/v1/chains/{chain}/history");
    let (decision, cancel) = (format!("{run}/decision"), format!("{run}/cancel"));
    let (events, deliveries) = (format!("{run}/events"), format!("{run}/deliveries"));
    let execute = execute.to_string();
    let uses: [(&str, &str, &str, &str); 9] = [
        ("GET", "/v1/executions", "", "runs:read"),
        ("GET", &run, "", "runs:read"),
        ("GET", &deliveries, "", "runs:read"),
        ("GET", &history, "", "runs:read"),
        ("POST", "/v1/chains/execute", &execute, "runs:start"),
        (
            "POST",
            &all_of_them,
            r#"{"input": {"risky": true}}"#,
            "runs:start",
        ),
        ("POST", &decision, &answer.to_string(), "runs:respond"),
        // It has ended by now, one way or another: allowed, and a conflict or not, but never a 403.
        ("POST", &cancel, "", "runs:cancel"),
        ("GET", &events, "", "runs:read"),
    ];
    let grants = ["runs:start", "runs:read", "runs:cancel", "runs:respond"];
    let keys: Vec<(&str, String, String)> = grants
        .iter()
        .map(|grant| {
            let mut others: Vec<&str> = grants.iter().filter(|other| *other != grant).copied().collect();
            others.extend(["sprites:write", "councils:write", "plugins:write"]);
            (*grant, server.bearer(&[grant]), server.bearer(&others))
        })
        .collect();
    for (method, path, body, grant) in uses {
        let send = |key: Option<&str>| {
            let mut headers = vec![JSON];
            headers.extend(key.map(|key| ("authorization", key)));
            server.send(method, path, &headers, body.as_bytes())
        };
        send(None).expect(401, "UNAUTHENTICATED");
        let (_, own, others) = keys.iter().find(|(name, ..)| *name == grant).unwrap();
        let denied = send(Some(others)).expect(403, "FORBIDDEN");
        assert_eq!(denied["details"]["missing_grant"], grant, "{method} {path}");
        assert!(denied["message"].as_str().unwrap().contains(grant));
        let allowed = send(Some(own)).status;
        assert!(matches!(allowed, 200 | 202 | 409), "{method} {path}: {allowed}");
    }
}

#[test]
fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let server = TestHost::with(Config {
        rate_per_second: 1,
        rate_burst: 3,
        ..Config::default()
    });
    let (key, other) = (server.bearer(&["sprites:read"]), server.bearer(&["sprites:read"]));
    let get = |key: &str| server.send("GET", "/v1/sprites", &[("authorization", key)], b"");
    let answers: Vec<_> = (0..6).map(|_| get(&key)).collect();
    assert_eq!(answers[0].status, 200);
    let limited = answers
        .iter()
        .find(|answer| answer.status == 429)
        .expect("a refusal within six requests");
    limited.expect(429, "RATE_LIMITED");
    assert!(limited.header("retry-after").unwrap().parse::<u64>().unwrap() >= 1);
    get(&other).expect(200, "");
}

#[test]
fn a_listener_for_others_needs_a_key() {
    let server = TestHost::new();
    let bind = || {
        let everywhere = SocketAddr::from(([0, 0, 0, 0], 0));
        let host = Arc::clone(&server.host);
        server.wait(Server::bind(everywhere, host, Config::default(), routes::all()))
    };
    assert!(matches!(bind(), Err(ServeError::NoKeys(_))));
    server.new_key(&["admin"]);
    assert!(bind().is_ok());
}

#[test]
fn strangers_cannot_fill_the_audit_log() {
    let server = TestHost::new();
    server.new_key(&["admin"]);
    let statuses: Vec<u16> = (0..200)
        .map(|_| server.call("GET", "/v1/sprites").status)
        .collect();
    assert!(statuses.contains(&401) && statuses.contains(&429));
    let audited = audited(&server, "unauthenticated").len();
    assert!((1..150).contains(&audited), "{audited} of 200 were written");
}

/// A key that may do little writes little, and many addresses no more than a few.
#[test]
fn weak_keys_and_many_addresses_cannot_fill_the_audit_log() {
    let server = TestHost::new();
    let weak = server.bearer(&["metrics:read"]);
    for _ in 0..200 {
        server
            .send("GET", "/v1/sprites", &[("authorization", &weak)], b"")
            .expect(403, "FORBIDDEN");
    }
    let denied = audited(&server, "denied").len();
    assert!((1..150).contains(&denied), "{denied} of 200 were written");
    let server = server.listen();
    server.host.wait(async {
        use tokio::io::{AsyncReadExt, AsyncWriteExt};
        for last in 2..42 {
            let socket = tokio::net::TcpSocket::new_v4().unwrap();
            socket.bind(format!("127.0.0.{last}:0").parse().unwrap()).unwrap();
            let mut stream = socket.connect(server.address.parse().unwrap()).await.unwrap();
            let again = "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\n\r\n".repeat(14);
            let end = "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
            stream
                .write_all(format!("{again}{end}").as_bytes())
                .await
                .unwrap();
            stream.read_to_end(&mut Vec::new()).await.unwrap();
        }
    });
    let unknown = audited(&server.host, "unauthenticated").len();
    // A burst of 200 and 20 a second; forty addresses with bursts of their own would be 600.
    assert!((1..560).contains(&unknown), "{unknown} of 600 were written");
}

#[test]
fn origins_are_allowed_only_when_the_operator_names_them() {
    let server = TestHost::with(Config {
        cors_origins: vec!["https://app.example".to_owned()],
        ..Config::default()
    });
    let ask = |method: &str, origin: &str| server.send(method, "/v1/sprites", &[("origin", origin)], b"");
    let allowed = ask("GET", "https://app.example");
    assert_eq!(
        allowed.header("access-control-allow-origin"),
        Some("https://app.example")
    );
    assert_eq!(ask("OPTIONS", "https://app.example").status, 204);
    assert_eq!(
        ask("GET", "https://evil.example").header("access-control-allow-origin"),
        None
    );
    ask("OPTIONS", "https://evil.example").expect(405, "METHOD_NOT_ALLOWED");
}
