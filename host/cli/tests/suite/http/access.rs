//! Who may do what: keys, grants, rates, addresses.

use crate::support::documents::sprite;
use crate::support::http::{Served, mizzen};
use crate::support::programs;
use serde_json::json;
use std::path::Path;
use std::process::Output;

fn key(data: &Path, arguments: &[&str]) -> Output {
    mizzen()
        .args(["key", "api"])
        .arg("--data")
        .arg(data)
        .args(arguments)
        .output()
        .unwrap()
}

fn new_key(data: &Path, grants: &[&str]) -> String {
    let mut arguments = vec!["new"];
    for grant in grants {
        arguments.extend(["--grant", grant]);
    }
    let output = key(data, &arguments);
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn bearer(key: &str) -> String {
    format!("Bearer {key}")
}

#[test]
fn from_the_first_key_on_every_request_needs_one_with_the_grant() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    server.call("GET", "/v1/sprites").expect(200, "");
    let reader = new_key(&data, &["sprites:read"]);
    let get = |path: &str, headers: &[(&str, &str)]| server.send("GET", path, headers, b"");

    let refused = get("/v1/sprites", &[]);
    refused.expect(401, "UNAUTHENTICATED");
    assert!(refused.header("www-authenticate").unwrap().starts_with("Bearer"));
    get("/v1/sprites", &[("authorization", &bearer(&reader))]).expect(200, "");
    get("/v1/sprites", &[("x-api-key", &reader)]).expect(200, "");
    let denied = get("/v1/councils", &[("authorization", &bearer(&reader))]).expect(403, "FORBIDDEN");
    assert_eq!(denied["details"]["missing_grant"], "councils:read");
    assert!(denied["message"].as_str().unwrap().contains("councils:read"));
    let body = sprite("NO-1").to_string();
    let headers = [
        ("authorization", bearer(&reader)),
        ("content-type", "application/json".to_owned()),
    ];
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .map(|(name, value)| (*name, value.as_str()))
        .collect();
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

    let admin = new_key(&data, &["admin"]);
    get("/v1/plugins", &[("authorization", &bearer(&admin))]).expect(200, "");
    assert_eq!(get("/metrics", &[("authorization", &bearer(&admin))]).status, 200);

    let id = reader.rsplit_once('_').unwrap().0;
    assert!(key(&data, &["revoke", id]).status.success());
    get("/v1/sprites", &[("authorization", &bearer(&reader))]).expect(401, "UNAUTHENTICATED");
    assert_eq!(key(&data, &["revoke", id]).status.code(), Some(1));
    let list = String::from_utf8(key(&data, &["list"]).stdout).unwrap();
    assert!(
        list.contains(id) && list.contains("revoked") && list.contains("admin"),
        "{list}"
    );
    assert!(
        !list.contains(reader.rsplit_once('_').unwrap().1),
        "a secret is shown once"
    );
    let file = std::fs::read(data.join("mizzen.db")).unwrap();
    let secret = admin.rsplit_once('_').unwrap().1.as_bytes();
    assert!(
        !file.windows(secret.len()).any(|window| window == secret),
        "a secret is never stored"
    );
    assert!(server.terminate().success());

    let log = rows(&data, "SELECT outcome || ' ' || action FROM audit");
    for entry in [
        "unauthenticated listSprites",
        "denied listCouncils",
        "denied createSprite",
        "done create_api_key",
    ] {
        assert!(log.contains(&entry.to_owned()), "{entry} in {log:?}");
    }
    let check = mizzen()
        .args(["db", "check", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(check.status.success());
}

#[test]
fn the_audit_log_is_read_by_filter_in_pages_and_only_with_its_grant() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    for number in 0..5 {
        let made = server.call_json("POST", "/v1/sprites", &sprite(&format!("UNIT-{number}")));
        made.expect(201, "");
    }
    let auditor = new_key(&data, &["audit:read"]);
    let reader = new_key(&data, &["sprites:read"]);
    let get = |path: &str, key: &str| server.send("GET", path, &[("authorization", &bearer(key))], b"");
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
    for wrong in ["since=yesterday", "actor=", "limit=0", "cursor=x0"] {
        get(&format!("/v1/audit?{wrong}"), &auditor).expect(400, "VALIDATION_ERROR");
    }

    let log = |arguments: &[&str]| {
        let output = mizzen()
            .args(["audit", "log", "--data"])
            .arg(&data)
            .args(arguments)
            .output()
            .unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, text) = log(&["--action", "create_sprite", "--since", "1h", "--limit", "3"]);
    assert_eq!((code, text.lines().count()), (Some(0), 3), "{text}");
    let (_, text) = log(&["--outcome", "denied", "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 2, "{text}");
    assert_eq!(shown["more"], false);
    assert_eq!(log(&["--since", "soon"]).0, Some(2));
}

#[test]
fn each_way_of_using_runs_needs_its_own_grant() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    let worker = server
        .call_json("POST", "/v1/sprites", &sprite("WORKER-1"))
        .expect(201, "");
    let worker = worker["id"].as_str().unwrap();
    let mut council = crate::support::documents::council("engineering", &[worker]);
    council["chains"] = json!([crate::support::documents::chain(worker, worker)]);
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
            (*grant, new_key(&data, &[grant]), new_key(&data, &others))
        })
        .collect();
    for (method, path, body, grant) in uses {
        let send = |key: Option<&str>| {
            let bearer = key.map(bearer).unwrap_or_default();
            let mut headers = vec![("content-type", "application/json")];
            headers.extend(key.map(|_| ("authorization", bearer.as_str())));
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

fn rows(data: &Path, sql: &str) -> Vec<String> {
    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

#[test]
fn a_key_that_asks_too_often_is_told_when_to_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let key = new_key(&data, &["sprites:read"]);
    let other = new_key(&data, &["sprites:read"]);
    let config = folder.path().join("slow.toml");
    std::fs::write(&config, "[server]\nrate_per_second = 1\nrate_burst = 3\n").unwrap();
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    let get = |key: &str| server.send("GET", "/v1/sprites", &[("authorization", &bearer(key))], b"");
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
fn a_listener_for_others_without_keys_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let start = || {
        mizzen()
            .current_dir(&folder)
            .args(["serve", "--listen", "0.0.0.0:0", "--data"])
            .arg(&data)
            .output()
            .unwrap()
    };
    let refused = start();
    assert_eq!(refused.status.code(), Some(1));
    let message = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(message.contains("mizzen key api new"), "{message}");
    assert!(refused.stdout.is_empty());
}

#[test]
fn grants_are_checked_when_a_key_is_made_and_keys_expire() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let unknown = key(&data, &["new", "--grant", "runs:everything"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("runs:start"));
    let none = key(&data, &["new"]);
    assert_eq!(none.status.code(), Some(2));
    let dead = key(&data, &["new", "--grant", "admin", "--days", "0"]);
    assert_eq!(dead.status.code(), Some(2), "a key that never works is a mistake");
    let made = key(&data, &["new", "--grant", "admin", "--days", "1", "--json"]);
    let made: serde_json::Value = serde_json::from_slice(&made.stdout).unwrap();
    let listed = String::from_utf8(key(&data, &["list"]).stdout).unwrap();
    assert!(listed.contains("  live    admin  until 2"), "{listed}");
    rows(&data, "UPDATE api_keys SET expires_at = 1");
    let server = Served::start(&data);
    let token = bearer(made["key"].as_str().unwrap());
    server
        .send("GET", "/v1/sprites", &[("authorization", &token)], b"")
        .expect(401, "UNAUTHENTICATED");
}

#[test]
fn keys_are_listed_and_revoked_where_they_are_and_nothing_is_made_for_looking() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let nowhere = folder.path().join("dataa");
    new_key(&data, &["admin"]);
    // The folder may be named behind the verb, as with every other one.
    let verb = |arguments: &[&str], data: &Path| {
        let mut command = mizzen();
        command
            .args(["key", "api"])
            .args(arguments)
            .arg("--data")
            .arg(data);
        command.output().unwrap()
    };
    let listed = verb(&["list", "--json"], &data);
    let listed: serde_json::Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    for arguments in [&["list"][..], &["revoke", id]] {
        let missed = verb(arguments, &nowhere);
        assert_eq!(missed.status.code(), Some(1));
        let said = String::from_utf8_lossy(&missed.stderr).into_owned();
        assert!(said.contains("there is no database at"), "{said}");
    }
    assert!(!nowhere.exists(), "looking has made it");
    let revoked = verb(&["revoke", id, "--json"], &data);
    let revoked: serde_json::Value = serde_json::from_slice(&revoked.stdout).unwrap();
    assert_eq!(revoked, serde_json::json!({"id": id, "revoked": true}));
    let listed = String::from_utf8(verb(&["list"], &data).stdout).unwrap();
    assert!(listed.contains("revoked admin\n"), "{listed}");
    // One key, once: a proxy in front may have looked at the other field.
    let live = bearer(&new_key(&data, &["admin"]));
    let server = Served::start(&data);
    let ask = |headers: &[(&str, &str)]| server.send("GET", "/v1/sprites", headers, b"");
    ask(&[("authorization", &live)]).expect(200, "");
    for other in [live.as_str(), "Bearer nonsense"] {
        ask(&[("authorization", &live), ("authorization", other)]).expect(401, "UNAUTHENTICATED");
    }
}

#[test]
fn strangers_cannot_fill_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    new_key(&data, &["admin"]);
    let server = Served::start(&data);
    let statuses: Vec<u16> = (0..200)
        .map(|_| server.call("GET", "/v1/sprites").status)
        .collect();
    assert!(statuses.contains(&401) && statuses.contains(&429));
    server.terminate();
    let audited = rows(
        &data,
        "SELECT action FROM audit WHERE outcome = 'unauthenticated'",
    )
    .len();
    assert!((1..150).contains(&audited), "{audited} of 200 were written");
}

/// A key that may do little writes little, and many addresses no more than a few.
#[test]
fn weak_keys_and_many_addresses_cannot_fill_the_audit_log() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let weak = bearer(&new_key(&data, &["metrics:read"]));
    let server = Served::start(&data);
    for _ in 0..200 {
        server
            .send("GET", "/v1/sprites", &[("authorization", &weak)], b"")
            .expect(403, "FORBIDDEN");
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
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
    server.terminate();
    let written = |outcome: &str| {
        let rows = rows(
            &data,
            &format!("SELECT action FROM audit WHERE outcome = '{outcome}'"),
        );
        rows.len()
    };
    let denied = written("denied");
    assert!((1..150).contains(&denied), "{denied} of 200 were written");
    let unknown = written("unauthenticated");
    // A burst of 200 and 20 a second; forty addresses with bursts of their own would be 600.
    assert!((1..560).contains(&unknown), "{unknown} of 600 were written");
}

#[test]
fn origins_are_allowed_only_when_the_operator_names_them() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let config = folder.path().join("cors.toml");
    std::fs::write(&config, "[server]\ncors_origins = [\"https://app.example\"]\n").unwrap();
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
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
    drop(server);
    for wrong in [
        "*",
        "app.example",
        "https://app.example/",
        "https://App.example",
        "https://",
    ] {
        std::fs::write(&config, format!("[server]\ncors_origins = [\"{wrong}\"]\n")).unwrap();
        let refused = mizzen()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .arg("--config")
            .arg(&config)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(
            said.contains("is not an origin as browsers send it"),
            "{wrong}: {said}"
        );
    }
}

