//! Hosts that earlier versions have left: their journals, databases and packages are read, verified, replayed, served and continued
//! unchanged. `../written-by/README.md` says what is in such a host and how the next one is made.

mod fixture;
mod scenario;

use crate::support::http::{Answer, Served, mizzen};
use fixture::{Fixture, Left};
use serde_json::{Value, json};
use std::path::Path;

/// Whether everything that was recorded is still there. Members may have been added to objects; nothing may have changed or gone.
#[track_caller]
fn assert_kept(what: &str, recorded: &Value, found: &Value) {
    let differences = differences(recorded, found, "");
    assert!(differences.is_empty(), "{what}: {differences:#?}");
}

fn differences(recorded: &Value, found: &Value, path: &str) -> Vec<String> {
    match (recorded, found) {
        (Value::Object(recorded), Value::Object(found)) => recorded
            .iter()
            .flat_map(|(name, value)| {
                let path = format!("{path}/{name}");
                match found.get(name) {
                    Some(found) => differences(value, found, &path),
                    None => vec![format!("{path} is gone, it was {value}")],
                }
            })
            .collect(),
        (Value::Array(recorded), Value::Array(found)) if recorded.len() == found.len() => recorded
            .iter()
            .zip(found)
            .enumerate()
            .flat_map(|(index, (recorded, found))| differences(recorded, found, &format!("{path}/{index}")))
            .collect(),
        _ if recorded == found => Vec::new(),
        _ => vec![format!("{path} was {recorded} and is {found}")],
    }
}

/// A client with a key.
struct Client<'a> {
    server: &'a Served,
    authorization: String,
}

impl<'a> Client<'a> {
    fn new(server: &'a Served, key: &str) -> Self {
        Self {
            server,
            authorization: format!("Bearer {key}"),
        }
    }

    fn get(&self, path: &str) -> Answer {
        let headers = [("authorization", self.authorization.as_str())];
        self.server.send("GET", path, &headers, b"")
    }

    fn delete(&self, path: &str) -> Answer {
        let headers = [("authorization", self.authorization.as_str())];
        self.server.send("DELETE", path, &headers, b"")
    }

    fn post(&self, path: &str, body: &Value) -> Answer {
        self.post_with(path, body, &[])
    }

    fn post_with(&self, path: &str, body: &Value, more: &[(&str, &str)]) -> Answer {
        let mut headers = vec![
            ("authorization", self.authorization.as_str()),
            ("content-type", "application/json"),
        ];
        headers.extend(more);
        self.server
            .send("POST", path, &headers, body.to_string().as_bytes())
    }

    /// An execution as it is now.
    fn shown(&self, id: &str) -> Value {
        self.get(&format!("/v1/executions/{id}")).expect(200, "")
    }

    /// An execution, once it has ended: its stream of events ends with it.
    fn ended(&self, id: &str) -> Value {
        assert_eq!(self.get(&format!("/v1/executions/{id}/events")).status, 200);
        self.shown(id)
    }

    /// Answers what an execution waits for.
    fn decide(&self, waiting: &Value, decision: &str) -> Value {
        let id = waiting["execution_id"].as_str().unwrap();
        let body = json!({
            "decision": decision, "reason": "looked at it", "escalation_id": waiting["escalation"]["escalation_id"],
        });
        self.post(&format!("/v1/executions/{id}/decision"), &body)
            .expect(200, "");
        self.ended(id)
    }
}

/// How a replay ends.
fn replay(run: &str, data: &Path, more: &[&str]) -> (Option<i32>, Value) {
    let output = mizzen()
        .args(["run", "replay", run, "--json", "--data"])
        .arg(data)
        .args(more)
        .output()
        .unwrap();
    let report = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output.status.code(), report)
}

fn verifies(export: &Path, key: &str) -> bool {
    let arguments = ["audit", "verify", export.to_str().unwrap(), "--key", key];
    mizzen().args(arguments).output().unwrap().status.success()
}

/// The entries of an export, byte by byte, its seal, and what was erased of it.
fn records(export: &Value) -> (&Value, &Value, Option<&Value>) {
    (&export["entries"], &export["seal"], export.get("erased"))
}

/// The exports that the version itself has made.
fn check_exports(fixture: &Fixture) {
    for (name, run) in fixture.runs() {
        let Some(file) = fixture.export(name) else {
            assert!(run.is_open(), "{name} has ended and was not exported");
            continue;
        };
        assert!(verifies(&file, fixture.host_key()), "{name} does not verify");
        let path = file.to_str().unwrap();
        let (code, report) = replay(path, Path::new("nowhere"), &["--key", fixture.host_key()]);
        if run.is_erased() {
            assert_eq!(code, Some(1), "{name} is erased: {report}");
            continue;
        }
        assert_eq!(code, Some(0), "{name}: {report}");
        assert_eq!(report["seal"], "holds", "{name}");
        assert_eq!(report["status"], run.shown["status"], "{name}");
    }
}

