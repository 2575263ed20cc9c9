//! Requests that are meant to confuse: what they would get from a reader that is not strict, they do not get here.

use crate::support::documents::sprite;
use crate::support::{JSON, TestHost};
use std::io::{Read, Write};

#[test]
fn a_key_that_stands_twice_in_one_object_is_refused_at_every_depth() {
    let server = TestHost::new();
    let good = sprite("SOL-FORGE").to_string();
    for (from, to) in [
        (
            "\"name\":\"SOL-FORGE\"",
            "\"name\":\"OTHER-1\",\"name\":\"SOL-FORGE\"",
        ),
        ("\"author\":\"ada\"", "\"author\":\"ada\",\"author\":\"eve\""),
        (
            "\"author\":\"ada\"",
            "\"author\":\"ada\",\"\\u0061uthor\":\"ada\"",
        ),
    ] {
        let body = good.replace(from, to);
        assert_ne!(body, good);
        let refused = server
            .send("POST", "/v1/sprites", &[JSON], body.as_bytes())
            .expect(400, "MALFORMED_BODY");
        assert!(
            refused["message"].as_str().unwrap().contains("twice"),
            "{refused}"
        );
    }
    server
        .send(
            "POST",
            "/v1/sprites",
            &[("content-type", "application/yaml")],
            b"name: SOL-FORGE\nname: OTHER-1\n",
        )
        .expect(400, "MALFORMED_BODY");
    server
        .send("POST", "/v1/sprites", &[JSON], good.as_bytes())
        .expect(201, "");
}

#[test]
fn an_encoded_body_is_415_and_not_read_as_it_is() {
    let server = TestHost::new();
    let body = sprite("SOL-FORGE").to_string();
    for encoding in ["gzip", "br", "identity, gzip"] {
        server
            .send(
                "POST",
                "/v1/sprites",
                &[JSON, ("content-encoding", encoding)],
                body.as_bytes(),
            )
            .expect(415, "UNSUPPORTED_MEDIA_TYPE");
    }
    server
        .send(
            "POST",
            "/v1/sprites",
            &[JSON, ("content-encoding", "identity")],
            body.as_bytes(),
        )
        .expect(201, "");
}

#[test]
fn an_idempotency_key_is_given_once_and_visible() {
    let server = TestHost::new();
    let body = sprite("SOL-FORGE").to_string();
    let key = |value: &'static str| ("idempotency-key", value);
    let long = "k".repeat(256);
    for headers in [
        vec![JSON, key("one"), key("two")],
        vec![JSON, key("")],
        vec![JSON, ("idempotency-key", long.as_str())],
    ] {
        let refused = server
            .send("POST", "/v1/sprites", &headers, body.as_bytes())
            .expect(400, "VALIDATION_ERROR");
        assert_eq!(refused["details"]["parameter"], "Idempotency-Key");
    }
    let none = server.call("GET", "/v1/sprites").expect(200, "");
    assert_eq!(none["sprites"].as_array().unwrap().len(), 0);
}

#[test]
fn a_query_parameter_that_is_unknown_or_repeated_is_named() {
    let server = TestHost::new();
    for (query, parameter) in [
        ("nmae=x", "nmae"),
        ("limit=1&limit=2", "limit"),
        ("%6eame=x&name=y", "name"),
    ] {
        let refused = server
            .call("GET", &format!("/v1/sprites?{query}"))
            .expect(400, "VALIDATION_ERROR");
        assert_eq!(refused["details"]["parameter"], parameter, "{refused}");
        assert!(
            refused["message"].as_str().unwrap().contains(parameter),
            "{refused}"
        );
    }
    for query in [
        "limit=0",
        "limit=101",
        "limit=-1",
        "limit=1e1",
        "limit=99999999999999999999999",
        "limit=",
        "cursor=x",
        "cursor=%00",
        "cursor=AAAA",
        "name=%ff",
        "name=%",
    ] {
        server
            .call("GET", &format!("/v1/sprites?{query}"))
            .expect(400, "VALIDATION_ERROR");
    }
}

