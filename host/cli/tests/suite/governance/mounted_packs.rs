//! Packs mounted on a real `mizzen serve`: rule packs made by `mizzen pack build`, run in the real sandbox, seen over HTTP.

use crate::support::host::Host;
use crate::support::http::{Answer, Served};
use crate::support::pack_rules::{FIRST_RULES, HIDER_RULES, READER_RULES, RULES, SECOND_RULES};
use crate::support::packages::{self, RulePack};
use mizzen_catalog::package::{Package, embed_manifest};
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// A host with the text plugin and the tests' packs, and more sections in its configuration.
fn host(sections: &str) -> Host {
    let sharing = RulePack {
        more: "shares = [\"score\"]\n",
        ..RulePack::new("first", FIRST_RULES)
    };
    Host::new()
        .plugin("plugins/text")
        .rules("judge", RULES)
        .package(&sharing.build())
        .rules("second", SECOND_RULES)
        .rules("reader", READER_RULES)
        .rules("hider", HIDER_RULES)
        .config(sections)
}

/// The one package of a plugin or pack that is installed.
fn package(host: &Host, name: &str) -> PathBuf {
    let mut files: Vec<PathBuf> = fs::read_dir(host.path("plugins"))
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|file| {
            file.file_name()
                .unwrap()
                .to_string_lossy()
                .starts_with(&format!("{name}-"))
        })
        .collect();
    assert_eq!(files.len(), 1, "{name}");
    files.remove(0)
}

fn sprite(server: &Served) -> String {
    let body = json!({
        "name": "BECK-02", "version": "1.0.0", "system_prompt": "Be brief.",
        "capabilities": [{"name": "shout", "description": "d", "tool": "text.case", "parameters": {"type": "object"}}],
        "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
    });
    let made = server.call_json("POST", "/v1/sprites", &body);
    // Tests that make two councils of it have it already (D25).
    let id = match made.status {
        409 => made.expect(409, "SPRITE_CONFLICT")["details"]["sprite_id"].clone(),
        _ => made.expect(201, "")["id"].clone(),
    };
    id.as_str().unwrap().to_owned()
}

/// A council of one chain that shouts the input's text, with its mounts and those of its chain.
fn draft(sprite: &str, domain: &str, council: Value, chain: Value) -> Value {
    json!({
        "domain": domain, "sprites": [sprite], "gate_agents": [sprite], "governance": council,
        "chains": [{"name": "shout", "timeout": "60s", "gates": [], "governance": chain, "steps": [{
            "order": 0, "sprite_id": sprite, "action": "shout", "retries": 2,
            "input_map": {"text": "$input.text", "to": "upper"},
        }]}],
    })
}

struct Chain(Value);

impl Chain {
    fn create(server: &Served, council: Value, chain: Value) -> Self {
        let body = draft(&sprite(server), "d", council, chain);
        Self(server.call_json("POST", "/v1/councils", &body).expect(201, ""))
    }

    fn execute(&self, server: &Served, input: Value) -> Answer {
        let body = json!({"council_id": self.0["id"], "chain_id": self.0["chains"][0]["id"], "input": input});
        server.call_json("POST", "/v1/chains/execute", &body)
    }
}

fn said(result: &Value) -> Vec<String> {
    let packs = result["packs"].as_array().unwrap();
    packs
        .iter()
        .map(|said| {
            let text = |name: &str| said[name].as_str().unwrap_or("-").to_owned();
            format!("{} {} {}", text("pack_id"), text("moment"), text("action"))
        })
        .collect()
}

