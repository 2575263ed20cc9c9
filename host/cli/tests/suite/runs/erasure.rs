//! Retention and erasure: what callers and plugins wrote is in no file afterwards, and what is kept still verifies and says what is gone.

use crate::support::council::{Council, serve, serve_with};
use crate::support::host::keeps;
use crate::support::http::{Served, mizzen};
use crate::support::verb::new_key;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

/// Waits for something that the host does by itself.
fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn id_of(answer: &Value) -> String {
    answer["execution_id"].as_str().unwrap().to_owned()
}

fn place_of(id: &str) -> String {
    format!("/v1/executions/{id}")
}

fn verb(data: &Path, arguments: &[&str]) -> Output {
    mizzen()
        .args(arguments)
        .arg("--data")
        .arg(data)
        .current_dir(data.parent().unwrap())
        .output()
        .unwrap()
}

/// What a verb prints that must say yes.
fn yes(data: &Path, arguments: &[&str]) -> String {
    let output = verb(data, arguments);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// What a verb complains of that must say no.
fn no(data: &Path, arguments: &[&str]) -> String {
    let output = verb(data, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn export(data: &Path, id: &str) -> (PathBuf, Value, String) {
    let file = data.parent().unwrap().join(format!("{id}.json"));
    let output = verb(data, &["audit", "export", id, "--output", file.to_str().unwrap()]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    let key = said
        .lines()
        .find_map(|line| line.strip_prefix("host key: "))
        .unwrap()
        .to_owned();
    let document = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    (file, document, key)
}

fn verify(file: &Path, key: &str) -> Output {
    let arguments = ["audit", "verify", file.to_str().unwrap(), "--key", key];
    mizzen().args(arguments).output().unwrap()
}

#[test]
fn what_was_erased_is_in_no_file_and_what_is_kept_still_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let council = Council::create(&server);
    let erased = council.request("completes", &json!({"text": "WIPE4711 a b"}));
    let send = |body: &Value| {
        let headers = [("content-type", "application/json"), ("idempotency-key", "once")];
        server.send(
            "POST",
            "/v1/chains/execute",
            &headers,
            body.to_string().as_bytes(),
        )
    };
    let id = id_of(&send(&erased).expect(200, ""));
    let kept = id_of(
        &council
            .execute(&server, "completes", json!({"text": "KEPT4712 a b"}))
            .expect(200, ""),
    );
    assert!(keeps(&data, "WIPE4711") && keeps(&data, "KEPT4712"));
    let whole = export(&data, &id).1;
    let before = server.call("GET", "/v1/executions").expect(200, "");

    server.call("DELETE", &place_of(&id)).expect(204, "");
    server.call("DELETE", &place_of(&id)).expect(204, "");
    eventually("it is in a file", || !keeps(&data, "WIPE4711"));
    assert!(keeps(&data, "KEPT4712"));

    let shown = server.call("GET", &place_of(&id)).expect(200, "");
    assert_eq!(shown["status"], "completed");
    assert_eq!(shown["steps"], json!([]));
    assert_eq!(shown["erased"]["by"], "local");
    assert_eq!(
        shown["erased"]["entries"].as_u64(),
        whole["entries"].as_array().map(|entries| entries.len() as u64)
    );
    let after = server.call("GET", "/v1/executions").expect(200, "");
    assert_eq!(before["total"], after["total"]);
    server
        .call("GET", &format!("{}/events", place_of(&id)))
        .expect(410, "EXECUTION_ERASED");
    // The answer to a request that is sent again names the same execution.
    assert_eq!(send(&erased).expect(200, ""), shown);
    let nobody = "/v1/executions/00000000-0000-4000-8000-000000000000";
    server.call("DELETE", nobody).expect(404, "EXECUTION_NOT_FOUND");

    let (file, document, key) = export(&data, &id);
    for (entry, was) in document["entries"]
        .as_array()
        .unwrap()
        .iter()
        .zip(whole["entries"].as_array().unwrap())
    {
        assert_eq!(entry, &json!({"hash": was["hash"]}));
    }
    assert_eq!(document["seal"], whole["seal"]);
    let verified = verify(&file, &key);
    let said = String::from_utf8(verified.stdout).unwrap();
    assert!(verified.status.success() && said.contains("erased at "), "{said}");
    assert!(said.contains("by local"), "{said}");

    // Every part of what is left is held against the signatures.
    type Change = fn(&mut Value, &Value);
    let other = export(&data, &kept).1;
    let changes: [(&str, Change); 8] = [
        ("a hash", |document, other| {
            document["entries"][0]["hash"] = other["entries"][0]["hash"].clone();
        }),
        ("the last hash", |document, _| {
            let entries = document["entries"].as_array_mut().unwrap();
            let first = entries[0].clone();
            *entries.last_mut().unwrap() = first;
        }),
        ("one hash less", |document, _| {
            drop(document["entries"].as_array_mut().unwrap().pop());
        }),
        ("a body", |document, _| {
            document["entries"][0]["bytes"] = json!("{}")
        }),
        ("a result", |document, _| document["result"] = json!("{}")),
        ("another seal", |document, other| {
            document["seal"] = other["seal"].clone()
        }),
        ("who erased it", |document, _| {
            let statement = document["erased"]["statement"].as_str().unwrap();
            document["erased"]["statement"] = json!(statement.replace("local", "nobody"));
        }),
        ("no word of it", |document, _| {
            drop(document.as_object_mut().unwrap().remove("erased"));
        }),
    ];
    for (what, change) in changes {
        let mut changed = document.clone();
        change(&mut changed, &other);
        std::fs::write(&file, changed.to_string()).unwrap();
        assert_eq!(verify(&file, &key).status.code(), Some(1), "{what}");
    }
    std::fs::write(&file, document.to_string()).unwrap();
    assert!(no(&data, &["run", "replay", &id]).contains("erased"));
    assert!(no(&data, &["run", "replay", file.to_str().unwrap()]).contains("erased"));
    yes(&data, &["run", "replay", &kept]);
    let said = yes(&data, &["doctor"]);
    assert!(said.contains("2 ended executions (1 of them erased)"), "{said}");
    let log = yes(&data, &["audit", "log", "--action", "erase_execution", "--json"]);
    assert!(log.contains(&id), "{log}");
}

#[test]
fn an_open_execution_is_not_erased_and_a_council_is_erased_without_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let council = Council::create(&server);
    let run = |input: Value| council.execute(&server, "completes", input);
    for number in 0..3 {
        run(json!({"text": format!("WIPE4711 {number}")})).expect(200, "");
    }
    // Its hook is given up at once, since it leads to a private address.
    run(json!({"text": "WIPE4711", "secret": 1})).expect(409, "RULE_DENIED");
    let open = id_of(&run(json!({"text": "OPEN4712", "risky": 1})).expect(202, ""));
    server
        .call("DELETE", &place_of(&open))
        .expect(409, "EXECUTION_OPEN");

    let all = server
        .call("DELETE", "/v1/executions")
        .expect(400, "VALIDATION_ERROR");
    assert_eq!(all["details"]["parameter"], "council_id");
    let of_council = format!("/v1/executions?council_id={}", council.id);
    let erase = |query: &str| {
        server
            .call("DELETE", &format!("{of_council}{query}"))
            .expect(200, "")
    };
    let none = erase("&until=2026-01-01T00:00:00Z");
    assert_eq!((&none["erased"], &none["more"]), (&json!(0), &json!(false)));
    let other = "/v1/executions?council_id=00000000-0000-4000-8000-000000000000";
    assert_eq!(server.call("DELETE", other).expect(200, "")["erased"], 0);
    assert_eq!(erase(""), json!({"erased": 4, "open": 1, "more": false}));
    assert_eq!(erase("")["erased"], 0);
    eventually("it is in a file", || !keeps(&data, "WIPE4711"));
    assert!(keeps(&data, "OPEN4712"));

    server
        .call_json("POST", &format!("{}/cancel", place_of(&open)), &json!({}))
        .expect(200, "");
    server.call("DELETE", &place_of(&open)).expect(204, "");
    eventually("it is in a file", || !keeps(&data, "OPEN4712"));
    assert!(yes(&data, &["doctor"]).contains("5 ended executions (5 of them erased)"));
    // Nothing is left of the council's document but in the council itself.
    server
        .call("DELETE", &format!("/v1/councils/{}?force=true", council.id))
        .expect(204, "");
    drop(server);
    yes(&data, &["db", "check"]);
    let rows = yes(&data, &["db", "info"]);
    assert!(rows.contains("run_events        0 rows"), "{rows}");
}

#[test]
fn erasing_takes_a_grant_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let council = Council::create(&server);
    let id = id_of(
        &council
            .execute(&server, "completes", json!({"text": "a"}))
            .expect(200, ""),
    );
    let key = |grants: &[&str]| new_key(&data, grants);
    let others = key(&[
        "runs:start",
        "runs:read",
        "runs:cancel",
        "runs:respond",
        "councils:write",
    ]);
    let eraser = key(&["runs:erase"]);
    let many = format!("/v1/executions?council_id={}", council.id);
    for path in [place_of(&id), many] {
        let send = |key: &str| server.send("DELETE", &path, &[("x-api-key", key)], b"");
        send(&others).expect(403, "FORBIDDEN");
        assert!(send(&eraser).status < 300);
    }
}

#[test]
fn executions_are_erased_when_they_were_kept_for_long_enough() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve_with(&data, "[store]\nkeep = \"1s\"\n", |command| command);
    let council = Council::create(&server);
    for text in ["WIPE4711 first", "WIPE4711 second"] {
        let id = id_of(
            &council
                .execute(&server, "completes", json!({"text": text}))
                .expect(200, ""),
        );
        eventually("it is kept for longer", || {
            let shown = server.call("GET", &place_of(&id)).expect(200, "");
            shown["erased"]["by"] == "retention"
        });
    }
    eventually("it is in a file", || !keeps(&data, "WIPE4711"));
    server.terminate();
    // One that ended while nobody served is erased at the next start.
    let server = serve(&data);
    let id = id_of(
        &council
            .execute(&server, "completes", json!({"text": "WIPE4711 third"}))
            .expect(200, ""),
    );
    server.terminate();
    std::thread::sleep(Duration::from_millis(1_100));
    let server = serve_with(&data, "[store]\nkeep = \"1s\"\n", |command| command);
    eventually("it is kept for longer", || {
        server.call("GET", &place_of(&id)).expect(200, "")["erased"].is_object()
    });
    server.terminate();
    for keep in ["0s", "90", "soon", "-1d"] {
        let config = folder.path().join("mizzen.toml");
        std::fs::write(&config, format!("[store]\nkeep = \"{keep}\"\n")).unwrap();
        let refused = verb(&data, &["serve", "--listen", "127.0.0.1:0"]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && said.contains("store.keep"), "{said}");
    }
}

