//! Sprites and the registry over HTTP, in this process: changes, races, pages, and every refusal.

use crate::support::TestHost;
use crate::support::documents::{NOBODY, council, sprite};
use serde_json::{Value, json};

#[test]
fn a_sprite_is_replaced_only_under_its_name_with_a_greater_version() {
    let server = TestHost::new();
    let id = server.register(&sprite("CORTEX-01"));
    let path = format!("/v1/sprites/{id}");
    let before = server.call("GET", &path).expect(200, "");
    let put = |change: &dyn Fn(&mut Value)| {
        let mut body = before.clone();
        change(&mut body);
        server.call_json("PUT", &path, &body)
    };
    put(&|_| ()).expect(409, "VERSION_CONFLICT");
    put(&|body| body["version"] = json!("1.0.0-beta")).expect(409, "VERSION_CONFLICT");
    put(&|body| body["version"] = json!("1.0.0+build.2")).expect(409, "VERSION_CONFLICT");
    put(&|body| {
        body["version"] = json!("2.0.0");
        body["name"] = json!("OTHER-01");
    })
    .expect(409, "NAME_CONFLICT");
    let after = put(&|body| {
        body["version"] = json!("1.0.1");
        body["system_prompt"] = json!("Another prompt.");
    });
    let body = after.expect(200, "");
    assert_eq!((&body["id"], &body["version"]), (&json!(id), &json!("1.0.1")));
    assert_ne!(body["fingerprint"], before["fingerprint"], "recomputed on PUT");
    assert_eq!(body["metadata"]["created"], before["metadata"]["created"]);
    let missing = server.call_json("PUT", &format!("/v1/sprites/{NOBODY}"), &sprite("CORTEX-01"));
    missing.expect(404, "SPRITE_NOT_FOUND");
}