#[test]
fn a_mounted_pack_vetoes_redacts_retries_escalates_and_annotates_over_http() {
    let host = host("");
    let server = host.serve();
    let chain = Chain::create(&server, json!([{"id": "judge"}]), json!([]));

    // The seed's example: it fires on 5 and not on 3.
    let vetoed = chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(409, "PACK_VETO");
    let details = &vetoed["details"];
    assert_eq!(
        (&details["pack_id"], &details["rule"], &details["moment"]),
        (&json!("judge"), &json!("severe"), &json!("before-run"))
    );
    assert_eq!(details["reason"], "severity 5 is too high");
    let id = details["execution_id"].as_str().unwrap();
    let kept = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(
        (&kept["status"], &kept["error"]["code"]),
        (&json!("vetoed"), &json!("PACK_VETO"))
    );
    let result = chain
        .execute(&server, json!({"text": "a", "severity": 3}))
        .expect(200, "");
    assert_eq!(result["steps"][0]["output"]["text"], "A");
    assert_eq!(said(&result), ["judge at-end annotate"]);
    assert_eq!(result["packs"][0]["version"], "1.0.0");
    assert!(
        result["packs"][0]["digest"]
            .as_str()
            .unwrap()
            .starts_with("blake3:")
    );

    let result = chain
        .execute(&server, json!({"text": "key xk-secret-77 ok"}))
        .expect(200, "");
    assert_eq!(result["steps"][0]["output"]["text"], "KEY [redacted] OK");
    assert_eq!(result["packs"][0]["reason"], "found in KEY [redacted] OK");

    let result = chain
        .execute(&server, json!({"text": "a", "again": true}))
        .expect(200, "");
    assert_eq!(
        (&result["steps"][0]["attempts"], &result["status"]),
        (&json!(2), &json!("completed"))
    );

    let waiting = chain
        .execute(&server, json!({"text": "and xk-other-88", "ask": true}))
        .expect(202, "");
    assert_eq!(waiting["status"], "awaiting_approval");
    assert_eq!(waiting["escalation"]["rule_id"], "judge:ask");
    // It waits over a crash; what it waits with is redacted.
    server.kill();
    let server = host.serve();
    let id = waiting["execution_id"].as_str().unwrap();
    let answer = json!({"escalation_id": waiting["escalation"]["escalation_id"], "decision": "approve", "reason": "fine"});
    let decided = server
        .call_json("POST", &format!("/v1/executions/{id}/decision"), &answer)
        .expect(200, "");
    let ended = server.send("GET", &format!("/v1/executions/{id}/events"), &[], b"");
    assert_eq!(ended.status, 200);
    let decided = match decided["status"].as_str() {
        Some("completed") => decided,
        _ => server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, ""),
    };
    assert_eq!(decided["steps"][0]["output"]["text"], "AND [redacted]");
    assert_eq!(decided["status"], "completed");

    // What was vetoed, or could not be judged, is not kept either.
    for input in [
        json!({"text": "never xk-stopped-91", "stop": true}),
        json!({"text": "never xk-odd-92", "nonsense": true}),
    ] {
        let vetoed = chain.execute(&server, input).expect(409, "PACK_VETO");
        let id = vetoed["details"]["execution_id"].as_str().unwrap();
        let kept = server
            .call("GET", &format!("/v1/executions/{id}"))
            .expect(200, "");
        assert_eq!(kept["steps"][0].get("output"), None);
    }
    let endless = chain
        .execute(&server, json!({"text": "a", "endless": true}))
        .expect(409, "PACK_VETO");
    assert_eq!(endless["details"]["rule"], Value::Null, "{endless}");
    let history = format!(
        "/v1/chains/{}/history?limit=100",
        chain.0["chains"][0]["id"].as_str().unwrap()
    );
    let runs = server.call("GET", &history).expect(200, "")["executions"].clone();
    server.terminate();
    // What the packs said is recorded, so every run can be gone through again without them.
    assert_eq!(runs.as_array().unwrap().len(), 8);
    for run in runs.as_array().unwrap() {
        let id = run["execution_id"].as_str().unwrap();
        let said = host.yes(&["run", "replay", id]);
        assert!(said.contains("pack judge"), "{said}");
    }
    // The input is the caller's own and is kept; what a pack took out of an answer is nowhere.
    assert!(host.keeps("xk-secret-77"));
    for gone in ["XK-SECRET-77", "XK-OTHER-88", "XK-STOPPED-91", "XK-ODD-92"] {
        assert!(!host.keeps(gone), "{gone} was kept");
    }
}

