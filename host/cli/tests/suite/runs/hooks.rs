//! Hooks are delivered for real, to an endpoint on the loopback that the operator allows by name.

use crate::support::council::{capability, serve_with};
use crate::support::http::{Served, mizzen};
use crate::support::puppet::{Puppet, until};
use mizzen_catalog::key::PublicKey;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Arc, Mutex};

/// A request as it arrived.
#[derive(Clone)]
struct Received {
    path: String,
    headers: Vec<(String, String)>,
    body: String,
}

impl Received {
    fn header(&self, name: &str) -> &str {
        &self.headers.iter().find(|(found, _)| found == name).unwrap().1
    }
}

/// Records what is posted and answers with a status that can be changed. Paths that begin with `/dead` get no answer.
struct Endpoint {
    port: u16,
    status: Arc<AtomicU16>,
    received: Arc<Mutex<Vec<Received>>>,
}

impl Endpoint {
    fn start(status: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = Self {
            port: listener.local_addr().unwrap().port(),
            status: Arc::new(AtomicU16::new(status)),
            received: Arc::default(),
        };
        let (status, received) = (Arc::clone(&endpoint.status), Arc::clone(&endpoint.received));
        std::thread::spawn(move || {
            let mut held = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                let Some(request) = read(&stream) else { continue };
                let dead = request.path.starts_with("/dead");
                received.lock().unwrap().push(request);
                if dead {
                    held.push(stream);
                    continue;
                }
                let status = status.load(Ordering::SeqCst);
                let answer = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                let _ = (&stream).write_all(answer.as_bytes());
            }
        });
        endpoint
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn received(&self, path: &str) -> Vec<Received> {
        let all = self.received.lock().unwrap();
        all.iter().filter(|one| one.path == path).cloned().collect()
    }
}

fn read(stream: &TcpStream) -> Option<Received> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
            None => break,
        }
    }
    let length = headers.iter().find(|(name, _)| name == "content-length")?;
    let mut body = vec![0; length.1.parse().ok()?];
    reader.read_exact(&mut body).ok()?;
    Some(Received {
        path,
        headers,
        body: String::from_utf8(body).ok()?,
    })
}

fn rule(id: &str, hook: &str) -> Value {
    // Advisory: every rule matches, is told of, and the chain goes on.
    json!({"id": id, "name": id, "condition": "has(input.act)", "action": "deny", "enforcement": "advisory", "hook": hook})
}

fn deliveries(server: &Served, id: &str) -> Vec<Value> {
    let list = server.call("GET", &format!("/v1/executions/{id}/deliveries"));
    list.expect(200, "")["deliveries"].as_array().unwrap().clone()
}

