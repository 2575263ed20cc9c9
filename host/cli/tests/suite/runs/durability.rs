//! Acknowledged means durable: kill -9, a full disk, a failing fsync, a thousand clients at once.

use crate::support::documents::{council, sprite};
use crate::support::http::{Served, mizzen, signal, try_send};
use crate::support::programs;
use crate::support::shim;
use serde_json::json;
use std::io::{BufRead, BufReader};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

const JSON: [(&str, &str); 1] = [("content-type", "application/json")];

/// Posts sprites from several threads until the server stops answering; returns the ids that were acknowledged.
fn post_until_dead(address: &str, prefix: &str, enough: &AtomicUsize) -> Vec<String> {
    let acknowledged = Mutex::new(Vec::new());
    let dead = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let (acknowledged, dead) = (&acknowledged, &dead);
            scope.spawn(move || {
                for number in 0.. {
                    if dead.load(Ordering::SeqCst) {
                        return;
                    }
                    let body = sprite(&format!("{prefix}-{thread}-{number}")).to_string();
                    match try_send(address, "POST", "/v1/sprites", &JSON, body.as_bytes()) {
                        Ok(answer) if answer.status == 201 => {
                            let id = answer.json()["id"].as_str().unwrap().to_owned();
                            acknowledged.lock().unwrap().push(id);
                            enough.fetch_add(1, Ordering::SeqCst);
                        }
                        Ok(answer) => panic!("{}", answer.text()),
                        Err(_) => dead.store(true, Ordering::SeqCst),
                    }
                }
            });
        }
    });
    acknowledged.into_inner().unwrap()
}

#[test]
fn kill_9_during_a_stream_of_posts_loses_nothing_that_was_acknowledged() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut acknowledged = Vec::new();
    for round in 0..5 {
        let server = Served::start(&data);
        let count = AtomicUsize::new(0);
        let address = server.address.clone();
        let ids = std::thread::scope(|scope| {
            let posting = scope.spawn(|| post_until_dead(&address, &format!("KILL-{round}"), &count));
            while count.load(Ordering::SeqCst) < 60 {
                std::thread::yield_now();
            }
            server.kill();
            posting.join().unwrap()
        });
        assert!(ids.len() >= 60);
        acknowledged.extend(ids);
    }
    let server = Served::start(&data);
    for id in &acknowledged {
        let report = server
            .call("GET", &format!("/v1/sprites/{id}/fingerprint"))
            .expect(200, "");
        assert_eq!(report["verified"], true);
    }
    assert!(server.terminate().success());
    let check = mizzen()
        .args(["db", "check", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    assert!(
        check.status.success(),
        "{}",
        String::from_utf8_lossy(&check.stdout)
    );
}

#[test]
fn of_a_thousand_clients_that_create_the_same_domain_exactly_one_succeeds() {
    let (_folder, server) = Served::fresh();
    let id = server
        .call_json("POST", "/v1/sprites", &sprite("ONE-1"))
        .expect(201, "")["id"]
        .clone();
    let body = council("contested", &[id.as_str().unwrap()]).to_string();
    let start = std::sync::Barrier::new(1_000);
    let statuses = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..1_000 {
            let builder = std::thread::Builder::new().stack_size(256 << 10);
            let client = || {
                start.wait();
                let answer = loop {
                    // The system's queue of connections may be shorter than a thousand.
                    match try_send(&server.address, "POST", "/v1/councils", &JSON, body.as_bytes()) {
                        Ok(answer) => break answer,
                        Err(_) => std::thread::yield_now(),
                    }
                };
                let code = answer.json()["code"].as_str().unwrap_or("").to_owned();
                statuses.lock().unwrap().push((answer.status, code));
            };
            builder.spawn_scoped(scope, client).unwrap();
        }
    });
    let statuses = statuses.into_inner().unwrap();
    let created = statuses.iter().filter(|(status, _)| *status == 201).count();
    let conflicts = statuses
        .iter()
        .filter(|(status, code)| *status == 409 && code == "COUNCIL_CONFLICT")
        .count();
    assert_eq!(
        (created, conflicts),
        (1, 999),
        "{:?}",
        statuses.iter().find(|(status, _)| ![201, 409].contains(status))
    );
}