#[test]
fn a_web_page_cannot_use_a_server_that_has_no_keys() {
    let server = TestHost::new().listen();
    let own = &server.address;
    // A name of the page's own that leads to this machine.
    for host in [
        "evil.example",
        "evil.example:7437",
        "127.0.0.1.evil.example",
        "10.0.0.1",
        "",
    ] {
        server
            .head(&format!("GET /v1/sprites HTTP/1.1\r\nhost: {host}\r\n"))
            .expect(403, "FORBIDDEN");
    }
    // A page from elsewhere; nothing that it can send without asking first does anything.
    for origin in ["https://evil.example", "null", "http://localhost:1"] {
        let head = format!(
            "POST /v1/plugins/x/disable HTTP/1.1\r\nhost: {own}\r\norigin: {origin}\r\ncontent-length: 0\r\n"
        );
        server.head(&head).expect(403, "FORBIDDEN");
    }
    let head = format!("GET /v1/sprites HTTP/1.1\r\nhost: {own}\r\norigin: http://{own}\r\n");
    server.head(&head).expect(200, "");
    // One that only loads something sends no origin, but where it is from.
    for (site, status) in [
        ("cross-site", 403),
        ("same-site", 403),
        ("none\r\nsec-fetch-site: cross-site", 403),
        ("something", 403),
        ("same-origin", 200),
        ("none", 200),
    ] {
        let head = format!("GET /v1/sprites HTTP/1.1\r\nhost: {own}\r\nsec-fetch-site: {site}\r\n");
        assert_eq!(server.head(&head).status, status, "{site}");
    }
    server
        .head("GET /v1/sprites HTTP/1.0\r\norigin: null\r\n")
        .expect(403, "FORBIDDEN");
    server
        .head("GET /v1/sprites HTTP/1.0\r\nsec-fetch-site: cross-site\r\n")
        .expect(403, "FORBIDDEN");
    server
        .head("GET /v1/sprites HTTP/1.1\r\nhost: LocalHost:99\r\n")
        .expect(200, "");
    server
        .head("GET /health HTTP/1.1\r\nhost: evil.example\r\n")
        .expect(200, "");

    // With a key the caller is known, by whatever name it came.
    let key = server.host.bearer(&["sprites:read"]);
    let head = format!(
        "GET /v1/sprites HTTP/1.1\r\nhost: api.example\r\norigin: https://page.example\r\nauthorization: {key}\r\n"
    );
    server.head(&head).expect(200, "");
}

#[test]
fn what_is_not_http_gets_the_shape_of_every_error() {
    let server = TestHost::new().listen();
    let check = |request: &str, status: u16, code: &str| {
        let answer = server.bytes(request.as_bytes());
        let id = answer.header("x-request-id").map(str::to_owned);
        assert_eq!(
            answer.header("content-type"),
            Some("application/json"),
            "{request:?}"
        );
        let problem = answer.expect(status, code);
        let members: Vec<&String> = problem.as_object().unwrap().keys().collect();
        assert_eq!(members, ["code", "details", "message", "request_id"], "{problem}");
        assert_eq!(problem["request_id"].as_str(), id.as_deref(), "{problem}");
    };
    for request in [
        "\0\u{1}\u{2}\r\n\r\n",
        "GET /v1/sprites\r\n\r\n",
        "GET /v1/sprites HTTP/3.7\r\nhost: localhost\r\n\r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nnot a field\r\n\r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nx: a\0b\r\n\r\n",
        "POST /v1/sprites HTTP/1.1\r\nhost: localhost\r\ncontent-length: -5\r\n\r\n",
        "POST /v1/sprites HTTP/1.1\r\nhost: localhost\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n",
    ] {
        check(request, 400, "MALFORMED_REQUEST");
    }
    let many = "x: y\r\n".repeat(300);
    let request = format!("GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\n{many}\r\n");
    check(&request, 431, "HEADERS_TOO_LARGE");
    // What was asked before is answered before.
    let mut stream = server.connect();
    stream
        .write_all(b"GET /health HTTP/1.1\r\nhost: localhost\r\n\r\n\x01\x02\r\n\r\n")
        .unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    assert!(text.contains("\"status\":\"healthy\""), "{text}");
    assert!(text.contains("\"code\":\"MALFORMED_REQUEST\""), "{text}");
    let metrics = String::from_utf8(server.host.call("GET", "/metrics").body).unwrap();
    let counted = "mizzen_http_requests_total{route=\"unknown\",method=\"other\",status=\"431\"} 1";
    assert!(metrics.contains(counted), "{metrics}");
}

