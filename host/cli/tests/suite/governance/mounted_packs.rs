//! Packs mounted on a real `mizzen serve`: rule packs made by `mizzen pack build`, run in the real sandbox, seen over HTTP.

use crate::support::http;
use crate::support::pack_rules;

use http::{Answer, Served, mizzen};
use mizzen_catalog::package::{Package, embed_manifest};
use pack_rules::{FIRST_RULES, HIDER_RULES, READER_RULES, RULES, SECOND_RULES};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn write_pack(folder: &Path, name: &str, version: &str, more: &str, rules: &str) -> PathBuf {
    let folder = folder.join(format!("source-{name}-{version}"));
    fs::create_dir_all(&folder).unwrap();
    let toml = format!(
        "[plugin]\nname = \"{name}\"\nversion = \"{version}\"\napi_version = \"1\"\nnamespaces = [\"{name}\"]\n\
         [pack]\ndescription = \"For tests.\"\n{more}"
    );
    fs::write(folder.join("pack.toml"), toml).unwrap();
    fs::write(folder.join("rules.clp"), rules).unwrap();
    folder
}

fn run(arguments: &[&str], folder: &Path, output: &Path, home: &Path) {
    let built = mizzen()
        .args(arguments)
        .arg(folder)
        .arg("--output")
        .arg(output)
        .arg("--home")
        .arg(home)
        .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    assert!(
        built.status.success(),
        "{}",
        String::from_utf8_lossy(&built.stderr)
    );
}

/// The text plugin and the tests' pack, built and signed once: folder, packages, home.
fn packages() -> &'static (tempfile::TempDir, PathBuf, PathBuf) {
    static PACKAGES: OnceLock<(tempfile::TempDir, PathBuf, PathBuf)> = OnceLock::new();
    PACKAGES.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let (output, home) = (folder.path().join("plugins"), folder.path().join("home"));
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        run(&["plugin", "build"], &root.join("plugins/text"), &output, &home);
        for (name, more, rules) in [
            ("judge", "", RULES),
            ("first", "shares = [\"score\"]\n", FIRST_RULES),
            ("second", "", SECOND_RULES),
            ("reader", "", READER_RULES),
            ("hider", "", HIDER_RULES),
        ] {
            let pack = write_pack(folder.path(), name, "1.0.0", more, rules);
            run(&["pack", "build"], &pack, &output, &home);
        }
        (folder, output, home)
    })
}

struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// A host's folder with copies of the packages, and more lines of `mizzen.toml`.
    fn new(more: &str) -> Self {
        let place = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let (_, packages, _) = packages();
        fs::create_dir(place.path("plugins")).unwrap();
        for file in fs::read_dir(packages).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, place.path("plugins").join(file.file_name().unwrap())).unwrap();
        }
        place.configure(more);
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn configure(&self, more: &str) {
        let text = format!("[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"dev\"\n{more}");
        fs::write(self.path("mizzen.toml"), text).unwrap();
    }

    fn arguments(&self) -> Vec<String> {
        let home = packages().2.to_str().unwrap().to_owned();
        let config = self.path("mizzen.toml").to_str().unwrap().to_owned();
        vec!["--config".to_owned(), config, "--home".to_owned(), home]
    }

    fn serve(&self) -> Served {
        let arguments = self.arguments();
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        Served::start_with(&self.path("data"), &arguments, |command| command)
    }

    /// How a server that must not start ends.
    fn refused(&self) -> String {
        let output = mizzen()
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(self.path("data"))
            .args(self.arguments())
            .current_dir(self.folder.path())
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    }

    fn package(&self, name: &str) -> PathBuf {
        let mut files: Vec<PathBuf> = fs::read_dir(self.path("plugins"))
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

    /// Whether a text is anywhere in what the host keeps.
    fn keeps(&self, text: &str) -> bool {
        let needle = text.as_bytes();
        fs::read_dir(self.path("data")).unwrap().any(|file| {
            let file = file.unwrap().path();
            file.is_file()
                && fs::read(file)
                    .unwrap()
                    .windows(needle.len())
                    .any(|window| window == needle)
        })
    }
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
    let place = Place::new("");
    let server = place.serve();
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
    let server = place.serve();
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
        let data = place.path("data");
        let output = mizzen()
            .args(["run", "replay", id, "--data"])
            .arg(data)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("pack judge"), "{said}");
    }
    // The input is the caller's own and is kept; what a pack took out of an answer is nowhere.
    assert!(place.keeps("xk-secret-77"));
    for gone in ["XK-SECRET-77", "XK-OTHER-88", "XK-STOPPED-91", "XK-ODD-92"] {
        assert!(!place.keeps(gone), "{gone} was kept");
    }
}