fn settled(server: &Served, id: &str, rule: &str) -> Value {
    until(&format!("{rule} is settled"), || {
        let found = deliveries(server, id);
        let one = found.into_iter().find(|one| one["rule_id"] == rule)?;
        (one["state"] != "pending").then_some(one)
    })
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn look() -> Value {
    json!([capability("look", None)])
}

#[test]
fn hooks_are_delivered_signed_and_tried_again_and_a_dead_endpoint_holds_nobody_up() {
    let endpoint = Endpoint::start(500);
    let settings = format!(
        "[hooks]\nprivate_hosts = [\"127.0.0.1\"]\n[channels.slack]\nurl = {:?}\nsecret = \"shared\"\n",
        endpoint.url("/slack")
    );
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve_with(&data, &settings, |command| command);
    let dead = format!("webhook:{}", endpoint.url("/dead"));
    let rules = json!([
        rule("dead", &dead),
        rule("hook", &format!("webhook:{}", endpoint.url("/hook"))),
        rule("slack", "notify:slack:#alerts"),
        rule("pager", "notify:pager:ada"),
    ]);
    let puppet = Puppet::create(&server, rules, look());
    // An unknown channel is said when the council is made; it may be configured later.
    let warnings = puppet.made["warnings"].as_array().unwrap();
    let unknown = warnings
        .iter()
        .find(|one| one["code"] == "unknown_channel")
        .unwrap();
    assert_eq!(unknown["path"], "/rules/3/hook");
    assert!(unknown["message"].as_str().unwrap().contains("[channels.pager]"));
    assert_eq!(
        warnings
            .iter()
            .filter(|one| one["code"] == "unknown_channel")
            .count(),
        1
    );

    let done = puppet.execute(&server, "act", json!({})).expect(200, "");
    assert_eq!(done["status"], "completed");
    let id = done["execution_id"].as_str().unwrap();
    // The first try fails, visibly; then the endpoint recovers.
    until("a try of the hook failed", || {
        let found = deliveries(&server, id);
        found
            .into_iter()
            .find(|one| one["rule_id"] == "hook" && one["last_error"] == "the answer was 500")
    });
    endpoint.status.store(204, Ordering::SeqCst);
    for name in ["hook", "slack"] {
        let one = settled(&server, id, name);
        assert_eq!(one["state"], "delivered", "{one}");
        assert!(one["attempts"].as_u64().unwrap() >= 2 || name == "slack", "{one}");
    }
    assert_eq!(settled(&server, id, "pager")["state"], "failed");

    let hook = endpoint.received("/hook");
    assert!(hook.len() >= 2, "at least one failed and one arrived");
    assert!(
        hook.iter().all(
            |one| one.header("x-mizzen-delivery") == hook[0].header("x-mizzen-delivery")
                && one.body == hook[0].body
        ),
        "whoever gets it twice can tell"
    );
    let body: Value = serde_json::from_str(&hook[0].body).unwrap();
    assert_eq!(
        (&body["execution_id"], &body["rule"]["rule_id"]),
        (&json!(id), &json!("hook"))
    );
    // The signature is of the host's key, the one that seals runs.
    let key = PublicKey::parse(hook[0].header("x-mizzen-key")).unwrap();
    let signature: [u8; 64] = unhex(hook[0].header("x-mizzen-signature")).try_into().unwrap();
    let timestamp = hook[0].header("x-mizzen-timestamp");
    let signed = |timestamp: &str| format!("{timestamp}.{}", hook[0].body);
    let holds =
        |timestamp: &str| key.verifies_for("mizzen/hook/v2", signed(timestamp).as_bytes(), &signature);
    assert!(holds(timestamp) && !holds("1"), "the timestamp is signed, too");
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .unwrap();
    let age = now.as_secs().abs_diff(timestamp.parse().unwrap());
    assert!(age < 300, "{timestamp}");
    let agent = concat!("mizzen/", env!("CARGO_PKG_VERSION"));
    assert_eq!(hook[0].header("user-agent"), agent);
    let exported = mizzen()
        .args(["audit", "export", id, "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&exported.stderr).into_owned();
    assert!(said.contains(hook[0].header("x-mizzen-key")), "{said}");
    let slack = endpoint.received("/slack");
    let body: Value = serde_json::from_str(&slack[0].body).unwrap();
    assert_eq!(
        (&body["channel"], &body["target"]),
        (&json!("slack"), &json!("#alerts"))
    );
    assert!(slack[0].header("x-mizzen-signature-256").starts_with("sha256="));
    // The dead one waits or was given up, and held up nobody.
    let dead = deliveries(&server, id)
        .into_iter()
        .find(|one| one["rule_id"] == "dead")
        .unwrap();
    assert_ne!(dead["state"], "delivered");
}

#[test]
fn what_was_not_delivered_before_kill_9_is_delivered_after() {
    let endpoint = Endpoint::start(503);
    let settings = "[hooks]\nprivate_hosts = [\"127.0.0.1\"]\n";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve_with(&data, settings, |command| command);
    let rules = json!([rule("hook", &format!("webhook:{}", endpoint.url("/hook")))]);
    let puppet = Puppet::create(&server, rules, look());
    let done = puppet.execute(&server, "act", json!({})).expect(200, "");
    let id = done["execution_id"].as_str().unwrap().to_owned();
    until("it was tried", || endpoint.received("/hook").first().cloned());
    server.kill();
    endpoint.status.store(200, Ordering::SeqCst);
    let server = serve_with(&data, settings, |command| command);
    assert_eq!(settled(&server, &id, "hook")["state"], "delivered");
    let received = endpoint.received("/hook");
    assert!(received.len() >= 2);
    assert_eq!(
        received[0].header("x-mizzen-delivery"),
        received[1].header("x-mizzen-delivery")
    );
}

/// W21: what was given up can be sent again, and an address that will never be reached is warned of.
#[test]
fn a_hook_that_was_given_up_is_delivered_again_when_somebody_asks() {
    let endpoint = Endpoint::start(200);
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve_with(&data, "", |command| command);
    let rules = json!([rule("hook", &format!("webhook:{}", endpoint.url("/hook")))]);
    let puppet = Puppet::create(&server, rules, look());
    let warnings = puppet.made["warnings"].as_array().unwrap();
    let private = warnings.iter().find(|one| one["code"] == "private_hook").unwrap();
    assert_eq!(private["path"], "/rules/0/hook");
    assert!(
        private["message"]
            .as_str()
            .unwrap()
            .contains("private_hosts of [hooks]")
    );
    let done = puppet.execute(&server, "act", json!({})).expect(200, "");
    let id = done["execution_id"].as_str().unwrap().to_owned();
    let failed = settled(&server, &id, "hook");
    assert_eq!(failed["state"], "failed");
    let again = |server: &Served, number: &Value| {
        let path = format!("/v1/executions/{id}/deliveries/{number}/redeliver");
        server.call_json("POST", &path, &json!({}))
    };
    again(&server, &json!(999_999)).expect(404, "DELIVERY_NOT_FOUND");
    again(&server, &json!(-1)).expect(400, "VALIDATION_ERROR");
    server.terminate();

    // The operator allows the host; now it would arrive.
    let server = serve_with(&data, "[hooks]\nprivate_hosts = [\"127.0.0.1\"]\n", |command| {
        command
    });
    assert!(endpoint.received("/hook").is_empty());
    let pending = again(&server, &failed["number"]).expect(202, "");
    assert_eq!(
        (&pending["state"], &pending["attempts"]),
        (&json!("pending"), &json!(0))
    );
    assert_eq!(settled(&server, &id, "hook")["state"], "delivered");
    assert_eq!(endpoint.received("/hook").len(), 1);
    again(&server, &failed["number"]).expect(409, "DELIVERY_CONFLICT");
    let log = server
        .call("GET", "/v1/audit?action=redeliver_hook")
        .expect(200, "");
    assert_eq!(log["entries"].as_array().unwrap().len(), 1);
    server
        .call("DELETE", &format!("/v1/executions/{id}"))
        .expect(204, "");
    again(&server, &failed["number"]).expect(410, "EXECUTION_ERASED");
}

#[test]
fn settings_for_hooks_that_make_no_sense_stop_the_start_and_say_why() {
    for (settings, said) in [
        (
            "[hooks]\nprivate_hosts = [\"127.0.0.1:8080\"]\n",
            "without a port",
        ),
        ("[hooks]\nprivate = []\n", "unknown field"),
        (
            "[channels.Slack]\nurl = \"https://a.example/\"\n",
            "small letters",
        ),
        (
            "[channels.slack]\nurl = \"ftp://a.example/\"\n",
            "channels.slack.url",
        ),
        ("[channels.slack]\n", "url"),
        (
            "[channels.slack]\nurl = \"https://a.example/\"\nsecret = { env = \"MIZZEN_TEST_NO_SUCH\" }\n",
            "MIZZEN_TEST_NO_SUCH",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("host.toml");
        std::fs::write(&config, settings).unwrap();
        let output = mizzen()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.path().join("data"))
            .arg("--config")
            .arg(&config)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{settings}");
        assert!(error.contains(said), "{settings}: {error}");
    }
}