/// What is left of a run whose input had a secret, in `text` and elsewhere, after its end.
fn check_hidden(host: &Host, server: &Served, id: &str, secret: &str) {
    let shown = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(shown["steps"][0]["output"]["text"], "X [REDACTED] Y");
    let events = server.send("GET", &format!("/v1/executions/{id}/events"), &[], b"");
    let events = events.text();
    assert!(!events.contains(secret), "{events}");
    let began = std::time::Instant::now();
    while host.keeps(secret) {
        assert!(began.elapsed().as_secs() < 60, "{secret} is kept");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let (file, document, key) = host.export(id);
    assert!(!document.to_string().contains(secret));
    let started: Value = serde_json::from_str(document["entries"][0]["bytes"].as_str().unwrap()).unwrap();
    assert_eq!(started["input"]["text"], "x [redacted] y");
    assert_eq!(
        started["input"]["more"],
        json!({"[redacted]": ["it is [redacted]!", 7]})
    );
    host.yes(&["audit", "verify", file.to_str().unwrap(), "--key", &key]);
    let replayed = host.yes(&["run", "replay", id]);
    assert!(
        replayed.contains("redacted the input") && replayed.contains("same: completed"),
        "{replayed}"
    );
    host.yes(&["doctor"]);
}

/// R13: the journal's first entry holds the input.
#[test]
fn what_a_pack_redacts_of_a_steps_input_is_nowhere_when_the_run_has_ended() {
    let host = host("");
    let server = host.serve();
    let chain = Chain::create(&server, json!([{"id": "hider"}]), json!([]));
    let input = |secret: &str, ask: bool| json!({"text": format!("x {secret} y"), "ask": ask, "more": {secret: [format!("it is {secret}!"), 7]}});
    let id = |answer: &Value| answer["execution_id"].as_str().unwrap().to_owned();

    let ended = id(&chain
        .execute(&server, input("TOPSECRET4711", false))
        .expect(200, ""));
    check_hidden(&host, &server, &ended, "TOPSECRET4711");
    // Where nothing is redacted, the input is kept as it was sent.
    let plain = id(&chain.execute(&server, input("PLAIN4710", false)).expect(200, ""));
    let events = server
        .send("GET", &format!("/v1/executions/{plain}/events"), &[], b"")
        .text();
    assert!(
        events.contains("it is PLAIN4710!") && !events.contains("input_redacted"),
        "{events}"
    );

    // Until it has ended the run needs its input: it goes on with it after a crash.
    let waiting = chain
        .execute(&server, input("TOPSECRET4712", true))
        .expect(202, "");
    server.kill();
    assert!(host.keeps("TOPSECRET4712"));
    let server = host.serve();
    let answer = json!({"escalation_id": waiting["escalation"]["escalation_id"], "decision": "approve", "reason": "fine"});
    server
        .call_json(
            "POST",
            &format!("/v1/executions/{}/decision", id(&waiting)),
            &answer,
        )
        .expect(200, "");
    // The stream of events ends with the run.
    server.send(
        "GET",
        &format!("/v1/executions/{}/events", id(&waiting)),
        &[],
        b"",
    );
    check_hidden(&host, &server, &id(&waiting), "TOPSECRET4712");

    // The host is killed as soon as the end is acknowledged.
    let ended = id(&chain
        .execute(&server, input("TOPSECRET4713", false))
        .expect(200, ""));
    server.kill();
    let server = host.serve();
    check_hidden(&host, &server, &ended, "TOPSECRET4713");
}

#[test]
fn an_advisory_pack_is_heard_and_not_followed() {
    let host = host("");
    let server = host.serve();
    let chain = Chain::create(&server, json!([]), json!([{"id": "judge", "mode": "advisory"}]));
    for input in [
        json!({"text": "xk-a-1", "severity": 9, "ask": true}),
        json!({"text": "xk-a-1", "nonsense": true}),
        json!({"text": "xk-a-1", "endless": true}),
    ] {
        let result = chain.execute(&server, input).expect(200, "");
        assert_eq!(result["status"], "completed");
        assert_eq!(result["steps"][0]["output"]["text"], "XK-A-1");
        let packs = result["packs"].as_array().unwrap();
        assert!(packs.len() > 1, "{packs:?}");
        let done: Vec<&Value> = packs
            .iter()
            .filter(|said| said["applied"] == json!(true))
            .collect();
        assert!(done.iter().all(|said| said["action"] == "annotate"), "{done:?}");
    }
}

#[test]
fn a_mount_that_cannot_be_mounted_refuses_the_council() {
    let host = host("");
    let server = host.serve();
    let sprite = sprite(&server);
    let check = |council: Value, chain: Value, wanted: Value| {
        let body = draft(&sprite, "d", council, chain);
        let refused = server
            .call_json("POST", "/v1/councils", &body)
            .expect(400, "PACK_UNMOUNTABLE");
        let mount = &refused["details"]["mounts"][0];
        for (name, value) in wanted.as_object().unwrap() {
            assert_eq!(&mount[name], value, "{refused}");
        }
    };
    check(
        json!([{"id": "nobody"}]),
        json!([]),
        json!({"path": "/governance/0", "pack_id": "nobody", "code": "not_installed"}),
    );
    check(
        json!([]),
        json!([{"id": "judge", "version": "2.0.0"}]),
        json!({"path": "/chains/0/governance/0", "pack_id": "judge", "code": "not_installed"}),
    );
    check(
        json!([{"id": "judge", "requires": {"stargraph_facts_version": "9.0"}}]),
        json!([]),
        json!({"code": "incompatible", "field": "stargraph_facts_version", "required": "9.0", "actual": "1.0"}),
    );
    check(
        json!([{"id": "judge", "requires": {"api_version": "2"}}]),
        json!([]),
        json!({"code": "incompatible", "field": "api_version", "required": "2", "actual": "1"}),
    );
    let twice = draft(
        &sprite,
        "d",
        json!([{"id": "judge"}, {"id": "judge", "mode": "advisory"}]),
        json!([]),
    );
    server
        .call_json("POST", "/v1/councils", &twice)
        .expect(400, "VALIDATION_ERROR");
    let good = draft(
        &sprite,
        "d",
        json!([{"id": "judge", "version": "1.0.0"}]),
        json!([]),
    );
    let made = server.call_json("POST", "/v1/councils", &good).expect(201, "");
    assert_eq!(made["governance"], json!([{"id": "judge", "version": "1.0.0"}]));
}

#[test]
fn what_the_host_mounts_nobody_below_can_unmount() {
    let host = host("[[governance]]\nid = \"judge\"\n");
    let server = host.serve();
    // The council mounts it as advisory; the host's mount holds, and it is asked once.
    let chain = Chain::create(&server, json!([{"id": "judge", "mode": "advisory"}]), json!([]));
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(409, "PACK_VETO");
    let result = chain.execute(&server, json!({"text": "a"})).expect(200, "");
    assert_eq!(said(&result), ["judge at-end annotate"]);
    let refused = server
        .call("DELETE", "/v1/plugins/judge")
        .expect(422, "PLUGIN_REFUSED");
    assert_eq!(refused["details"]["errors"][0]["code"], "pack-unmountable");
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(409, "PACK_VETO");
    server.terminate();

    // A host that cannot mount what it must does not start, nor one with a pack that was tampered with.
    host.configure("[[governance]]\nid = \"judge\"\nversion = \"3.0.0\"\n");
    let log = host.refused();
    assert!(log.contains("pack-unmountable") && log.contains("3.0.0"), "{log}");
    host.configure("[[governance]]\nid = \"judge\"\n");
    let file = package(&host, "judge");
    let bytes = fs::read(&file).unwrap();
    let place_of_rule = bytes
        .windows(b"is too high".len())
        .position(|window| window == b"is too high")
        .unwrap();
    let mut changed = bytes.clone();
    changed[place_of_rule + 7] = b'n';
    fs::write(&file, &changed).unwrap();
    let log = host.refused();
    assert!(log.contains("[signature]"), "{log}");
    fs::write(&file, &bytes).unwrap();
    host.serve().terminate();
}

#[test]
fn templates_of_two_packs_never_clash_and_what_is_shared_is_seen_by_later_ones() {
    let host = host("");
    let server = host.serve();
    let both = Chain::create(&server, json!([{"id": "first"}, {"id": "second"}]), json!([]));
    let reasons = |result: &Value| -> Vec<String> {
        let packs = result["packs"].as_array().unwrap().iter();
        packs
            .map(|said| said["reason"].as_str().unwrap().to_owned())
            .collect()
    };
    let result = both.execute(&server, json!({"text": "a"})).expect(200, "");
    assert_eq!(reasons(&result), ["second: mine and mine too"]);
    let vetoed = both
        .execute(&server, json!({"text": "a", "rate": 7}))
        .expect(409, "PACK_VETO");
    assert_eq!(vetoed["details"]["reason"], "the first one gave 7");
    let id = vetoed["details"]["execution_id"].as_str().unwrap();
    let result = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(
        reasons(&result)[..3],
        [
            "first: 7 and 7",
            "second: mine and mine too",
            "the first one gave 7"
        ],
        "{result:#}"
    );
    // Later, in load order: one that is asked earlier does not see it.
    let turned = json!([{"id": "second"}, {"id": "first"}]);
    let body = draft(&sprite(&server), "turned", turned, json!([]));
    let turned = Chain(server.call_json("POST", "/v1/councils", &body).expect(201, ""));
    let result = turned
        .execute(&server, json!({"text": "a", "rate": 7}))
        .expect(200, "");
    assert_eq!(reasons(&result), ["second: mine and mine too", "first: 7 and 7"]);
}

/// What a pack reads is recorded with its run. An answer of more texts than can be told goes through where nobody reads evidence, also in
/// a run that another process began: one that was told everything would be vetoed.
#[test]
fn what_a_pack_reads_outlives_a_restart_with_its_run() {
    let host = host("");
    let server = host.serve();
    let tool =
        |name: &str, tool: &str| json!({"name": name, "description": "d", "tool": tool, "parameters": {}});
    let sprite = json!({
        "name": "BECK-02", "version": "1.0.0", "system_prompt": "Be brief.",
        "capabilities": [tool("shout", "text.case"), tool("split", "text.extract")],
        "metadata": {"author": "a", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["x"]},
    });
    let sprite = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "")["id"].clone();
    let council = json!({
        "domain": "d", "sprites": [sprite], "gate_agents": [sprite], "governance": [{"id": "reader"}],
        "chains": [{"name": "c", "timeout": "60s", "gates": [], "steps": [
            {"order": 0, "sprite_id": sprite, "action": "shout", "input_map": {"text": "$input.text", "to": "upper"}},
            {"order": 1, "sprite_id": sprite, "action": "split",
             "input_map": {"text": "$steps[0].output.text", "pattern": "[A-Z]", "limit": 10_000}},
        ]}],
    });
    let chain = Chain(server.call_json("POST", "/v1/councils", &council).expect(201, ""));
    let waiting = chain
        .execute(&server, json!({"text": "a".repeat(2_500)}))
        .expect(202, "");
    assert_eq!(waiting["escalation"]["reason"], "before split");
    server.kill();

    let server = host.serve();
    let id = waiting["execution_id"].as_str().unwrap();
    let answer = json!({"escalation_id": waiting["escalation"]["escalation_id"], "decision": "approve", "reason": "fine"});
    server
        .call_json("POST", &format!("/v1/executions/{id}/decision"), &answer)
        .expect(200, "");
    // The stream of events ends with the run.
    assert_eq!(
        server
            .send("GET", &format!("/v1/executions/{id}/events"), &[], b"")
            .status,
        200
    );
    let ended = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(
        ended["status"], "completed",
        "{} {}",
        ended["error"], ended["packs"]
    );
    let found = ended["steps"][1]["output"]["matches"].as_array().unwrap();
    assert_eq!(found.len(), 2_500);
    let last = ended["packs"].as_array().unwrap().last().unwrap();
    assert_eq!(last["reason"], "text.extract ended with output, local: approve");
}

