//! Runs when something outside of them fails: readers, callers, the disk, the store. Each ends as the documents say.

use crate::support::council::{offline, serve, serve_with};
use crate::support::http::{Served, mizzen, read_answer};
use crate::support::programs;
use crate::support::puppet::{Puppet, ended, shown, until};
use crate::support::shim;
use serde_json::{Value, json};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::time::Duration;

fn request(server: &Served, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let text = format!(
        "{head} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        server.address,
        body.len()
    );
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

fn running(server: &Served) -> Vec<Value> {
    let page = server
        .call("GET", "/v1/executions?status=running")
        .expect(200, "");
    page["executions"].as_array().unwrap().clone()
}

#[test]
fn a_slow_consumer_of_events_holds_nobody_up_and_misses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    // Nobody is given up for not reading while this test, on a slow machine, does something else.
    let patient = "[server]\nreceive_seconds = 600\n";
    let server = serve_with(&folder.path().join("data"), patient, |command| command);
    let puppet = Puppet::plain(&server);
    // More than a socket holds: the stream stands still until somebody reads.
    let order = "x".repeat(900_000);
    let id = puppet.start(&server, "gated", json!({"order": order}));
    let slow: Vec<TcpStream> = (0..3)
        .map(|_| request(&server, &format!("GET /v1/executions/{id}/events"), ""))
        .collect();
    assert_eq!(ended(&server, &id)["status"], "completed");
    assert_eq!(
        puppet.execute(&server, "act", json!({})).expect(200, "")["status"],
        "completed"
    );
    for mut stream in slow {
        let text = String::from_utf8(read_answer(&mut stream, "GET").unwrap().body).unwrap();
        let ids: Vec<u64> = text
            .lines()
            .filter_map(|line| line.strip_prefix("id: ")?.parse().ok())
            .collect();
        assert!(ids.len() >= 2, "{ids:?}");
        assert_eq!(ids, (1..=u64::try_from(ids.len()).unwrap()).collect::<Vec<_>>());
        assert!(text.contains("\"status\":\"completed\""));
    }
}

#[test]
fn a_caller_that_goes_away_does_not_take_its_run_along() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let puppet = Puppet::plain(&server);
    let body = puppet.request("short", json!({"act": "wait"})).to_string();
    let caller = request(&server, "POST /v1/chains/execute", &body);
    // Durable, and in its step, before the caller leaves; on a slow machine it may have ended already.
    let id = until("the run is there", || {
        let page = server.call("GET", "/v1/executions").expect(200, "");
        Some(page["executions"][0]["execution_id"].as_str()?.to_owned())
    });
    let reader = request(&server, &format!("GET /v1/executions/{id}/events"), "");
    drop((caller, reader));
    let result = ended(&server, &id);
    assert_eq!(
        (&result["status"], &result["error"]["code"]),
        (&json!("failed"), &json!("TIMEOUT"))
    );
    assert_eq!(running(&server), Vec::<Value>::new());
}

#[test]
fn a_run_waits_while_the_disk_is_full_and_goes_on_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let pid = server.child.id().to_string();
    let limit = |bytes: &str| {
        Command::new("prlimit")
            .args(["--pid", &pid, &format!("--fsize={bytes}:unlimited")])
            .status()
    };
    programs::need(&["prlimit", "--version"], "util-linux");
    assert!(limit("unlimited").unwrap().success());
    let puppet = Puppet::plain(&server);
    let id = puppet.start(&server, "act", json!({"act": "wait"}));
    until("the step runs", || {
        (shown(&server, &id)["steps"][0]["status"] == "running").then_some(())
    });
    limit("1").unwrap();
    // A person stops it: the guest is gone, but that cannot be written down yet.
    let address = server.address.clone();
    let path = format!("POST /v1/executions/{id}/cancel");
    let mut cancelling = request(&server, &path, "");
    let refused = puppet.execute(&server, "act", json!({}));
    refused.expect(507, "STORAGE_FULL");
    // What is not durable is not told.
    assert_eq!(shown(&server, &id)["status"], "running");
    limit("unlimited").unwrap();
    let answer = read_answer(&mut cancelling, "POST").unwrap();
    assert_eq!(answer.expect(200, "")["status"], "cancelled");
    assert_eq!(ended(&server, &id)["status"], "cancelled");
    assert_eq!(
        puppet.execute(&server, "act", json!({})).expect(200, "")["status"],
        "completed"
    );
    assert_eq!(server.address, address);
}