#[test]
fn tls_is_served_from_certificate_files() {
    programs::need(&["openssl", "version"], "openssl");
    let folder = tempfile::tempdir().unwrap();
    let made = std::process::Command::new("openssl")
        .current_dir(&folder)
        .args([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem",
        ])
        .args([
            "-days",
            "2",
            "-subj",
            "/CN=localhost",
            "-addext",
            "subjectAltName=IP:127.0.0.1",
        ])
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let config = folder.path().join("tls.toml");
    std::fs::write(
        &config,
        "[server]\ntls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"\n",
    )
    .unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    let output = std::process::Command::new("openssl")
        .current_dir(&folder)
        .args([
            "s_client",
            "-connect",
            &server.address,
            "-CAfile",
            "cert.pem",
            "-verify_return_error",
            "-alpn",
            "http/1.1",
        ])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        text.contains("Verify return code: 0") && text.contains("ALPN protocol: http/1.1"),
        "{text}"
    );
    std::fs::write(folder.path().join("key.pem"), "not a key").unwrap();
    let broken = mizzen()
        .current_dir(&folder)
        .args(["serve", "--listen", "127.0.0.1:0", "--data", "other", "--config"])
        .arg(&config)
        .output()
        .unwrap();
    assert_eq!(broken.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&broken.stderr).contains("key.pem"));
}

