//! What becomes of the guests of a run: stopped, called again, asked for their opinion. Real server, real sandbox.

use crate::support::council::{capability, serve, serve_with};
use crate::support::http::Served;
use crate::support::puppet::{Puppet, ended, shown, until};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// One place for guests of the outermost kind: one that is not really stopped keeps it.
const ONE_PLACE: &str = "[sandbox]\nslots = 2\nthreads = 1\n";

fn is_calling(server: &Served, id: &str) {
    until("the step runs", || {
        (shown(server, id)["steps"][0]["status"] == "running").then_some(())
    });
}

#[test]
fn cancelling_stops_a_guest_that_spins_and_one_that_waits_in_a_host_call() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve_with(&folder.path().join("data"), ONE_PLACE, |command| command);
    let puppet = Puppet::plain(&server);
    for act in ["spin", "wait"] {
        let id = puppet.start(&server, "act", json!({"act": act}));
        is_calling(&server, &id);
        let path = format!("/v1/executions/{id}/cancel");
        let cancelled = server.send("POST", &path, &[], b"").expect(200, "");
        assert_eq!(
            (&cancelled["status"], &cancelled["error"]["code"]),
            (&json!("cancelled"), &json!("CANCELLED")),
            "{act}"
        );
        assert_eq!(cancelled["steps"][0]["status"], "failed");
        // The guest would go on for ten minutes: that its place is free says that it is gone.
        let honest = puppet
            .execute(&server, "act", json!({"order": act}))
            .expect(200, "");
        assert_eq!(honest["status"], "completed", "{act}");
        assert_eq!(shown(&server, &id), cancelled, "the end is the end");
    }
    // The chain's own timeout does the same.
    let late = puppet
        .execute(&server, "short", json!({"act": "wait"}))
        .expect(200, "");
    assert_eq!(
        (&late["status"], &late["error"]["code"], &late["error"]["step"]),
        (&json!("failed"), &json!("TIMEOUT"), &json!(0))
    );
    let honest = puppet.execute(&server, "act", json!({})).expect(200, "");
    assert_eq!(honest["status"], "completed");
}

/// C1. The guests would spin for half a minute. Two seconds are hundreds of times what each of these needs.
#[test]
fn starting_showing_listing_and_cancelling_do_not_wait_for_guests_that_spin() {
    let folder = tempfile::tempdir().unwrap();
    let two_threads = "[sandbox]\nthreads = 2\n";
    let server = serve_with(&folder.path().join("data"), two_threads, |command| command);
    let puppet = Puppet::plain(&server);
    let timed = |what: &str, act: &mut dyn FnMut()| {
        let began = Instant::now();
        act();
        let took = began.elapsed();
        assert!(took < Duration::from_secs(2), "{what} took {took:?}");
    };
    let mut spinning = Vec::new();
    for _ in 0..4 {
        timed("starting", &mut || {
            spinning.push(puppet.start(&server, "act", json!({"act": "spin"})));
        });
    }
    let cancel = |id: &str| {
        let path = format!("/v1/executions/{id}/cancel");
        server.send("POST", &path, &[], b"").expect(200, "");
    };
    for _ in 0..5 {
        let mut id = String::new();
        timed("starting", &mut || {
            id = puppet.start(&server, "act", json!({"act": "wait"}));
        });
        timed("showing", &mut || {
            for id in &spinning {
                assert_eq!(shown(&server, id)["status"], "running");
            }
        });
        timed("listing", &mut || {
            let listed = server.call("GET", "/v1/executions?limit=100").expect(200, "");
            assert!(listed["executions"].as_array().unwrap().len() > spinning.len());
        });
        timed("cancelling", &mut || cancel(&id));
        timed("reading the journal", &mut || {
            let journal = server.call("GET", &format!("/v1/executions/{id}/events")).text();
            assert!(journal.contains("cancelled"), "{journal}");
        });
        timed("an honest run", &mut || {
            let honest = puppet.execute(&server, "act", json!({})).expect(200, "");
            assert_eq!(honest["status"], "completed");
        });
    }
    for id in &spinning {
        timed("cancelling", &mut || cancel(id));
    }
}