#[test]
fn a_poisoned_store_ends_the_process_and_the_next_start_takes_its_runs_up() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        shim::build(folder.path()),
        "a C compiler, which SQLite needs as well"
    );
    let data = folder.path().join("data");
    let trigger = folder.path().join("fail");
    let mut server = serve_with(&data, "", |command| {
        command
            .env("LD_PRELOAD", folder.path().join("shim.so"))
            .env("FAIL_SYNC_WHILE", &trigger)
    });
    let puppet = Puppet::plain(&server);
    let id = puppet.start(&server, "act", json!({"act": "wait"}));
    let asked = request(
        &server,
        "POST /v1/chains/execute",
        &puppet.request("act", json!({"act": "wait"})).to_string(),
    );
    until("both run", || (running(&server).len() == 2).then_some(()));
    std::fs::write(&trigger, "").unwrap();
    let mut cancel = request(&server, &format!("POST /v1/executions/{id}/cancel"), "");
    // Nobody knows whether the end is on disk: neither a success nor a refusal may be said.
    if let Ok(answer) = read_answer(&mut cancel, "POST") {
        assert_eq!(answer.status, 503, "{}", answer.text());
    }
    // A caller that waits would be waited for.
    drop(asked);
    let status = server.child.wait().unwrap();
    assert_eq!(status.code(), Some(3), "{status}");
    std::fs::remove_file(&trigger).unwrap();
    let server = serve(&data);
    // The second one was never touched: it is called again. The first is cancelled, or runs as if nobody had asked.
    until("the runs are driven", || {
        let page = server.call("GET", "/v1/executions").expect(200, "");
        let open = page["executions"].as_array()?.clone();
        (open.len() == 2
            && open
                .iter()
                .all(|run| run["status"] == "running" || run["status"] == "cancelled"))
        .then_some(())
    });
    for run in running(&server) {
        let path = format!("/v1/executions/{}/cancel", run["execution_id"].as_str().unwrap());
        server.send("POST", &path, &[], b"").expect(200, "");
    }
    assert_eq!(ended(&server, &id)["status"], "cancelled");
}

#[test]
fn an_open_run_that_nobody_can_drive_is_found_by_the_doctor_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let puppet = Puppet::plain(&server);
    let healthy = puppet.start(&server, "act", json!({"act": "wait"}));
    let damaged = puppet.start(&server, "act", json!({"act": "wait"}));
    until("both run", || (running(&server).len() == 2).then_some(()));
    let stuck = |server: &Served| {
        let metrics = server.call("GET", "/metrics").text();
        let line = metrics
            .lines()
            .find_map(|line| line.strip_prefix("mizzen_runs_stuck "));
        line.unwrap().to_owned()
    };
    let doctor = || {
        let output = mizzen()
            .args(["doctor", "--json", "--data"])
            .arg(&data)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    assert_eq!(stuck(&server), "0");
    let (code, report) = doctor();
    assert_eq!((code, &report["problems"]), (Some(0), &json!([])));
    let states: Vec<&Value> = report["open"]
        .as_array()
        .unwrap()
        .iter()
        .map(|run| &run["state"])
        .collect();
    assert_eq!(states, ["is runnable", "is runnable"]);
    server.kill();
    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    let changed = database.execute(
        "UPDATE run_events SET bytes = replace(bytes, '\"started\"', '\"begun\"')
         WHERE place >> 24 = (SELECT seq FROM runs WHERE id = ?1)",
        [&damaged],
    );
    assert_eq!(changed.unwrap(), 1);
    drop(database);
    let (code, report) = doctor();
    assert_eq!(code, Some(1));
    let problem = report["problems"][0].as_str().unwrap();
    assert!(
        problem.contains(&damaged) && problem.contains("changed"),
        "{problem}"
    );
    assert_eq!(report["open"][0]["execution_id"], json!(healthy));
    // The host starts all the same: one damaged run does not take the others along.
    let server = serve(&data);
    assert_eq!(stuck(&server), "1");
    assert_eq!(running(&server).len(), 2, "the list has both");
    assert_eq!(shown(&server, &healthy)["status"], "running");
    server
        .call("GET", &format!("/v1/executions/{damaged}"))
        .expect(503, "UNAVAILABLE");
}

#[test]
fn a_server_that_cannot_listen_leaves_open_runs_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let puppet = Puppet::plain(&server);
    let id = puppet.start(&server, "pay", json!({"order": "rent", "act": "spin"}));
    until("it was called", || {
        let calls = puppet
            .execute(&server, "calls", json!({"order": "rent"}))
            .expect(200, "");
        (calls["steps"][0]["output"]["calls"] == 1).then_some(())
    });
    server.kill();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let output = offline(folder.path())
        .args(["serve", "--data", "data", "--listen"])
        .arg(taken.local_addr().unwrap().to_string())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.contains("cannot be listened on") && said.contains("--listen"),
        "{said}"
    );
    // Had it taken the run up, the payment would be in doubt by now, by its own fault.
    let output = mizzen()
        .args(["doctor", "--json", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["open"][0]["execution_id"], json!(id), "{report}");
}