#[test]
fn a_lost_race_is_412_and_a_repeated_key_is_the_same_answer() {
    let server = TestHost::new();
    let created = server.call_json("POST", "/v1/sprites", &sprite("CORTEX-01"));
    let id = created.expect(201, "")["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/sprites/{id}");
    let first = created.header("etag").unwrap().to_owned();
    let put = |version: &str, tag: &str| {
        let mut body = sprite("CORTEX-01");
        body["version"] = json!(version);
        let headers = [("content-type", "application/json"), ("if-match", tag)];
        server.send("PUT", &path, &headers, body.to_string().as_bytes())
    };
    put("1.1.0", "\"77\"").expect(412, "PRECONDITION_FAILED");
    put("1.1.0", &first).expect(200, "");
    put("1.2.0", &first).expect(412, "PRECONDITION_FAILED");
    put("1.2.0", "*").expect(200, "");
    server
        .send("DELETE", &path, &[("if-match", &first)], b"")
        .expect(412, "PRECONDITION_FAILED");

    let post = |path: &str, key: &str, body: &Value| {
        let headers = [("content-type", "application/json"), ("idempotency-key", key)];
        server.send("POST", path, &headers, body.to_string().as_bytes())
    };
    let one = post("/v1/sprites", "k-1", &sprite("ONCE-1"));
    let two = post("/v1/sprites", "k-1", &sprite("ONCE-1"));
    assert_eq!(
        (one.expect(201, ""), one.header("etag")),
        (two.expect(201, ""), two.header("etag"))
    );
    assert_eq!(
        [&one, &two].map(|answer| answer.header("idempotency-replayed")),
        [None, Some("true")]
    );
    post("/v1/sprites", "k-1", &sprite("TWICE-2")).expect(422, "IDEMPOTENCY_KEY_REUSED");
    post("/v1/councils", "k-1", &council("x", &[&id])).expect(422, "IDEMPOTENCY_KEY_REUSED");
    assert_eq!(
        server.call("GET", "/v1/sprites?name=ONCE-1").expect(200, "")["sprites"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let wanted = council("idempotent", &[&id]);
    let one = post("/v1/councils", "k-2", &wanted);
    let two = post("/v1/councils", "k-2", &wanted);
    assert_eq!(
        two.expect(201, ""),
        one.expect(201, ""),
        "not a conflict with itself"
    );
    assert_eq!(
        [&one, &two].map(|answer| answer.header("idempotency-replayed")),
        [None, Some("true")]
    );
    post("/v1/sprites", "tab\tinside", &sprite("TAB-1")).expect(400, "VALIDATION_ERROR");
    post("/v1/sprites", &"x".repeat(256), &sprite("LONG-1")).expect(400, "VALIDATION_ERROR");
}

#[test]
fn protected_sprites_and_members_of_councils_are_deleted_only_by_force() {
    let server = TestHost::new();
    let mut guarded = sprite("BECK-02");
    guarded["protected"] = json!(true);
    let beck = server.register(&guarded);
    let member = server.register(&sprite("MEMBER-1"));
    let made = server.call_json("POST", "/v1/councils", &council("review", &[&member, &beck]));
    let location = made.header("location").unwrap().to_owned();
    made.expect(201, "");

    server
        .call("DELETE", &format!("/v1/sprites/{beck}"))
        .expect(409, "PROTECTED_SPRITE");
    let in_use = server
        .call("DELETE", &format!("/v1/sprites/{member}"))
        .expect(409, "SPRITE_IN_USE");
    assert_eq!(in_use["details"]["councils"].as_array().unwrap().len(), 1);
    server
        .call("DELETE", &format!("/v1/sprites/{beck}?force=maybe"))
        .expect(400, "VALIDATION_ERROR");

    server
        .call_json("PUT", &location, &council("review", &[&member]))
        .expect(409, "PROTECTED_SPRITE");
    server
        .call_json(
            "PUT",
            &format!("{location}?force=true"),
            &council("review", &[&member]),
        )
        .expect(200, "");
    server
        .call("DELETE", &format!("/v1/sprites/{beck}?force=true"))
        .expect(204, "");
    server
        .call("GET", &format!("/v1/sprites/{beck}"))
        .expect(404, "SPRITE_NOT_FOUND");

    let mut changed = sprite("MEMBER-1");
    changed["version"] = json!("2.0.0");
    server
        .call_json("PUT", &format!("/v1/sprites/{member}"), &changed)
        .expect(200, "");
    let council = server.call("GET", &location).expect(200, "");
    assert_eq!(council["drift"][0]["sprite_id"], member.as_str(), "{council}");
    assert_eq!(
        council["sprites"][0]["version"], "1.0.0",
        "the council keeps its snapshot (D7)"
    );
    server
        .call("DELETE", &format!("/v1/sprites/{member}?force=true"))
        .expect(204, "");
    let council = server.call("GET", &location).expect(200, "");
    assert!(council["drift"][0].get("current").is_none());
    server.call("DELETE", &location).expect(204, "");
    server.call("GET", &location).expect(404, "COUNCIL_NOT_FOUND");
    server.call("DELETE", &location).expect(404, "COUNCIL_NOT_FOUND");
}

/// D25: as the seeds' registry has it, a name and a version name one sprite.
#[test]
fn a_name_and_a_version_name_one_sprite() {
    let server = TestHost::new();
    let first = server.register(&sprite("SOL-FORGE"));
    let refused = server.call_json("POST", "/v1/sprites", &sprite("SOL-FORGE"));
    assert_eq!(
        refused.expect(409, "SPRITE_CONFLICT")["details"]["sprite_id"],
        first.as_str()
    );
    let mut newer = sprite("SOL-FORGE");
    newer["version"] = json!("2.0.0");
    let second = server.register(&newer);
    assert_ne!(first, second);
    server
        .call_json("PUT", &format!("/v1/sprites/{first}"), &newer)
        .expect(409, "SPRITE_CONFLICT");
    newer["version"] = json!("2.0.1");
    server
        .call_json("PUT", &format!("/v1/sprites/{first}"), &newer)
        .expect(200, "");
    server
        .call("DELETE", &format!("/v1/sprites/{first}"))
        .expect(204, "");
    // What is deleted takes no name.
    server.register(&newer);
}

#[test]
fn sprites_are_listed_in_pages_and_by_filters() {
    let server = TestHost::new();
    for number in 0..5 {
        let mut body = sprite(&format!("UNIT-{number}"));
        body["metadata"]["tags"] = json!([if number % 2 == 0 { "even" } else { "odd" }]);
        if number == 3 {
            body["role"] = json!("planner");
            body["capabilities"][0]["name"] = json!("plan_work");
        }
        server.register(&body);
    }
    let names = |path: &str| -> (Vec<String>, Value) {
        let page = server.call("GET", path).expect(200, "");
        let names = page["sprites"].as_array().unwrap().iter();
        (
            names
                .map(|sprite| sprite["name"].as_str().unwrap().to_owned())
                .collect(),
            page["next_cursor"].clone(),
        )
    };
    assert_eq!(names("/v1/sprites?tag=even").0, ["UNIT-0", "UNIT-2", "UNIT-4"]);
    assert_eq!(names("/v1/sprites?role=planner").0, ["UNIT-3"]);
    assert_eq!(names("/v1/sprites?capability=plan_work&tag=odd").0, ["UNIT-3"]);
    assert_eq!(names("/v1/sprites?name=UNIT-1").0, ["UNIT-1"]);
    let (first, cursor) = names("/v1/sprites?limit=2");
    let cursor = cursor.as_str().unwrap().to_owned();
    let (second, _) = names(&format!("/v1/sprites?limit=2&cursor={cursor}"));
    assert_eq!(
        (first, second),
        (
            vec!["UNIT-0".into(), "UNIT-1".into()],
            vec!["UNIT-2".into(), "UNIT-3".into()]
        )
    );
    let bad = |query: &str| {
        server
            .call("GET", &format!("/v1/sprites?{query}"))
            .expect(400, "VALIDATION_ERROR")
    };
    let filtered = names(&format!("/v1/sprites?tag=even&cursor={cursor}")).0;
    assert_eq!(
        filtered,
        ["UNIT-2", "UNIT-4"],
        "a position is one in every filter"
    );
    for query in [
        "limit=0",
        "limit=101",
        "limit=x",
        "limit=1&limit=2",
        "cursor=abc",
        "cursor=",
        "role=king",
        "colour=red",
        "name=%ff",
    ] {
        bad(query);
    }
    // A place in another list is none in this one: an empty page would be taken for the end.
    for path in ["/v1/councils", "/v1/executions"] {
        let refused = server.call("GET", &format!("{path}?cursor={cursor}"));
        let refused = refused.expect(400, "VALIDATION_ERROR");
        assert_eq!(refused["details"]["parameter"], "cursor", "{refused}");
    }
}

#[test]
fn a_sprite_that_the_caller_has_is_not_sent_again() {
    let server = TestHost::new();
    let created = server.call_json("POST", "/v1/sprites", &sprite("CORTEX-01"));
    let tag = created.header("etag").unwrap().to_owned();
    let path = format!("/v1/sprites/{}", created.expect(201, "")["id"].as_str().unwrap());
    let read = |method: &str, known: &str| server.send(method, &path, &[("if-none-match", known)], b"");
    for (method, known) in [
        ("GET", tag.clone()),
        ("HEAD", tag.clone()),
        ("GET", format!("W/{tag}")),
        ("GET", format!("\"other\", {tag}")),
        ("GET", "*".to_owned()),
    ] {
        let answer = read(method, &known);
        assert_eq!((answer.status, answer.body.len()), (304, 0), "{method} {known}");
        assert_eq!(answer.header("etag"), Some(tag.as_str()));
    }
    for known in ["\"0\"", "nonsense", ""] {
        read("GET", known).expect(200, "");
    }
    let mut newer = sprite("CORTEX-01");
    newer["version"] = json!("1.1.0");
    server.call_json("PUT", &path, &newer).expect(200, "");
    assert_eq!(read("GET", &tag).expect(200, "")["version"], "1.1.0");
    let missing = format!("/v1/sprites/{NOBODY}");
    server
        .send("GET", &missing, &[("if-none-match", "*")], b"")
        .expect(404, "SPRITE_NOT_FOUND");
    // A council's answer also says what has changed around it: it is sent every time.
    let id = server.register(&sprite("MEMBER-1"));
    let made = server.call_json("POST", "/v1/councils", &council("review", &[&id]));
    let place = made.header("location").unwrap().to_owned();
    let shown = server.send("GET", &place, &[("if-none-match", "*")], b"");
    // What is read holds snapshots, what is written names them: a body that is sent back is told so.
    let refused = server.call_json("PUT", &place, &shown.expect(200, ""));
    let refused = refused.expect(400, "VALIDATION_ERROR");
    let error = &refused["details"]["errors"][0];
    assert_eq!(error["path"], "/sprites/0", "{refused}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("an object, expected a string: a lowercase UUID"),
        "{message}"
    );
}

#[test]
fn a_sprite_may_come_as_yaml() {
    let server = TestHost::new();
    let yaml = "\
name: YAML-1
version: 1.0.0
capabilities:
  - name: speak
    description: Say something
    parameters: {type: object}
system_prompt: |
  Be kind.
metadata: {author: ada, created: '2026-04-27T10:00:00Z', updated: '2026-04-27T10:00:00Z', tags: [core]}
";
    let as_json = json!({
        "name": "YAML-1", "version": "1.0.0",
        "capabilities": [{"name": "speak", "description": "Say something", "parameters": {"type": "object"}}],
        "system_prompt": "Be kind.\n",
        "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["core"]}
    });
    // One sprite of a name and version at a time (D25).
    let forget = |made: &Value| {
        let path = format!("/v1/sprites/{}", made["id"].as_str().unwrap());
        server.call("DELETE", &path).expect(204, "");
    };
    let made = server.call_json("POST", "/v1/sprites", &as_json).expect(201, "");
    let expected = made["fingerprint"].clone();
    forget(&made);
    for media in [
        "application/yaml",
        "application/x-yaml",
        "application/yaml; charset=utf-8",
    ] {
        let answer = server.send("POST", "/v1/sprites", &[("content-type", media)], yaml.as_bytes());
        let made = answer.expect(201, "");
        assert_eq!(made["fingerprint"], expected, "{media}");
        forget(&made);
    }
    let broken = server.send(
        "POST",
        "/v1/sprites",
        &[("content-type", "application/yaml")],
        b"a: [1",
    );
    broken.expect(400, "MALFORMED_BODY");
    let council = server.send(
        "POST",
        "/v1/councils",
        &[("content-type", "application/yaml")],
        b"a: 1",
    );
    council.expect(415, "UNSUPPORTED_MEDIA_TYPE");
}

#[test]
fn every_error_has_the_envelope() {
    let server = TestHost::new();
    let json_type = [("content-type", "application/json")];
    server.call("GET", "/nowhere").expect(404, "NOT_FOUND");
    server.call("GET", "/v1/sprites/").expect(404, "NOT_FOUND");
    server
        .call("GET", "/v1/sprites/not-an-id")
        .expect(400, "VALIDATION_ERROR");
    server
        .call("GET", &format!("/v1/sprites/{NOBODY}"))
        .expect(404, "SPRITE_NOT_FOUND");
    server
        .call("GET", "/v1/sprites/%ff")
        .expect(400, "VALIDATION_ERROR");
    server
        .call("GET", "/v1/plugins/nothing")
        .expect(404, "PLUGIN_NOT_FOUND");
    server.call("GET", "/health?x=1").expect(400, "VALIDATION_ERROR");
    for method in ["PATCH", "PUT", "DELETE", "OPTIONS", "TRACE", "WEIRD"] {
        let answer = server.call(method, "/v1/sprites");
        answer.expect(405, "METHOD_NOT_ALLOWED");
        assert_eq!(answer.header("allow"), Some("POST, GET, HEAD"), "{method}");
    }
    for body in [
        "",
        "{",
        "nul",
        "[1,",
        "{\"name\":}",
        "\u{feff}{}",
        "{} x",
        "{\"a\":1,}",
        &"[".repeat(100_000),
    ] {
        server
            .send("POST", "/v1/sprites", &json_type, body.as_bytes())
            .expect(400, "MALFORMED_BODY");
    }
    for body in ["null", "[]", "\"x\"", "1", "{}"] {
        server
            .send("POST", "/v1/sprites", &json_type, body.as_bytes())
            .expect(400, "VALIDATION_ERROR");
    }
    server
        .send("POST", "/v1/sprites", &json_type, b"\xff\xfe")
        .expect(400, "MALFORMED_BODY");
    server
        .send("POST", "/v1/sprites", &[], b"{}")
        .expect(415, "UNSUPPORTED_MEDIA_TYPE");
    for media in [
        "text/plain",
        "application/xml",
        "application/json; charset=latin1",
        "json",
    ] {
        let answer = server.send("POST", "/v1/sprites", &[("content-type", media)], b"{}");
        answer.expect(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    let large = vec![b' '; 3 << 20];
    server
        .send("POST", "/v1/sprites", &json_type, &large)
        .expect(413, "PAYLOAD_TOO_LARGE");
    let long = format!("/v1/sprites?name={}", "x".repeat(10_000));
    server.call("GET", &long).expect(414, "URI_TOO_LONG");
    let value = "x".repeat(20_000);
    server
        .send("GET", "/health", &[("x-large", &value)], b"")
        .expect(431, "HEADERS_TOO_LARGE");
    let deep = sprite("DEEP-1").to_string().replace(
        "\"type\":\"object\"",
        &format!("\"x\":{}{}", "[".repeat(90), "]".repeat(90)),
    );
    let status = server
        .send("POST", "/v1/sprites", &json_type, deep.as_bytes())
        .status;
    assert_eq!(status, 400);
    server.call("GET", "/health").expect(200, "");
}

#[test]
fn the_registry_the_docs_the_schema_and_the_metrics_are_served() {
    let server = TestHost::new();
    for path in [
        "/v1/plugins",
        "/v1/tools",
        "/v1/skills",
        "/v1/stores",
        "/v1/packs",
    ] {
        let name = path.rsplit('/').next().unwrap();
        assert_eq!(server.call("GET", path).expect(200, "")[name], json!([]));
    }
    let front = server.call("GET", "/");
    assert_eq!((front.status, front.header("location")), (303, Some("/docs")));
    server.call("POST", "/").expect(404, "NOT_FOUND");
    let docs = server.call("GET", "/docs");
    assert_eq!(docs.status, 200);
    let page = docs.text();
    assert!(page.contains("fetch(\"/openapi.json\")"));
    assert!(
        !page.contains("http://") && !page.contains("https://") && !page.contains("src="),
        "loads nothing from elsewhere"
    );
    assert!(
        docs.header("content-security-policy")
            .unwrap()
            .contains("default-src 'none'")
    );
    let schema = server.call("GET", "/v1/schemas/iris.schema.json");
    assert_eq!(schema.header("content-type"), Some("application/schema+json"));
    assert_eq!(schema.json()["oneOf"].as_array().unwrap().len(), 3);
    server.register(&sprite("COUNT-1"));
    let metrics = server.call("GET", "/metrics").text();
    for line in [
        "mizzen_sprite_operations_total{operation=\"createSprite\",outcome=\"done\"} 1",
        "mizzen_http_requests_total{route=\"/v1/sprites\",method=\"POST\",status=\"201\"} 1",
        "# TYPE mizzen_gate_decisions_total counter",
        "# TYPE mizzen_sandbox_calls_total counter",
        "# TYPE mizzen_chain_executions_total counter",
        "mizzen_store_commits_total 1",
        concat!("mizzen_build_info{version=\"", env!("CARGO_PKG_VERSION"), "\"} 1"),
        "# TYPE mizzen_tool_calls_total counter",
        "process_resident_memory_bytes ",
        "process_cpu_seconds_total ",
    ] {
        assert!(metrics.contains(line), "{line} in {metrics}");
    }
    let head = server.call("HEAD", "/health");
    assert_eq!(
        (head.status, head.header("access-control-allow-origin")),
        (200, None)
    );
}
