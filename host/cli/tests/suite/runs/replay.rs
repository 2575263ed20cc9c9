//! `mizzen run replay`: runs of a real server gone through again, and journals that were changed.

use crate::support::council::{Council, serve};
use crate::support::http::{Served, mizzen};
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::Path;

/// How a replay of a stored run or of a file ends, and what it prints.
fn replay(run: impl AsRef<OsStr>, data: &Path, more: &[&str]) -> (Option<i32>, String) {
    let output = mizzen()
        .args(["run", "replay"])
        .arg(run)
        .arg("--data")
        .arg(data)
        .args(more)
        .output()
        .unwrap();
    let mut said = String::from_utf8(output.stdout).unwrap();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    (output.status.code(), said)
}

fn export(id: &str, data: &Path, file: &Path) -> (Value, String) {
    let output = mizzen()
        .args(["audit", "export", id, "--data"])
        .arg(data)
        .arg("--output")
        .arg(file)
        .output()
        .unwrap();
    assert!(output.status.success());
    let said = String::from_utf8(output.stderr).unwrap();
    let key = said.lines().find_map(|line| line.strip_prefix("host key: "));
    let text = std::fs::read_to_string(file).unwrap();
    (serde_json::from_str(&text).unwrap(), key.unwrap().to_owned())
}

fn answer(server: &Served, waiting: &Value, decision: &str) {
    let body = json!({"decision": decision, "reason": "looked at it",
                      "escalation_id": waiting["escalation"]["escalation_id"]});
    let path = format!(
        "/v1/executions/{}/decision",
        waiting["execution_id"].as_str().unwrap()
    );
    server.call_json("POST", &path, &body).expect(200, "");
}

#[test]
fn runs_of_every_end_come_out_as_they_were_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let council = Council::create(&server);
    let text = json!({"text": "hello"});
    let mut ends = Vec::new();
    let mut end = |id: &Value, status: &'static str, told: &'static str| {
        ends.push((id.as_str().unwrap().to_owned(), status, told));
    };
    for (chain, status, told) in [
        ("completes", "completed", "gate after"),
        ("fails", "failed", "CAPABILITY_UNRESOLVED"),
        ("goes-on", "completed", "gate on_error"),
        ("times-out", "failed", "TIMEOUT"),
    ] {
        let ended = council.execute(&server, chain, text.clone()).expect(200, "");
        end(&ended["execution_id"], status, told);
    }
    for (chain, input, told) in [
        ("vetoed-before", text.clone(), "Task scope not authorised"),
        ("vetoed-after", text.clone(), "too short"),
        ("on-error-vetoes", text.clone(), "gate on_error"),
        ("completes", json!({"text": "a", "secret": 1}), "rule no secrets"),
    ] {
        let vetoed = council.execute(&server, chain, input);
        assert_eq!(vetoed.status, 409);
        end(&vetoed.json()["details"]["execution_id"], "vetoed", told);
    }
    let risky = || {
        council
            .execute(&server, "completes", json!({"text": "a", "risky": true}))
            .expect(202, "")
    };
    let (approved, denied, cancelled, waiting) = (risky(), risky(), risky(), risky());
    answer(&server, &approved, "approve");
    answer(&server, &denied, "deny");
    let path = format!(
        "/v1/executions/{}/cancel",
        cancelled["execution_id"].as_str().unwrap()
    );
    server.send("POST", &path, &[], b"").expect(200, "");
    // The stream of events ends when the run does.
    let id = approved["execution_id"].as_str().unwrap();
    server.send("GET", &format!("/v1/executions/{id}/events"), &[], b"");
    end(
        &approved["execution_id"],
        "completed",
        "a person answered: approve (looked at it)",
    );
    end(&denied["execution_id"], "vetoed", "ESCALATION_DENIED");
    end(&cancelled["execution_id"], "cancelled", "cancelled: ");
    let data = server.data.clone();
    let file = folder.path().join("run.json");
    for (id, status, told) in &ends {
        let (code, said) = replay(id, &data, &[]);
        assert_eq!(code, Some(0), "{said}");
        assert!(
            said.contains(&format!("same: {status};")) && said.contains(told),
            "{said}"
        );
        // The same without the host's data, from the export alone.
        let (_, key) = export(id, &data, &file);
        let (code, said) = replay(&file, Path::new("nowhere"), &["--key", &key, "--json"]);
        assert_eq!(code, Some(0), "{said}");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(
            (&said["ok"], &said["seal"], &said["status"], &said["ended"]),
            (&json!(true), &json!("holds"), &json!(status), &json!(true))
        );
    }
    // One that is still open is the same so far.
    let (code, said) = replay(waiting["execution_id"].as_str().unwrap(), &data, &[]);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("same so far: awaiting_approval;") && said.contains("asks a person"),
        "{said}"
    );
    let (code, said) = replay("00000000-0000-4000-8000-000000000000", &data, &[]);
    assert_eq!(code, Some(1), "{said}");
    let (code, said) = replay("no-such-file", &data, &[]);
    assert!(code != Some(0) && said.contains("mizzen audit export"), "{said}");
}