#[test]
fn a_pack_that_is_gone_stops_the_councils_that_mount_it() {
    let host = host("");
    let server = host.serve();
    let chain = Chain::create(&server, json!([{"id": "judge"}]), json!([]));
    chain.execute(&server, json!({"text": "a"})).expect(200, "");
    server.call("DELETE", "/v1/plugins/judge").expect(204, "");
    let vetoed = chain
        .execute(&server, json!({"text": "a"}))
        .expect(409, "PACK_VETO");
    let reason = vetoed["details"]["reason"].as_str().unwrap();
    assert!(reason.contains("is not installed"), "{reason}");
}

#[test]
fn mizzen_ir_mounts_says_what_could_be_mounted() {
    let host = host("");
    let document = |id: &str, facts: &str| {
        json!({
            "ir_version": "1.0.0", "id": "run:g", "nodes": [{"id": "a", "kind": "echo"}],
            "governance": [{"id": id, "requires": {"stargraph_facts_version": facts}}],
        })
    };
    let look = |id: &str, facts: &str| {
        fs::write(host.path("graph.json"), document(id, facts).to_string()).unwrap();
        let output = host.run(&["ir", "mounts", "graph.json", "--json"]);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let found: Value = serde_json::from_str(&text)
            .unwrap_or_else(|_| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)));
        (output.status.code(), found)
    };
    let (code, found) = look("judge", "1.0");
    assert_eq!(
        (code, &found[0]["found"][0]),
        (Some(0), &json!("1.0.0")),
        "{found}"
    );
    let (code, found) = look("judge", "2.0");
    assert_eq!(
        (code, &found[0]["problem"]["field"]),
        (Some(1), &json!("stargraph_facts_version"))
    );
    let (code, found) = look("nobody", "1.0");
    assert_eq!(
        (code, &found[0]["problem"]["code"]),
        (Some(1), &json!("not_installed"))
    );
}

