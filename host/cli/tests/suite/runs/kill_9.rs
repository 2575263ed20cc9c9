//! `kill -9` under load, again and again: nothing acknowledged is lost, no outcome is recorded twice, no payment is made twice.
//!
//! `MIZZEN_KILLS` says how often; `tests/faults/kill-loop` does it a thousand times.

use crate::support::council::{capability, serve};
use crate::support::http::{Served, mizzen, try_send};
use crate::support::puppet::{Puppet, shown, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

/// Kills when nothing else is said.
const KILLS: usize = 50;
/// Callers at once.
const CALLERS: usize = 6;

fn kills() -> usize {
    std::env::var("MIZZEN_KILLS").map_or(KILLS, |text| text.parse().expect("MIZZEN_KILLS is a number"))
}

/// An execution that was acknowledged.
struct Acknowledged {
    id: String,
    chain: &'static str,
    order: String,
}

/// Runs chains from several threads until the server stops answering.
fn run_until_dead(address: &str, puppet: &Puppet, round: usize, count: &AtomicUsize) -> Vec<Acknowledged> {
    let acknowledged = Mutex::new(Vec::new());
    let dead = AtomicBool::new(false);
    let numbers = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let (acknowledged, dead, numbers) = (&acknowledged, &dead, &numbers);
            scope.spawn(move || {
                let chain = if caller % 3 == 0 { "pay" } else { "mixed" };
                let mut headers = vec![("content-type", "application/json")];
                if caller % 2 == 0 {
                    headers.push(("prefer", "respond-async"));
                }
                while !dead.load(Ordering::SeqCst) {
                    let order = format!("{round}-{}", numbers.fetch_add(1, Ordering::SeqCst));
                    let body = puppet.request(chain, json!({"order": order})).to_string();
                    match try_send(address, "POST", "/v1/chains/execute", &headers, body.as_bytes()) {
                        Ok(answer) if answer.status == 200 || answer.status == 202 => {
                            let id = answer.json()["execution_id"].as_str().unwrap().to_owned();
                            let mut list = acknowledged.lock().unwrap();
                            list.push(Acknowledged { id, chain, order });
                            count.fetch_add(1, Ordering::SeqCst);
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

/// The journal of an execution; the stream ends with it, so nothing is polled.
fn journal(server: &Served, id: &str) -> Vec<Value> {
    let answer = server.call("GET", &format!("/v1/executions/{id}/events"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    let text = answer.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn check(server: &Served, run: &Acknowledged) -> String {
    let id = &run.id;
    let entries = journal(server, id);
    let mut once = BTreeSet::new();
    for (place, entry) in (1_u64..).zip(&entries) {
        assert_eq!(entry["seq"], place, "{id} has a gap");
        let what = format!("{} {} {}", entry["kind"], entry["step"], entry["attempt"]);
        assert!(
            entry["kind"] == "tick" || once.insert(what.clone()),
            "{id}: {what} twice"
        );
    }
    let result = shown(server, id);
    assert_eq!(entries.last().unwrap()["status"], result["status"]);
    let status = result["status"].as_str().unwrap().to_owned();
    match (run.chain, status.as_str()) {
        ("mixed" | "pay", "completed") => {
            let steps = result["steps"].as_array().unwrap();
            assert!(
                steps
                    .iter()
                    .all(|step| step["output"]["order"] == run.order.as_str())
            );
            status
        }
        ("pay", "failed") => {
            assert_eq!(result["error"]["code"], "IN_DOUBT", "{result}");
            "in doubt".to_owned()
        }
        _ => panic!("{result}"),
    }
}

#[test]
fn kill_9_under_load_loses_no_execution_and_records_no_outcome_twice() {
    let begun = Instant::now();
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut server = serve(&data);
    let rules = json!([{"id": "ask", "name": "ask", "condition": "has(input.risky)", "action": "escalate"}]);
    let puppet = Puppet::create(&server, rules, json!([capability("look", None)]));
    let waiting = puppet
        .execute(&server, "mixed", json!({"risky": true}))
        .expect(202, "");
    let mut acknowledged = Vec::new();
    for round in 0..kills() {
        let count = AtomicUsize::new(0);
        let address = server.address.clone();
        // Another moment every time: after the first acknowledgements, and into the middle of what follows.
        let enough = 1 + round % 13;
        let runs = std::thread::scope(|scope| {
            let running = scope.spawn(|| run_until_dead(&address, &puppet, round, &count));
            while count.load(Ordering::SeqCst) < enough && !running.is_finished() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            server.kill();
            running.join().unwrap()
        });
        assert!(runs.len() >= enough, "the server died by itself");
        acknowledged.extend(runs);
        server = serve(&data);
    }
    let (mut completed, mut in_doubt) = (0, 0);
    for run in &acknowledged {
        match check(&server, run).as_str() {
            "in doubt" => in_doubt += 1,
            _ => completed += 1,
        }
    }
    // No payment was made twice: the tool itself has counted. Some of them, because asking is a run too.
    let paid = acknowledged.iter().filter(|run| run.chain == "pay");
    for run in paid.rev().take(100) {
        let result = puppet
            .execute(&server, "calls", json!({"order": run.order}))
            .expect(200, "");
        let calls = result["steps"][0]["output"]["calls"].as_u64().unwrap();
        assert!(calls <= 1, "{} was paid {calls} times", run.order);
    }
    // What waited for a person still does, and can be answered.
    let id = waiting["execution_id"].as_str().unwrap();
    let answer = json!({"decision": "approve", "reason": "ok", "escalation_id": waiting["escalation"]["escalation_id"]});
    server
        .call_json("POST", &format!("/v1/executions/{id}/decision"), &answer)
        .expect(200, "");
    journal(&server, id);
    assert_eq!(shown(&server, id)["status"], "completed");
    // Also those that nobody was told of have come to their end.
    until("no execution is open", || {
        let open = server
            .call("GET", "/v1/executions?status=running")
            .expect(200, "");
        (open["total"] == 0).then_some(())
    });
    // Whatever hosts have died in between, what was recorded follows from its journal.
    for run in acknowledged.iter().rev().take(20) {
        let replayed = mizzen()
            .args(["run", "replay", &run.id, "--data"])
            .arg(&data)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&replayed.stdout);
        assert!(replayed.status.success(), "{said}");
    }
    let all = server.call("GET", "/v1/executions?limit=1").expect(200, "")["total"].clone();
    let doctor = mizzen().args(["doctor", "--data"]).arg(&data).output().unwrap();
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(doctor.status.success(), "{said}");
    println!(
        "kill -9: {} times in {} s; {} executions acknowledged: {completed} completed, {in_doubt} payments in doubt, 0 lost; \
         {all} executions in all",
        kills(),
        begun.elapsed().as_secs(),
        acknowledged.len(),
    );
}