/// A file-size limit is a full disk that needs no mount: the limit is lowered and raised while the server runs.
#[test]
fn a_full_disk_is_507_and_writing_resumes_when_space_returns() {
    let (_folder, server) = Served::fresh();
    let pid = server.child.id().to_string();
    let limit = |bytes: &str| {
        Command::new("prlimit")
            .args(["--pid", &pid, &format!("--fsize={bytes}:unlimited")])
            .status()
    };
    programs::need(&["prlimit", "--version"], "util-linux");
    assert!(limit("unlimited").unwrap().success());
    let large = |number: u32| {
        let mut large = sprite(&format!("LARGE-{number}"));
        large["system_prompt"] = json!("x".repeat(60_000));
        large
    };
    let first = server.call_json("POST", "/v1/sprites", &large(0)).expect(201, "");
    limit("700000").unwrap();
    let mut created = vec![first["id"].clone()];
    let full = (1..100)
        .map(|number| server.call_json("POST", "/v1/sprites", &large(number)))
        .find(|answer| {
            created.extend((answer.status == 201).then(|| answer.json()["id"].clone()));
            answer.status != 201
        })
        .expect("the disk is full after some sprites");
    full.expect(507, "STORAGE_FULL");
    assert!(full.header("retry-after").is_some());
    server
        .call_json("POST", "/v1/sprites", &large(100))
        .expect(507, "STORAGE_FULL");
    for id in &created {
        server
            .call("GET", &format!("/v1/sprites/{}", id.as_str().unwrap()))
            .expect(200, "");
    }
    let health = server.call("GET", "/health");
    assert_eq!(
        (health.status, health.json()["checks"]["database"].clone()),
        (503, json!("degraded"))
    );
    limit("unlimited").unwrap();
    assert_eq!(
        server.call("GET", "/health").status,
        200,
        "the health check itself finds the space again"
    );
    server
        .call_json("POST", "/v1/sprites", &large(101))
        .expect(201, "");
    assert!(server.terminate().success());
}

#[test]
fn a_commit_that_fails_ends_the_process_and_the_next_start_reads_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        shim::build(folder.path()),
        "a C compiler, which SQLite needs as well"
    );
    let data = folder.path().join("data");
    let trigger = folder.path().join("fail");
    let mut server = Served::start_with(&data, &[], |command| {
        command
            .env("LD_PRELOAD", folder.path().join("shim.so"))
            .env("FAIL_SYNC_WHILE", &trigger)
    });
    let kept = server
        .call_json("POST", "/v1/sprites", &sprite("KEPT-1"))
        .expect(201, "")["id"]
        .clone();
    std::fs::write(&trigger, "").unwrap();
    let unknown = server.call_json("POST", "/v1/sprites", &sprite("UNKNOWN-1"));
    unknown.expect(503, "UNAVAILABLE");
    let status = server.child.wait().unwrap();
    assert!(!status.success() && status.code().is_some(), "{status}");
    std::fs::remove_file(&trigger).unwrap();
    let server = Served::start(&data);
    server
        .call("GET", &format!("/v1/sprites/{}", kept.as_str().unwrap()))
        .expect(200, "");
    server
        .call_json("POST", "/v1/sprites", &sprite("AFTER-1"))
        .expect(201, "");
}