/// R8: a package that is newer, with a pack in it that is older. What the older one does not veto is not vetoed.
#[test]
fn a_mandatory_pack_becomes_older_only_with_admin() {
    let host = host("[[governance]]\nid = \"judge\"\n");
    let newer = RulePack {
        version: "1.1.0",
        ..RulePack::new("judge", RULES)
    };
    let own = package(&host, "judge");
    let old = Package::parse(fs::read(&own).unwrap()).unwrap();
    fs::remove_file(own).unwrap();
    newer.build().write(&host.path("plugins"));
    let manifest = old.manifest_text().replace("1.0.0", "2.0.0");
    let disguised = host.path("judge-2.0.0.wasm");
    fs::write(&disguised, embed_manifest(old.component(), &manifest).unwrap()).unwrap();
    host.yes(&["plugin", "sign", "--key", "dev", disguised.to_str().unwrap()]);
    let disguised = fs::read(disguised).unwrap();
    let key = |grant: &str| format!("Bearer {}", host.key(&[grant]));
    let (writer, admin) = (key("plugins:write"), key("admin"));
    let server = host.serve();
    let post = |bearer: &str, path: &str| {
        let headers = [("authorization", bearer), ("content-type", "application/wasm")];
        server.send("POST", path, &headers, &disguised)
    };
    let refused = post(&writer, "/v1/plugins").expect(409, "PLUGIN_DOWNGRADE");
    let details = &refused["details"];
    assert_eq!(
        (&details["name"], &details["version"], &details["newest"]),
        (&json!("pack judge"), &json!("1.0.0"), &json!("1.1.0"))
    );
    post(&writer, "/v1/plugins?downgrade=true").expect(403, "FORBIDDEN");
    assert!(package(&host, "judge").ends_with("judge-1.1.0.wasm"));
    post(&admin, "/v1/plugins?downgrade=true").expect(201, "");
    assert!(package(&host, "judge").ends_with("judge-2.0.0.wasm"));
}