/// Somebody who relies on what the server does not do is told so, before anything is done.
#[test]
fn an_expectation_that_nobody_meets_is_417() {
    let server = TestHost::new().listen();
    let body = sprite("SOL-FORGE").to_string();
    // As somebody who expects something does it: the body is held back.
    let post = |expect: &str, sent: &str| {
        let length = body.len();
        let mut stream = server.connect();
        write!(
            stream,
            "POST /v1/sprites HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\
             expect: {expect}\r\nconnection: close\r\n\r\n{sent}"
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text
    };
    for expect in ["200-ok", "100-continue, more", "100-continue=x", "\u{fc}"] {
        let said = post(expect, "");
        assert!(said.starts_with("HTTP/1.1 417 "), "{expect}: {said}");
        assert!(said.contains("\"code\":\"EXPECTATION_FAILED\""), "{said}");
    }
    for head in [
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\nexpect: more\r\n",
        "GET /nowhere HTTP/1.1\r\nhost: localhost\r\nexpect: more\r\n",
    ] {
        server.head(head).expect(417, "EXPECTATION_FAILED");
    }
    // Nothing was made by any of them. What is met is met: the body is asked for, in whatever case.
    let listed = server.host.call("GET", "/v1/sprites").expect(200, "");
    assert!(!listed.to_string().contains("SOL-FORGE"), "{listed}");
    let said = post("100-Continue", &body);
    let (first, rest) = said.split_once("\r\n\r\n").unwrap();
    assert_eq!(first, "HTTP/1.1 100 Continue");
    assert!(rest.starts_with("HTTP/1.1 201 "), "{rest}");
    server
        .head("GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nexpect: 100-continue\r\n")
        .expect(200, "");
}

#[test]
fn a_request_names_its_host_once() {
    let server = TestHost::new().listen();
    for head in [
        "GET /v1/sprites HTTP/1.1\r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n",
        "GET /v1/sprites HTTP/1.0\r\nhost: localhost\r\nhost: localhost\r\n",
        "GET http://localhost/v1/sprites HTTP/1.1\r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: evil@localhost\r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost:x@localhost\r\n",
        "GET http://evil@localhost/v1/sprites HTTP/1.1\r\nhost: localhost\r\n",
        "GET http://localhost/v1/sprites HTTP/1.1\r\nhost: evil.example\r\n",
        "GET http://localhost/v1/sprites HTTP/1.1\r\nhost: localhost:81\r\n",
        "GET http://evil.example/v1/sprites HTTP/1.1\r\nhost: localhost\r\n",
        "GET http://localhost/v1/sprites HTTP/1.1\r\nhost: \r\n",
        "GET /v1/sprites HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost\r\norigin: https://evil.example\r\n",
        "GET /health HTTP/1.0\r\norigin: null\r\norigin: null\r\n",
    ] {
        server.head(head).expect(400, "MALFORMED_REQUEST");
    }
    server
        .head("GET http://LOCALHOST/v1/sprites HTTP/1.1\r\nhost: localhost:80\r\n")
        .expect(200, "");
    server.head("GET /v1/sprites HTTP/1.0\r\n").expect(200, "");
    server
        .head("GET http://localhost/v1/sprites HTTP/1.1\r\nhost: localhost\r\n")
        .expect(200, "");
    server
        .head("GET http://evil.example/v1/sprites HTTP/1.1\r\nhost: evil.example\r\n")
        .expect(403, "FORBIDDEN");
}

#[test]
fn a_request_has_one_key() {
    let server = TestHost::new();
    let (_, key) = server.new_key(&["sprites:read"]);
    let bearer = format!("Bearer {key}");
    let (own, header) = (("authorization", bearer.as_str()), ("x-api-key", key.as_str()));
    let get = |headers: &[(&str, &str)]| server.send("GET", "/v1/sprites", headers, b"").status;
    assert_eq!([get(&[own]), get(&[header]), get(&[own, header])], [200; 3]);
    // Of two keys a proxy may have judged the other one.
    for headers in [
        &[header, header][..],
        &[header, ("x-api-key", "other")],
        &[("x-api-key", "other"), header],
        &[own, own],
        &[own, ("x-api-key", "other")],
        &[("authorization", "Bearer other"), header],
        &[("authorization", "Basic b3RoZXI="), header],
        &[own, header, header],
    ] {
        assert_eq!(get(headers), 401, "{headers:?}");
    }
}

#[test]
fn a_cursor_that_no_page_gave_does_not_begin_the_list_again() {
    let server = TestHost::new();
    server
        .call_json("POST", "/v1/sprites", &sprite("SOL-FORGE"))
        .expect(201, "");
    for (list, letter) in [("sprites", "s"), ("councils", "c"), ("executions", "x")] {
        for letter in [letter, ""] {
            let path = format!("/v1/{list}?cursor={letter}{}", "f".repeat(32));
            server.call("GET", &path).expect(400, "VALIDATION_ERROR");
        }
    }
    let beyond = format!("/v1/sprites?cursor=s7{}{}", "f".repeat(15), "0".repeat(16));
    let page = server.call("GET", &beyond).expect(200, "");
    assert_eq!(page["sprites"].as_array().unwrap().len(), 0);
}

#[test]
fn an_entity_tag_is_compared_as_it_was_given() {
    let server = TestHost::new();
    let made = server.call_json("POST", "/v1/sprites", &sprite("SOL-FORGE"));
    let tag = made.header("etag").unwrap().to_owned();
    let path = format!("/v1/sprites/{}", made.expect(201, "")["id"].as_str().unwrap());
    let number = tag.trim_matches('"');
    for other in [
        format!("\"+{number}\""),
        format!("\"0{number}\""),
        format!("W/{tag}"),
        number.to_owned(),
        String::new(),
    ] {
        server
            .send("DELETE", &path, &[("if-match", &other)], b"")
            .expect(412, "PRECONDITION_FAILED");
    }
    // Two fields are one list.
    let fields = [("if-match", "\"77\""), ("if-match", tag.as_str())];
    server.send("DELETE", &path, &fields, b"").expect(204, "");
}

#[test]
fn a_body_is_too_large_beyond_its_routes_limit_and_not_before() {
    let server = TestHost::new().listen();
    let package = ("content-type", "application/wasm");
    let body = vec![0; 17 << 20];
    // Read to its end; this host has no place for plugins.
    server
        .host
        .send("POST", "/v1/plugins", &[package], &body)
        .expect(409, "PLUGINS_NOT_CONFIGURED");
    let refused = server
        .host
        .send("POST", "/v1/sprites", &[JSON], &body[..3 << 20])
        .expect(413, "PAYLOAD_TOO_LARGE");
    assert_eq!(refused["details"]["limit"], 2 << 20);
    let head = format!(
        "POST /v1/plugins HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/wasm\r\ncontent-length: {}\r\n",
        (64 << 20) + 1
    );
    server.head(&head).expect(413, "PAYLOAD_TOO_LARGE");
}