#[test]
fn a_call_is_made_again_only_where_side_effects_allow_it() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let puppet = Puppet::plain(&server);
    let run = |chain: &str, input: Value| puppet.execute(&server, chain, input).expect(200, "");

    // It fails twice, has a key, and may fail three times.
    let kept = run("keep", json!({"order": "a", "times": 2}));
    assert_eq!(
        (&kept["status"], &kept["steps"][0]["attempts"]),
        (&json!("completed"), &json!(3))
    );
    let id = kept["execution_id"].as_str().unwrap();
    // The key is the same for every attempt, and the guest has it.
    assert_eq!(
        kept["steps"][0]["output"],
        json!({"order": "a", "calls": 3, "key": format!("{id}/0/0")})
    );
    let given_up = run("keep", json!({"order": "b", "times": 9}));
    assert_eq!(
        (
            &given_up["status"],
            &given_up["error"]["code"],
            &given_up["steps"][0]["attempts"]
        ),
        (&json!("failed"), &json!("UNAVAILABLE"), &json!(4))
    );
    // What will not pass is not tried again, though it might be.
    let refused = run("keep", json!({"order": "c", "act": "refuse"}));
    assert_eq!(refused["steps"][0]["attempts"], 1);
    // Without a key nobody can tell a repeated payment from a second one.
    let paid = run("pay", json!({"order": "d", "times": 2}));
    assert_eq!(
        (&paid["status"], &paid["steps"][0]["attempts"]),
        (&json!("failed"), &json!(1))
    );
    let calls = |order: &str| run("calls", json!({"order": order}))["steps"][0]["output"]["calls"].clone();
    assert_eq!(
        (calls("a"), calls("b"), calls("c"), calls("d")),
        (json!(3), json!(4), json!(1), json!(1))
    );
}

#[test]
fn a_payment_that_was_under_way_at_kill_9_is_in_doubt_and_never_made_twice() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let server = serve(&data);
    let puppet = Puppet::plain(&server);
    let id = puppet.start(&server, "pay", json!({"order": "rent", "act": "spin"}));
    let kept = puppet.start(&server, "keep", json!({"order": "note", "act": "wait"}));
    let calls = |server: &Served, order: &str| {
        let result = puppet
            .execute(server, "calls", json!({"order": order}))
            .expect(200, "");
        result["steps"][0]["output"]["calls"].as_u64().unwrap()
    };
    until("both were called", || {
        (calls(&server, "rent") == 1 && calls(&server, "note") == 1).then_some(())
    });
    server.kill();
    let server = serve(&data);
    let result = ended(&server, &id);
    assert_eq!(
        (
            &result["status"],
            &result["error"]["code"],
            &result["error"]["step"]
        ),
        (&json!("failed"), &json!("IN_DOUBT"), &json!(0))
    );
    assert!(result["error"]["message"].as_str().unwrap().contains("look"));
    assert_eq!(calls(&server, "rent"), 1);
    // The one with a key is called again, by itself.
    until("the other is called again", || {
        (calls(&server, "note") == 2).then_some(())
    });
    server
        .send("POST", &format!("/v1/executions/{kept}/cancel"), &[], b"")
        .expect(200, "");
}

#[test]
fn the_gate_agent_is_asked_and_can_only_narrow() {
    let folder = tempfile::tempdir().unwrap();
    let server = serve(&folder.path().join("data"));
    let agent = json!([capability(
        "evaluate_gate",
        Some("hostile.does-as-told.evaluate_gate")
    )]);
    let puppet = Puppet::create(&server, json!([]), agent);
    let allowed = puppet.execute(&server, "gated", json!({})).expect(200, "");
    assert_eq!(allowed["status"], "completed");
    assert!(
        allowed["gates"][0]["reason"]
            .as_str()
            .unwrap()
            .contains("nothing against it")
    );
    for (opinion, reason) in [
        ("not on a Friday", "not on a Friday"),
        ("nonsense", "no decision of allow or veto"),
    ] {
        let vetoed = puppet
            .execute(&server, "gated", json!({"agent": opinion}))
            .expect(409, "GATE_VETO");
        assert_eq!(vetoed["details"]["gate_type"], "before");
        let said = vetoed["details"]["reason"].as_str().unwrap();
        assert!(said.contains(reason), "{said}");
        let id = vetoed["details"]["execution_id"].as_str().unwrap();
        assert_eq!(shown(&server, id)["steps"][0]["status"], "skipped");
    }
}