/// What is left of a run whose input had a secret, in `text` and elsewhere, after its end.
fn check_hidden(place: &Place, server: &Served, id: &str, secret: &str) {
    let shown = server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "");
    assert_eq!(shown["status"], "completed", "{shown}");
    assert_eq!(shown["steps"][0]["output"]["text"], "X [REDACTED] Y");
    let events = server.send("GET", &format!("/v1/executions/{id}/events"), &[], b"");
    let events = events.text();
    assert!(!events.contains(secret), "{events}");
    let began = std::time::Instant::now();
    while place.keeps(secret) {
        assert!(began.elapsed().as_secs() < 60, "{secret} is kept");
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let verb = |arguments: &[&str]| {
        let output = mizzen()
            .args(arguments)
            .arg("--data")
            .arg(place.path("data"))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.success(),
            "{}{said}",
            String::from_utf8_lossy(&output.stdout)
        );
        (String::from_utf8(output.stdout).unwrap(), said)
    };
    let (export, said) = verb(&["audit", "export", id]);
    assert!(!export.contains(secret));
    let document: Value = serde_json::from_str(&export).unwrap();
    let started: Value = serde_json::from_str(document["entries"][0]["bytes"].as_str().unwrap()).unwrap();
    assert_eq!(started["input"]["text"], "x [redacted] y");
    assert_eq!(
        started["input"]["more"],
        json!({"[redacted]": ["it is [redacted]!", 7]})
    );
    let file = place.path("run.json");
    fs::write(&file, export).unwrap();
    let key = said
        .lines()
        .find_map(|line| line.strip_prefix("host key: "))
        .unwrap();
    let verified = mizzen()
        .args(["audit", "verify", file.to_str().unwrap(), "--key", key])
        .output()
        .unwrap();
    assert!(verified.status.success(), "{verified:?}");
    let (replayed, _) = verb(&["run", "replay", id]);
    assert!(
        replayed.contains("redacted the input") && replayed.contains("same: completed"),
        "{replayed}"
    );
    verb(&["doctor"]);
}

/// R13: the journal's first entry holds the input.
#[test]
fn what_a_pack_redacts_of_a_steps_input_is_nowhere_when_the_run_has_ended() {
    let place = Place::new("");
    let server = place.serve();
    let chain = Chain::create(&server, json!([{"id": "hider"}]), json!([]));
    let input = |secret: &str, ask: bool| json!({"text": format!("x {secret} y"), "ask": ask, "more": {secret: [format!("it is {secret}!"), 7]}});
    let id = |answer: &Value| answer["execution_id"].as_str().unwrap().to_owned();

    let ended = id(&chain
        .execute(&server, input("TOPSECRET4711", false))
        .expect(200, ""));
    check_hidden(&place, &server, &ended, "TOPSECRET4711");
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
    assert!(place.keeps("TOPSECRET4712"));
    let server = place.serve();
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
    check_hidden(&place, &server, &id(&waiting), "TOPSECRET4712");

    // The host is killed as soon as the end is acknowledged.
    let ended = id(&chain
        .execute(&server, input("TOPSECRET4713", false))
        .expect(200, ""));
    server.kill();
    let server = place.serve();
    check_hidden(&place, &server, &ended, "TOPSECRET4713");
}

#[test]
fn an_advisory_pack_is_heard_and_not_followed() {
    let place = Place::new("");
    let server = place.serve();
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
    let place = Place::new("");
    let server = place.serve();
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
    let place = Place::new("[[governance]]\nid = \"judge\"\n");
    let server = place.serve();
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
    place.configure("[[governance]]\nid = \"judge\"\nversion = \"3.0.0\"\n");
    let log = place.refused();
    assert!(log.contains("pack-unmountable") && log.contains("3.0.0"), "{log}");
    place.configure("[[governance]]\nid = \"judge\"\n");
    let file = place.package("judge");
    let bytes = fs::read(&file).unwrap();
    let place_of_rule = bytes
        .windows(b"is too high".len())
        .position(|window| window == b"is too high")
        .unwrap();
    let mut changed = bytes.clone();
    changed[place_of_rule + 7] = b'n';
    fs::write(&file, &changed).unwrap();
    let log = place.refused();
    assert!(log.contains("[signature]"), "{log}");
    fs::write(&file, &bytes).unwrap();
    place.serve().terminate();
}