/// A database as builds made it that could not give space back.
fn make_old(data: &Path) {
    std::fs::create_dir_all(data).unwrap();
    let old = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    old.execute_batch("PRAGMA journal_mode = WAL; PRAGMA application_id = 0x6d7a6e31;")
        .unwrap();
}

/// Runs of some 200 KB each, then no server any more.
fn history(data: &Path, runs: usize) -> String {
    let server = serve(data);
    let council = Council::create(&server);
    let text = "WIPE4711 ".repeat(4_000);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..runs / 4 {
                    let answer = council.execute(&server, "completes", json!({"text": text}));
                    answer.expect(200, "");
                }
            });
        }
    });
    server.terminate();
    council.id
}

fn database_bytes(data: &Path) -> u64 {
    std::fs::metadata(data.join("mizzen.db")).unwrap().len()
}

fn erased_of(data: &Path) -> u64 {
    let report: Value = serde_json::from_str(&yes(data, &["doctor", "--json"])).unwrap();
    assert_eq!(report["problems"], json!([]));
    report["verified"]["erased"].as_u64().unwrap()
}

#[test]
fn a_prune_that_is_killed_has_erased_some_executions_whole_and_the_next_one_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let council = history(&data, 48);
    let before = database_bytes(&data);
    let usage = verb(&data, &["db", "prune"]);
    assert_eq!(usage.status.code(), Some(2), "nothing says what to erase");
    let dry = yes(&data, &["db", "prune", "--council", &council, "--dry-run"]);
    assert_eq!(dry, "would erase 48 executions\n");
    let old = yes(&data, &["db", "prune", "--before", "1h", "--dry-run", "--json"]);
    let old: Value = serde_json::from_str(&old).unwrap();
    assert_eq!(old["would_erase"], 0, "{old}");
    assert_eq!(erased_of(&data), 0);

    let mut prune = mizzen()
        .args(["db", "prune", "--council", &council, "--data"])
        .arg(&data)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut progress = BufReader::new(prune.stderr.take().unwrap());
    let mut line = String::new();
    progress.read_line(&mut line).unwrap();
    prune.kill().unwrap();
    prune.wait().unwrap();
    let mut rest = String::new();
    progress.read_to_string(&mut rest).unwrap();
    assert!(line.contains("executions erased so far"), "{line}{rest}");
    let erased = erased_of(&data);
    assert!((1..48).contains(&erased), "{erased}");

    let said = yes(&data, &["db", "prune", "--council", &council]);
    assert!(
        said.starts_with(&format!("erased {} executions; ", 48 - erased)),
        "{said}"
    );
    assert_eq!(erased_of(&data), 48);
    assert!(!keeps(&data, "WIPE4711"));
    let after = database_bytes(&data);
    assert!(after < before / 4, "{before} bytes before, {after} after");
}