#[test]
fn a_body_that_does_not_arrive_is_408_and_a_header_that_does_not_arrive_ends_the_connection() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("short.toml");
    std::fs::write(&config, "[server]\nreceive_seconds = 1\n").unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    let head = "POST /v1/sprites HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{";
    stream.write_all(head.as_bytes()).unwrap();
    crate::support::http::read_answer(&mut stream, "POST")
        .unwrap()
        .expect(408, "REQUEST_TIMEOUT");
    // Nothing at all and half of HTTP/2's first line too: whoever says nothing must not hold a place.
    for begun in [
        &b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n"[..],
        b"",
        b"PRI * HTTP",
    ] {
        let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
        stream
            .set_read_timeout(Some(std::time::Duration::from_secs(60)))
            .unwrap();
        stream.write_all(begun).unwrap();
        let mut rest = Vec::new();
        // Closed, in whatever way: it does not stay open.
        let open = stream.read_to_end(&mut rest).is_err_and(|error| {
            matches!(
                error.kind(),
                std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut
            )
        });
        assert!(
            !open,
            "{:?} still holds its place",
            String::from_utf8_lossy(begun)
        );
    }
}

#[test]
fn connections_beyond_the_limit_wait_for_a_place() {
    use std::io::{Read, Write};
    use std::time::Duration;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("narrow.toml");
    std::fs::write(&config, "[server]\nconnections = 1\n").unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    let ask = |stream: &mut std::net::TcpStream| {
        stream
            .write_all(b"GET /health HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n")
            .unwrap();
    };
    let mut first = std::net::TcpStream::connect(&server.address).unwrap();
    ask(&mut first);
    let mut byte = [0; 1];
    first.read_exact(&mut byte).unwrap();
    let mut second = std::net::TcpStream::connect(&server.address).unwrap();
    ask(&mut second);
    second.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!(second.read_exact(&mut byte).is_err(), "the only place is taken");
    drop(first);
    second.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    second.read_exact(&mut byte).unwrap();
}

#[test]
fn a_client_that_asks_and_does_not_read_loses_its_place() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("narrow.toml");
    std::fs::write(&config, "[server]\nconnections = 1\nreceive_seconds = 1\n").unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    let mut deaf = std::net::TcpStream::connect(&server.address).unwrap();
    // Far more answer than the two sockets hold.
    let request = "GET /openapi.json HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
    deaf.write_all(request.repeat(300).as_bytes()).unwrap();
    // Waits up to a minute for the only place.
    server.call("GET", "/health").expect(200, "");
    drop(deaf);
}