#[test]
fn what_was_edited_in_the_database_is_found_by_the_doctor() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let puppet = Puppet::plain(&server);
    let ran = puppet
        .execute(&server, "mixed", json!({"order": "note"}))
        .expect(200, "");
    assert_eq!(ran["status"], "completed");
    assert!(server.terminate().success());
    let doctor = || {
        let output = mizzen()
            .args(["doctor", "--json", "--data"])
            .arg(&data)
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), report)
    };
    let (code, report) = doctor();
    assert_eq!((code, &report["problems"]), (Some(0), &json!([])));
    assert_eq!(report["verified"]["executions"], 1);
    assert_eq!(report["verified"]["sprites"], 2);
    let whole = std::fs::read(data.join("mizzen.db")).unwrap();
    // A head that was kept holds as long as everything before it does.
    let head = || {
        let printed = mizzen()
            .args(["audit", "head", "--data"])
            .arg(&data)
            .output()
            .unwrap();
        assert!(printed.status.success());
        String::from_utf8(printed.stdout).unwrap().trim().to_owned()
    };
    let doctor_with = |head: &str| {
        let output = mizzen()
            .args(["doctor", "--audit-head", head, "--data"])
            .arg(&data)
            .output()
            .unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let kept = head();
    assert_eq!(doctor_with(&kept).0, Some(0));
    assert_eq!(
        doctor_with(&format!("0:{}", "0".repeat(64))).0,
        Some(0),
        "of a new host"
    );
    for nonsense in [
        "",
        "4",
        "x:00",
        &format!("0:{}", "1".repeat(64)),
        &format!("1:{}", "g".repeat(64)),
        // Other spellings of a head are none.
        &format!("+0:{}", "0".repeat(64)),
        &format!("00:{}", "0".repeat(64)),
        &kept.to_uppercase(),
    ] {
        let (code, said) = doctor_with(nonsense);
        assert!(
            code == Some(2) && said.contains("mizzen audit head"),
            "{nonsense}: {said}"
        );
    }
    let last = "seq = (SELECT max(seq) FROM audit)";
    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    assert_eq!(
        database
            .execute(&format!("DELETE FROM audit WHERE {last}"), [])
            .unwrap(),
        1
    );
    let (code, report) = doctor();
    let problems = report["problems"].to_string();
    assert!(
        code == Some(1) && problems.contains("its last 1 entries are gone"),
        "{problems}"
    );
    // Who hides that does not hide it from whoever has kept a head; an earlier one still holds.
    database
        .execute(
            "UPDATE sqlite_sequence SET seq = seq - 1 WHERE name = 'audit'",
            [],
        )
        .unwrap();
    drop(database);
    assert_eq!(doctor().0, Some(0));
    let (code, said) = doctor_with(&kept);
    assert!(
        code == Some(1) && said.contains("cut off or written anew"),
        "{said}"
    );
    assert_ne!(head(), kept);
    assert_eq!(doctor_with(&head()).0, Some(0));
    std::fs::write(data.join("mizzen.db"), &whole).unwrap();
    for (edit, expected) in [
        ("DELETE FROM audit", "entries are gone"),
        (
            "UPDATE sqlite_sequence SET seq = 1 WHERE name = 'audit'",
            "more entries than were written",
        ),
        (
            "UPDATE runs SET result = replace(result, 'completed', 'vetoed')",
            "the result is not the sealed one",
        ),
        (
            "UPDATE runs SET seal = replace(seal, 'completed', 'vetoed')",
            "not signed by this key",
        ),
        ("UPDATE runs SET seal = NULL", "no seal"),
        ("UPDATE runs SET status = 'vetoed'", "is listed as vetoed"),
        (
            "UPDATE run_events SET bytes = replace(bytes, 'note', 'nose')",
            "was edited, dropped or moved",
        ),
        (
            "DELETE FROM run_events WHERE place = (SELECT max(place) FROM run_events)",
            "were cut off",
        ),
        (
            "UPDATE run_definitions SET document = replace(document, 'retries', 'Retries')",
            "definition",
        ),
        (
            "UPDATE sprites SET document = replace(document, 'Be brief', 'Be rude')",
            "does not have its fingerprint",
        ),
    ] {
        let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
        assert!(database.execute(edit, []).unwrap() > 0, "{edit}");
        drop(database);
        let (code, report) = doctor();
        assert_eq!(code, Some(1), "{edit}");
        let problems = report["problems"].to_string();
        assert!(problems.contains(expected), "{edit}: {problems}");
        std::fs::write(data.join("mizzen.db"), &whole).unwrap();
    }
    std::fs::remove_dir_all(data.join("keys")).unwrap();
    let (code, report) = doctor();
    assert_eq!(code, Some(1));
    // Once, however many executions there are.
    let about_keys = |problem: &&serde_json::Value| problem.to_string().contains("keys/ is gone");
    let problems = report["problems"].as_array().unwrap();
    assert_eq!(problems.iter().filter(about_keys).count(), 1, "{report}");
}