/// The folder, before a host was started on it.
fn check_folder(left: &Left, fixture: &Fixture) {
    for (name, run) in fixture.runs() {
        let (code, report) = replay(&run.id, &left.data(), &[]);
        if run.is_erased() {
            assert_eq!(code, Some(1), "{name} is erased: {report}");
        } else {
            assert_eq!(code, Some(0), "{name}: {report}");
        }
        if let Some(file) = fixture.export(name) {
            let exported: Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
            assert!(
                exported["entries"].is_array() && exported["seal"].is_object(),
                "{name}"
            );
            assert_eq!(exported.get("erased").is_some(), run.is_erased(), "{name}");
            let (_, found, _) = left.export(&run.id);
            assert_eq!(
                records(&found),
                records(&exported),
                "{name} is exported otherwise"
            );
        }
    }
    left.yes(&["db", "check"]);
}

/// What a host serves of it.
fn check_served(client: &Client<'_>, fixture: &Fixture) {
    let health = client.get("/health").expect(200, "");
    assert_eq!(
        health["load_plan_hash"], fixture.recorded["load_plan_hash"],
        "the packages are other ones"
    );
    for (name, run) in fixture.runs().filter(|(_, run)| !run.is_open()) {
        assert_kept(name, &run.shown, &client.shown(&run.id));
    }
    for (path, recorded) in fixture.recorded["lists"].as_object().unwrap() {
        assert_kept(path, recorded, &client.get(path).expect(200, ""));
    }
    // The newest come first, and this host has written some of its own.
    let audit = client.get("/v1/audit?limit=100").expect(200, "");
    let (found, recorded) = (&audit["entries"], &fixture.recorded["audit"]);
    let (found, recorded) = (found.as_array().unwrap(), recorded.as_array().unwrap());
    let kept = found.len().checked_sub(recorded.len()).unwrap();
    assert_kept("the audit log", &json!(recorded), &json!(found[kept..]));
}

/// What was open goes on: one was under way when its host was killed, two wait for a person.
fn check_open_runs(client: &Client<'_>, fixture: &Fixture) -> Vec<String> {
    // Its chain's ten minutes were up long ago, so it is not called again and nothing is said of its outcome.
    let timed_out = client.ended(&fixture.run("under way").id);
    assert_eq!(
        (&timed_out["status"], &timed_out["error"]["code"]),
        (&json!("failed"), &json!("TIMEOUT")),
        "{timed_out}"
    );
    let mut ended = vec![timed_out["execution_id"].as_str().unwrap().to_owned()];
    for (name, decision, status) in [
        ("waits for a rule", "approve", "completed"),
        ("waits for a pack", "deny", "vetoed"),
    ] {
        let run = fixture.run(name);
        let waiting = client.shown(&run.id);
        assert_kept(name, &run.shown, &waiting);
        let decided = client.decide(&waiting, decision);
        assert_eq!(decided["status"], status, "{name}: {decided}");
        ended.push(run.id.clone());
    }
    ended
}

/// What its plugins kept is there, and its packages still work.
fn check_packages(client: &Client<'_>, fixture: &Fixture) {
    let run = |chain: &str, input: Value| {
        let body = json!({
            "council_id": fixture.recorded["council"], "chain_id": fixture.recorded["chains"][chain], "input": input,
        });
        client.post("/v1/chains/execute", &body)
    };
    let counted = run("count", json!({"act": "answer", "order": "kept"})).expect(200, "");
    assert_eq!(counted["steps"][0]["output"]["calls"], 1, "{counted}");
    run("act", json!({"act": "answer", "order": "new", "severity": 5})).expect(409, "PACK_VETO");
    let redacted = run("act", json!({"act": "answer", "order": "new TOPSECRET7"})).expect(200, "");
    assert_eq!(
        redacted["steps"][0]["output"]["order"], "new [redacted]",
        "{redacted}"
    );
}

#[test]
fn what_an_earlier_version_has_left_is_read_served_and_continued_unchanged() {
    if std::env::var_os("MIZZEN_WRITE_HOST").is_some() {
        let written = scenario::write();
        panic!("{written:?} is written; look at it, and run the test without MIZZEN_WRITE_HOST");
    }
    let fixtures = Fixture::all();
    assert!(!fixtures.is_empty(), "there is no host of an earlier version");
    for fixture in fixtures {
        check_exports(&fixture);
        let left = fixture.unpack();
        check_folder(&left, &fixture);

        let server = left.serve();
        let client = Client::new(&server, fixture.key());
        check_served(&client, &fixture);
        Client::new(&server, fixture.revoked_key())
            .get("/v1/sprites")
            .expect(401, "UNAUTHENTICATED");
        let ended = check_open_runs(&client, &fixture);
        check_packages(&client, &fixture);
        assert!(server.terminate().success());

        for id in &ended {
            let (file, _, key) = left.export(id);
            assert_eq!(key, fixture.host_key(), "the host has another key");
            assert!(verifies(&file, &key), "{id} does not verify");
            assert_eq!(replay(id, &left.data(), &[]).0, Some(0), "{id}");
        }
        left.yes(&["doctor", "--audit-head", fixture.audit_head()]);
    }
}
