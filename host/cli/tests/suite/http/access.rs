//! API keys, the audit log and the settings of access, as an operator uses them. What a key may do is tested in `host/server`.

use crate::support::documents::sprite;
use crate::support::http::{Served, mizzen};
use crate::support::verb::{bearer, key, new_key};
use serde_json::{Value, json};
use std::path::Path;

fn rows(data: &Path, sql: &str) -> Vec<String> {
    let database = rusqlite::Connection::open(data.join("mizzen.db")).unwrap();
    let mut statement = database.prepare(sql).unwrap();
    statement
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// How a server with a section `[server]` that it does not take complains.
fn refused(folder: &Path, section: &str) -> String {
    std::fs::write(folder.join("refused.toml"), format!("[server]\n{section}\n")).unwrap();
    let output = mizzen()
        .current_dir(folder)
        .args([
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--data",
            "other",
            "--config",
            "refused.toml",
        ])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{section}");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn a_running_server_honours_keys_that_are_made_and_revoked_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    server.call("GET", "/v1/sprites").expect(200, "");
    let reader = new_key(&data, &["sprites:read"]);
    let get = |key: &str| server.send("GET", "/v1/sprites", &[("x-api-key", key)], b"");
    server.call("GET", "/v1/sprites").expect(401, "UNAUTHENTICATED");
    get(&reader).expect(200, "");
    let admin = new_key(&data, &["admin"]);

    let (id, secret) = reader.rsplit_once('_').unwrap();
    assert!(key(&data, &["revoke", id]).status.success());
    get(&reader).expect(401, "UNAUTHENTICATED");
    assert_eq!(key(&data, &["revoke", id]).status.code(), Some(1));
    let list = String::from_utf8(key(&data, &["list"]).stdout).unwrap();
    assert!(
        list.contains(id) && list.contains("revoked") && list.contains("admin"),
        "{list}"
    );
    assert!(!list.contains(secret), "a secret is shown once");
    let file = std::fs::read(data.join("mizzen.db")).unwrap();
    let secret = admin.rsplit_once('_').unwrap().1.as_bytes();
    assert!(
        !file.windows(secret.len()).any(|window| window == secret),
        "a secret is never stored"
    );
    assert!(server.terminate().success());
    let log = rows(&data, "SELECT outcome || ' ' || action FROM audit");
    for entry in ["unauthenticated listSprites", "done create_api_key"] {
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
fn mizzen_audit_log_reads_by_filter() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = Served::start(&data);
    for number in 0..5 {
        let made = server.call_json("POST", "/v1/sprites", &sprite(&format!("UNIT-{number}")));
        made.expect(201, "");
    }
    let auditor = bearer(&data, &["audit:read"]);
    for _ in 0..2 {
        server
            .send("GET", "/v1/sprites", &[("authorization", &auditor)], b"")
            .expect(403, "FORBIDDEN");
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
    let shown: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(shown["entries"].as_array().unwrap().len(), 2, "{text}");
    assert_eq!(shown["more"], false);
    assert_eq!(log(&["--since", "soon"]).0, Some(2));
    assert_eq!(log(&["--outcome", "refused"]).0, Some(2));
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
    let made: Value = serde_json::from_slice(&made.stdout).unwrap();
    let listed = String::from_utf8(key(&data, &["list"]).stdout).unwrap();
    assert!(listed.contains("  live    admin  until 2"), "{listed}");
    rows(&data, "UPDATE api_keys SET expires_at = 1");
    let server = Served::start(&data);
    let token = format!("Bearer {}", made["key"].as_str().unwrap());
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
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    for arguments in [&["list"][..], &["revoke", id]] {
        let missed = verb(arguments, &nowhere);
        assert_eq!(missed.status.code(), Some(1));
        let said = String::from_utf8_lossy(&missed.stderr).into_owned();
        assert!(said.contains("there is no database at"), "{said}");
    }
    assert!(!nowhere.exists(), "looking has made it");
    let revoked = verb(&["revoke", id, "--json"], &data);
    let revoked: Value = serde_json::from_slice(&revoked.stdout).unwrap();
    assert_eq!(revoked, json!({"id": id, "revoked": true}));
    let listed = String::from_utf8(verb(&["list"], &data).stdout).unwrap();
    assert!(listed.contains("revoked admin\n"), "{listed}");
}

#[test]
fn origins_are_written_as_browsers_send_them() {
    let folder = tempfile::tempdir().unwrap();
    for wrong in [
        "*",
        "app.example",
        "https://app.example/",
        "https://App.example",
        "https://",
    ] {
        let said = refused(folder.path(), &format!("cors_origins = [\"{wrong}\"]"));
        assert!(
            said.contains("is not an origin as browsers send it"),
            "{wrong}: {said}"
        );
    }
}

#[test]
fn the_files_of_tls_are_found_beside_the_configuration_and_checked_at_start() {
    let folder = tempfile::tempdir().unwrap();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).unwrap();
    std::fs::write(folder.path().join("cert.pem"), made.cert.pem()).unwrap();
    std::fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    let section = "tls_certificate = \"cert.pem\"\ntls_key = \"key.pem\"";
    let config = folder.path().join("tls.toml");
    std::fs::write(&config, format!("[server]\n{section}\n")).unwrap();
    let data = folder.path().join("data");
    let server = Served::start_with(&data, &["--config", config.to_str().unwrap()], |command| command);
    assert!(server.url.starts_with("https://127.0.0.1:"), "{}", server.url);
    std::fs::write(folder.path().join("key.pem"), "not a key").unwrap();
    assert!(refused(folder.path(), section).contains("key.pem"));
}