/// Changes an entry and links the journal anew, as somebody would who has the database and not the key.
fn with_entry(export: &Value, index: usize, change: impl FnOnce(&mut Value)) -> Value {
    let mut export = export.clone();
    let mut body: Value = serde_json::from_str(export["entries"][index]["bytes"].as_str().unwrap()).unwrap();
    change(&mut body);
    export["entries"][index]["bytes"] = json!(body.to_string());
    relinked(export)
}

fn relinked(mut export: Value) -> Value {
    let id = ExecutionId::parse(export["execution_id"].as_str().unwrap()).unwrap();
    let mut link = Link::first(id);
    for entry in export["entries"].as_array_mut().unwrap() {
        link = link.next(entry["bytes"].as_str().unwrap());
        entry["hash"] = json!(link.to_string());
    }
    export
}

#[test]
fn a_journal_that_was_changed_differs_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let council = Council::create(&server);
    let ended = council
        .execute(&server, "completes", json!({"text": "hello"}))
        .expect(200, "");
    let (data, file) = (server.data.clone(), folder.path().join("run.json"));
    let (good, key) = export(ended["execution_id"].as_str().unwrap(), &data, &file);
    let last = good["entries"].as_array().unwrap().len() - 1;
    let differs = |export: &Value| {
        std::fs::write(&file, export.to_string()).unwrap();
        let (code, said) = replay(&file, &data, &["--json"]);
        assert_eq!(code, Some(1), "{said}");
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(said["ok"], false);
        let difference = &said["difference"];
        let seq = difference["seq"].as_u64();
        (seq, difference["field"].as_str().unwrap().to_owned())
    };
    // Edited where it lies, the hashes left as they were.
    let mut edited = good.clone();
    let bytes = edited["entries"][1]["bytes"]
        .as_str()
        .unwrap()
        .replace("hello", "jello");
    edited["entries"][1]["bytes"] = json!(bytes + " ");
    assert_eq!(differs(&edited), (Some(2), "hash".to_owned()));
    let mut edited = good.clone();
    let bytes = good["entries"][last]["bytes"].as_str().unwrap();
    edited["entries"][last]["bytes"] = json!(bytes.replace("\"completed\"", "\"vetoed\""));
    let (seq, field) = differs(&edited);
    assert_eq!(seq, Some(last as u64 + 1));
    assert_ne!(field, "hash", "the field is named where it can be told");
    // Linked anew: only the engine can tell.
    let gate = with_entry(&good, 0, |body| body["gates"][0]["decision"] = json!("veto"));
    assert_eq!(differs(&gate), (Some(1), "gates/0/decision".to_owned()));
    let reason = with_entry(&good, last, |body| body["gates"][0]["reason"] = json!("because"));
    assert_eq!(
        differs(&reason),
        (Some(last as u64 + 1), "gates/0/reason".to_owned())
    );
    let status = with_entry(&good, last, |body| body["status"] = json!("vetoed"));
    assert_eq!(differs(&status), (Some(last as u64 + 1), "status".to_owned()));
    let words = with_entry(&good, 1, |body| body["output"]["words"] = json!(7));
    assert_eq!(differs(&words), (None, "result/steps/0/output/words".to_owned()));
    let input = with_entry(&good, 0, |body| body["input"] = json!({}));
    assert_eq!(differs(&input).0, Some(1));
    let mut dropped = good.clone();
    dropped["entries"].as_array_mut().unwrap().remove(1);
    assert_eq!(differs(&relinked(dropped)), (Some(2), "seq".to_owned()));
    let mut cut = good.clone();
    cut["entries"].as_array_mut().unwrap().pop();
    assert_eq!(differs(&cut), (Some(last as u64 + 1), "status".to_owned()));
    let mut result = good.clone();
    result["result"] = json!(good["result"].as_str().unwrap().replace("HELLO", "JELLO"));
    assert_eq!(differs(&result).0, None);
    let mut council = good.clone();
    council["definition"] = json!(good["definition"].as_str().unwrap().replace("30s", "31s"));
    assert_eq!(differs(&council), (Some(1), "definition".to_owned()));
    let more = with_entry(&good, 1, |body| body["note"] = json!("it was fine"));
    assert_eq!(differs(&more), (Some(2), "note".to_owned()));
    let nonsense = with_entry(&good, 1, |body| body["kind"] = json!("nonsense"));
    assert_eq!(differs(&nonsense), (Some(2), "entry".to_owned()));
    // A person reads it too; and the seal of a changed journal does not hold, whatever the engine says of it.
    std::fs::write(&file, status.to_string()).unwrap();
    let (code, said) = replay(&file, &data, &["--key", &key]);
    assert_eq!(code, Some(1));
    assert!(
        said.contains("status: recorded vetoed, replayed completed") && said.contains("error: "),
        "{said}"
    );
    let (code, said) = replay(&file, &data, &["--key", "nonsense"]);
    assert_eq!(code, Some(2), "{said}");
    std::fs::write(&file, "{}").unwrap();
    assert_eq!(replay(&file, &data, &[]).0, Some(1));
}