#[test]
fn a_database_of_an_earlier_build_is_written_anew_when_no_server_uses_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    make_old(&data);
    history(&data, 12);
    let before = database_bytes(&data);
    let server = serve(&data);
    let said = yes(&data, &["db", "prune", "--before", "0s"]);
    assert!(
        said.starts_with("erased 12 executions") && said.contains("stop the server"),
        "{said}"
    );
    server.call("GET", "/v1/executions").expect(200, "");
    server.terminate();
    let said = yes(&data, &["db", "prune", "--before", "0s"]);
    assert!(
        said.starts_with("erased 0 executions") && !said.contains("stop the server"),
        "{said}"
    );
    let after = database_bytes(&data);
    assert!(after < before / 4, "{before} bytes before, {after} after");
    assert!(!keeps(&data, "WIPE4711"));
    assert_eq!(erased_of(&data), 12);
}

#[test]
fn a_host_is_served_while_its_history_is_pruned() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let council_id = history(&data, 24);
    let server: Served = serve(&data);
    let council = server
        .call("GET", &format!("/v1/councils/{council_id}"))
        .expect(200, "");
    let request = json!({"council_id": council_id, "chain_id": council["chains"][0]["id"], "input": {"text": "KEPT4712"}});
    let prune = mizzen()
        .args(["db", "prune", "--before", "0s", "--data"])
        .arg(&data)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    for _ in 0..20 {
        server
            .call_json("POST", "/v1/chains/execute", &request)
            .expect(200, "");
    }
    let said = prune.wait_with_output().unwrap();
    assert!(said.status.success());
    eventually("it is in a file", || !keeps(&data, "WIPE4711"));
    assert!(keeps(&data, "KEPT4712"));
    assert!(erased_of(&data) >= 24);
}