#[test]
fn sigterm_lets_a_request_in_flight_finish() {
    use std::io::{Read, Write};
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    let body = sprite("SLOW-1").to_string();
    let mut stream = std::net::TcpStream::connect(&server.address).unwrap();
    let head = format!(
        "POST /v1/sprites HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(&body.as_bytes()[..10]).unwrap();
    // The server has begun this request once it answers one that came after it.
    server.call("GET", "/health").expect(200, "");
    crate::support::http::signal(server.child.id(), "TERM");
    let address = server.address.clone();
    while std::net::TcpStream::connect(&address).is_ok() {
        std::thread::yield_now();
    }
    stream.write_all(&body.as_bytes()[10..]).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    assert!(server.terminate_quietly().success());
    assert!(!data.join("mizzen.db-wal").exists(), "closed cleanly");
}

#[test]
fn a_log_that_nobody_reads_any_more_stops_nothing() {
    // A pipe whose other end is closed, as when a collector of logs has died, or with `2>&1 | head`.
    let unread = || std::io::pipe().unwrap().1;
    let folder = tempfile::tempdir().unwrap();
    let mut child = mizzen()
        .current_dir(folder.path())
        .args(["serve", "--listen", "127.0.0.1:0", "--data", "data"])
        .env("MIZZEN_LOG", "info")
        .stdout(std::process::Stdio::piped())
        .stderr(unread())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    stdout.read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("listening on http://").unwrap();
    drop(stdout);
    for _ in 0..3 {
        let answer = try_send(address, "GET", "/v1/sprites", &[], b"").unwrap();
        assert_eq!(answer.status, 200);
    }
    signal(child.id(), "TERM");
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // A verb whose messages nobody reads ends as programs do, and does not panic.
    let mut verb = mizzen();
    verb.current_dir(folder.path()).args(["plugins", "list"]);
    assert_eq!(verb.stderr(unread()).status().unwrap().code(), Some(141));
}

#[test]
fn a_data_folder_is_served_by_one_process_and_a_newer_database_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    let start = || {
        mizzen()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(&data)
            .output()
            .unwrap()
    };
    let second = start();
    assert_eq!(second.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&second.stderr).contains("another mizzen process"));
    let copy = folder.path().join("copy.db");
    let backup = mizzen()
        .args(["db", "backup", "--data"])
        .arg(&data)
        .arg(&copy)
        .output()
        .unwrap();
    assert!(
        backup.status.success(),
        "while the server runs: {}",
        String::from_utf8_lossy(&backup.stderr)
    );
    let again = mizzen()
        .args(["db", "backup", "--data"])
        .arg(&data)
        .arg(&copy)
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1));
    let info = mizzen()
        .args(["db", "info", "--json", "--data"])
        .arg(&data)
        .output()
        .unwrap();
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert!(info["migration"].as_u64().unwrap() >= 1);
    assert!(server.terminate().success());

    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    database
        .execute("INSERT INTO migrations VALUES (9999, 'later', 'x', 0)", [])
        .unwrap();
    drop(database);
    let newer = start();
    assert_eq!(newer.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&newer.stderr).contains("use the newer mizzen"));
    let missing = mizzen()
        .args(["db", "check", "--data"])
        .arg(folder.path().join("nothing"))
        .output()
        .unwrap();
    assert_eq!(missing.status.code(), Some(1));
}

/// A database of 100,000 sprites, written straight into the file: what counts here is the start.
#[test]
fn a_server_on_a_hundred_thousand_sprites_starts_well_under_a_second() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    let made = server
        .call_json("POST", "/v1/sprites", &sprite("FIRST-1"))
        .expect(201, "");
    assert!(server.terminate().success());
    let mut database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    let transaction = database.transaction().unwrap();
    let document = serde_json::to_string(&made).unwrap();
    for number in 0..100_000 {
        let id = format!("00000000-0000-4000-8000-{number:012x}");
        transaction
            .prepare_cached(
                "INSERT INTO sprites (id, name, version, role, fingerprint, revision, created_at, updated_at, document)
                 VALUES (?1, ?2, '1.0.0', NULL, 'blake3:0', 1, 0, 0, ?3)",
            )
            .unwrap()
            .execute(rusqlite::params![id, format!("MANY-{number}"), document])
            .unwrap();
    }
    transaction.commit().unwrap();
    drop(database);
    // A start takes 0.1 s on a quiet machine. On a busy one every start may be slow for a while, so the fastest of some counts.
    let begun = std::time::Instant::now();
    let fastest = loop {
        let started = std::time::Instant::now();
        let server = Served::start(&data);
        server.call("GET", "/v1/sprites?limit=100").expect(200, "");
        let took = started.elapsed();
        assert!(server.terminate().success());
        if took.as_millis() < 1_000 || begun.elapsed().as_secs() > 60 {
            break took;
        }
    };
    assert!(fastest.as_millis() < 1_000, "{fastest:?}");
}