#[test]
fn templates_of_two_packs_never_clash_and_what_is_shared_is_seen_by_later_ones() {
    let place = Place::new("");
    let server = place.serve();
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
    let place = Place::new("");
    let server = place.serve();
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

    let server = place.serve();
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
    let place = Place::new("");
    let server = place.serve();
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
    let place = Place::new("");
    let document = |id: &str, facts: &str| {
        json!({
            "ir_version": "1.0.0", "id": "run:g", "nodes": [{"id": "a", "kind": "echo"}],
            "governance": [{"id": id, "requires": {"stargraph_facts_version": facts}}],
        })
    };
    let look = |id: &str, facts: &str| {
        fs::write(place.path("graph.json"), document(id, facts).to_string()).unwrap();
        let output = mizzen()
            .args(["ir", "mounts", "graph.json", "--json"])
            .args(place.arguments())
            .current_dir(place.folder.path())
            .output()
            .unwrap();
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
    let place = Place::new("[[governance]]\nid = \"judge\"\n");
    let (_, old, home) = packages();
    let old = fs::read(old.join("judge-1.0.0.wasm")).unwrap();
    let newer = write_pack(place.folder.path(), "judge", "1.1.0", "", RULES);
    fs::remove_file(place.package("judge")).unwrap();
    run(&["pack", "build"], &newer, &place.path("plugins"), home);
    let old = Package::parse(old).unwrap();
    let manifest = old.manifest_text().replace("1.0.0", "2.0.0");
    let disguised = place.path("judge-2.0.0.wasm");
    fs::write(&disguised, embed_manifest(old.component(), &manifest).unwrap()).unwrap();
    let signed = mizzen()
        .args(["plugin", "sign", "--key", "dev", "--home"])
        .arg(home)
        .arg(&disguised)
        .output()
        .unwrap();
    assert!(
        signed.status.success(),
        "{}",
        String::from_utf8_lossy(&signed.stderr)
    );
    let disguised = fs::read(disguised).unwrap();
    let key = |grant: &str| {
        let output = mizzen()
            .args(["key", "api", "--data"])
            .arg(place.path("data"))
            .args(["new", "--grant", grant])
            .output()
            .unwrap();
        format!("Bearer {}", String::from_utf8(output.stdout).unwrap().trim())
    };
    let (writer, admin) = (key("plugins:write"), key("admin"));
    let server = place.serve();
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
    assert!(place.package("judge").ends_with("judge-1.1.0.wasm"));
    post(&admin, "/v1/plugins?downgrade=true").expect(201, "");
    assert!(place.package("judge").ends_with("judge-2.0.0.wasm"));
}

/// R19: whoever has the data folder could run chains on it with a configuration of their own.
#[test]
fn a_folder_that_mandatory_packs_govern_is_not_run_without_them() {
    let mounted = "[[governance]]\nid = \"judge\"\n[[governance]]\nid = \"first\"\nmode = \"advisory\"\n";
    let place = Place::new(mounted);
    let server = place.serve();
    let chain = Chain::create(&server, json!([]), json!([]));
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(409, "PACK_VETO");
    server.terminate();
    let verb = |arguments: &[&str]| {
        let output = mizzen()
            .args(arguments)
            .arg("--data")
            .arg(place.path("data"))
            .current_dir(place.folder.path())
            .output()
            .unwrap();
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
    let home = packages().2.to_str().unwrap();
    let input = r#"{"text": "a", "severity": 5}"#;
    let run = ["chain", "run", "--council", "d", "--input", input, "--home", home];
    for config in ["", "[[governance]]\nid = \"judge\"\nmode = \"advisory\"\n"] {
        place.configure(config);
        let log = place.refused();
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
    fs::remove_file(place.path("mizzen.toml")).unwrap();
    let (code, said) = verb(&run);
    assert!(
        code == Some(1) && said.contains("does not mount as mandatory: judge"),
        "{said}"
    );

    // With a pack of the same id that somebody else has made, and that says nothing.
    let theirs = place.path("theirs");
    let meek = "(defrule never (moment (name before-run)) (no-such-field TRUE) => (assert (decision (reason \"never\"))))";
    let source = write_pack(place.folder.path(), "judge", "1.0.0", "", meek);
    let own = place.package("judge");
    let genuine = fs::read(&own).unwrap();
    run_pack_build(&source, &place.path("plugins"), &theirs);
    place.configure(mounted);
    let trusting = fs::read_to_string(packages().2.join("keys/dev.pub")).unwrap();
    fs::write(place.path("dev.pub"), trusting).unwrap();
    let trusted = mizzen()
        .args([
            "trust",
            "add",
            "dev.pub",
            "--namespace",
            "*",
            "--trust",
            "trust.toml",
        ])
        .current_dir(place.folder.path())
        .output()
        .unwrap();
    assert!(
        trusted.status.success(),
        "{}",
        String::from_utf8_lossy(&trusted.stderr)
    );
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
    place.serve().terminate();
    place.configure("");
    let (code, said) = verb(&["governance", "accept"]);
    assert!(
        code == Some(0) && said.contains("- judge") && said.contains("no pack governs"),
        "{said}"
    );
    let server = place.serve();
    chain
        .execute(&server, json!({"text": "a", "severity": 5}))
        .expect(200, "");
    server.terminate();
    let (code, said) = verb(&["doctor", "--home", home]);
    assert!(code == Some(0), "the change is in a sound audit log: {said}");
}

/// A pack that is built and signed with the development key of another home.
fn run_pack_build(source: &Path, output: &Path, home: &Path) {
    run(&["pack", "build"], source, output, home);
}