/// R19: whoever has the data folder could run chains on it with a configuration of their own.
#[test]
fn a_folder_that_mandatory_packs_govern_is_not_run_without_them() {
    let mounted = "[[governance]]\nid = \"judge\"\n[[governance]]\nid = \"first\"\nmode = \"advisory\"\n";
    let host = host(mounted);
    let server = host.serve();
    let chain = Chain::create(&server, json!([]), json!([]));
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(409, "PACK_VETO");
    server.terminate();
    let verb = |arguments: &[&str]| {
        let output = host.run(arguments);
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    };
    let (_, shown) = verb(&["governance", "show", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown[0]["id"], "judge", "{shown}");
    assert_eq!(
        shown.as_array().unwrap().len(),
        1,
        "an advisory pack may go: {shown}"
    );
    assert!(
        shown[0]["signers"][0].as_str().unwrap().starts_with("mzk_"),
        "{shown}"
    );

    // Without the pack, with it as advice only, and without any configuration.
    let input = r#"{"text": "a", "severity": 5}"#;
    let run = ["chain", "run", "--council", "d", "--input", input];
    for config in ["", "[[governance]]\nid = \"judge\"\nmode = \"advisory\"\n"] {
        host.configure(config);
        let log = host.refused();
        assert!(
            log.contains("governed by packs that the configuration does not mount as mandatory: judge")
                && log.contains("mizzen governance accept"),
            "{log}"
        );
        let (code, said) = verb(&run);
        assert!(
            code == Some(1) && said.contains("does not mount as mandatory: judge"),
            "{said}"
        );
        let (code, said) = verb(&["doctor"]);
        assert!(
            code == Some(1) && said.contains("does not mount as mandatory: judge"),
            "{said}"
        );
    }
    fs::remove_file(host.path("mizzen.toml")).unwrap();
    let (code, said) = verb(&run);
    assert!(
        code == Some(1) && said.contains("does not mount as mandatory: judge"),
        "{said}"
    );

    // With a pack of the same id that somebody else has made, and that says nothing.
    let theirs = host.path("theirs");
    let meek = "(defrule never (moment (name before-run)) (no-such-field TRUE) => (assert (decision (reason \"never\"))))";
    let source = RulePack::new("judge", meek).write(host.folder());
    let own = package(&host, "judge");
    let genuine = fs::read(&own).unwrap();
    packages::build("pack", &source, &theirs).write(&host.path("plugins"));
    host.configure(mounted);
    let trusted = packages::home().join("keys/dev.pub");
    host.yes(&[
        "trust",
        "add",
        trusted.to_str().unwrap(),
        "--namespace",
        "*",
        "--trust",
        "trust.toml",
    ]);
    let their_home = theirs.to_str().unwrap();
    let (code, said) = verb(&[
        "chain",
        "run",
        "--council",
        "d",
        "--input",
        input,
        "--home",
        their_home,
    ]);
    assert!(
        code == Some(1) && said.contains("governed by the pack judge, signed with"),
        "{said}"
    );
    fs::write(&own, genuine).unwrap();

    // With it, it is served as before; and without it once the operator has said so.
    host.serve().terminate();
    host.configure("");
    let (code, said) = verb(&["governance", "accept"]);
    assert!(
        code == Some(0) && said.contains("- judge") && said.contains("no pack governs"),
        "{said}"
    );
    let server = host.serve();
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(200, "");
    server.terminate();
    let (code, said) = verb(&["doctor"]);
    assert!(code == Some(0), "the change is in a sound audit log: {said}");
}
