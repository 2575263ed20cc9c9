//! What takes long ends with the key that began it (R14).

use crate::support::council::{capability, serve_with};
use crate::support::http::{Served, read_answer};
use crate::support::puppet::{Puppet, until};
use crate::support::verb::{key, new_key};
use serde_json::{Value, json};
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

/// The part of a key that names it.
fn id(key: &str) -> &str {
    key.rsplit_once('_').unwrap().0
}

fn sql(data: &Path, statement: &str) {
    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    database.busy_timeout(Duration::from_secs(60)).unwrap();
    database.execute(statement, []).unwrap();
}

struct Waiting {
    _folder: tempfile::TempDir,
    server: Served,
    puppet: Puppet,
    run: String,
    escalation: Value,
}

/// A server without keys, and a run that waits for a person.
fn waiting(sections: &str) -> Waiting {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_with(&folder.path().join("data"), sections, |command| command);
    let rules = json!([{"id": "ask", "name": "ask", "condition": "has(input.risky)", "action": "escalate"}]);
    let puppet = Puppet::create(&server, rules, json!([capability("look", None)]));
    let made = puppet
        .execute(&server, "act", json!({"risky": true}))
        .expect(202, "");
    Waiting {
        _folder: folder,
        server,
        puppet,
        run: format!("/v1/executions/{}", made["execution_id"].as_str().unwrap()),
        escalation: made["escalation"]["escalation_id"].clone(),
    }
}

/// A stream of events, as far as it was read.
struct Following {
    stream: TcpStream,
    text: String,
}

impl Following {
    fn begin(waiting: &Waiting, key: Option<&str>) -> Self {
        let mut stream = TcpStream::connect(&waiting.server.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(1))).unwrap();
        let key = key.map_or(String::new(), |key| format!("authorization: Bearer {key}\r\n"));
        let run = &waiting.run;
        write!(
            stream,
            "GET {run}/events HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{key}\r\n"
        )
        .unwrap();
        Self {
            stream,
            text: String::new(),
        }
    }

    /// Reads what comes next; false at the end.
    fn more(&mut self) -> bool {
        let mut bytes = [0; 4_096];
        match self.stream.read(&mut bytes) {
            Ok(0) => false,
            Ok(count) => {
                self.text.push_str(std::str::from_utf8(&bytes[..count]).unwrap());
                true
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => true,
            Err(_) => false,
        }
    }

    fn until_contains(&mut self, wanted: &str) {
        let patience = Instant::now() + Duration::from_secs(60);
        while !self.text.contains(wanted) {
            assert!(
                self.more() && Instant::now() < patience,
                "{wanted}: {}",
                self.text
            );
        }
    }

    fn until_the_end(&mut self) {
        let patience = Instant::now() + Duration::from_secs(60);
        while self.more() {
            assert!(Instant::now() < patience, "the stream goes on: {}", self.text);
        }
    }
}

#[test]
fn an_event_stream_gives_nothing_more_to_a_key_that_was_revoked() {
    let waiting = waiting("");
    let data = &waiting.server.data;
    let reader = new_key(data, &["runs:read"]);
    let admin = new_key(data, &["admin"]);
    let mut revoked = Following::begin(&waiting, Some(&reader));
    let mut live = Following::begin(&waiting, Some(&admin));
    revoked.until_contains("event: started");
    live.until_contains("event: started");
    assert!(key(data, &["revoke", id(&reader)]).status.success());
    let answer = json!({"decision": "deny", "reason": "no", "escalation_id": waiting.escalation}).to_string();
    let bearer = format!("Bearer {admin}");
    let headers = [
        ("content-type", "application/json"),
        ("authorization", bearer.as_str()),
    ];
    let decision = format!("{}/decision", waiting.run);
    waiting
        .server
        .send("POST", &decision, &headers, answer.as_bytes())
        .expect(200, "");
    live.until_contains("event: decided");
    revoked.until_the_end();
    assert!(!revoked.text.contains("event: decided"), "{}", revoked.text);
}

#[test]
fn a_quiet_event_stream_ends_when_its_key_expires_or_loses_its_grant_or_keys_begin() {
    let waiting = waiting("");
    let data = &waiting.server.data;
    let mut local = Following::begin(&waiting, None);
    local.until_contains("event: started");
    let expiring = key(data, &["new", "--grant", "runs:read", "--days", "1"]);
    let expiring = String::from_utf8(expiring.stdout).unwrap().trim().to_owned();
    local.until_the_end();
    let narrowed = new_key(data, &["runs:read"]);
    let mut first = Following::begin(&waiting, Some(&expiring));
    let mut second = Following::begin(&waiting, Some(&narrowed));
    first.until_contains("event: started");
    second.until_contains("event: started");
    sql(
        data,
        "UPDATE api_keys SET expires_at = 1 WHERE expires_at IS NOT NULL",
    );
    first.until_the_end();
    sql(
        data,
        "UPDATE api_keys SET grants = replace(grants, 'runs:read', 'sprites:read')",
    );
    second.until_the_end();
}

#[test]
fn a_key_that_is_revoked_does_not_get_what_it_waits_for() {
    let waiting = waiting("");
    let data = &waiting.server.data;
    let starter = new_key(data, &["runs:start"]);
    let admin = new_key(data, &["admin"]);
    let body = waiting
        .puppet
        .request("act", json!({"act": "wait", "order": "long"}))
        .to_string();
    let mut stream = TcpStream::connect(&waiting.server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(
        stream,
        "POST /v1/chains/execute HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {starter}\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let bearer = format!("Bearer {admin}");
    let admin = [("authorization", bearer.as_str())];
    let running = || {
        let list = waiting
            .server
            .send("GET", "/v1/executions?status=running", &admin, b"")
            .expect(200, "");
        list["executions"].as_array().unwrap().first().cloned()
    };
    until("the run begins", running);
    assert!(key(data, &["revoke", id(&starter)]).status.success());
    read_answer(&mut stream, "POST")
        .unwrap()
        .expect(401, "UNAUTHENTICATED");
    // The run goes on without it.
    let run = running().expect("it goes on");
    let cancel = format!("/v1/executions/{}/cancel", run["execution_id"].as_str().unwrap());
    waiting.server.send("POST", &cancel, &admin, b"").expect(200, "");
}

#[test]
fn one_key_cannot_take_all_event_streams() {
    let waiting = waiting("[server]\nevent_streams = 8\n");
    let data = &waiting.server.data;
    let greedy = new_key(data, &["runs:read"]);
    let honest = new_key(data, &["runs:read"]);
    let mut held: Vec<Following> = (0..2)
        .map(|_| Following::begin(&waiting, Some(&greedy)))
        .collect();
    for stream in &mut held {
        stream.until_contains("event: started");
    }
    let events = format!("{}/events", waiting.run);
    let bearer = format!("Bearer {greedy}");
    let greedy = [("authorization", bearer.as_str())];
    let refused = waiting.server.send("GET", &events, &greedy, b"");
    assert!(refused.header("retry-after").is_some());
    refused.expect(503, "TOO_MANY_EVENT_STREAMS");
    Following::begin(&waiting, Some(&honest)).until_contains("event: started");
    drop(held);
    until("the streams are given back", || {
        let mut again = Following::begin(&waiting, Some(bearer.strip_prefix("Bearer ")?));
        again.more();
        again.text.starts_with("HTTP/1.1 200").then_some(())
    });
}
