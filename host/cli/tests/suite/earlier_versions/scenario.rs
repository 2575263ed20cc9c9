//! Makes the host that this version leaves to later ones: runs of every end, and some that have not ended when it is killed.

use super::{Client, fixture};
use crate::support::host::Host;
use crate::support::packages;
use serde_json::{Map, Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The host's pack: fields of a run's input decide what it finds (D13).
const RULES: &str = r#"
(defrule severe (moment (name before-run)) (severity ?s&:(>= ?s 4))
  => (assert (decision (action veto) (reason (str-cat "severity " ?s " is too high")))))
(defrule hide (moment (name before-step))
  (evidence (subject input) (pointer ?p) (text ?t&:(matches ?t "TOPSECRET[0-9]+")))
  => (assert (decision (action redact) (pointer ?p) (pattern "TOPSECRET[0-9]+") (reason (str-cat "found in " ?t)))))
(defrule ask (moment (name before-step)) (ask TRUE)
  => (assert (decision (action escalate) (reason "a person must know"))))
(defrule note (moment (name at-end)) (run (status ?s))
  => (assert (decision (action annotate) (reason (str-cat "ended as " ?s)))))
"#;

/// Without the development key: later versions trust the packages by its public half alone.
const CONFIG: &str = "[plugins]\nfolders = [\"plugins\"]\n[trust]\nmode = \"pinned\"\n\
    [grants.plugin]\ndoes-as-told = [\"kv:*\"]\ncalls-as-told = [\"tools:*\"]\n\
    [[governance]]\nid = \"guard\"\n";

const PUPPET: &str = "hostile.does-as-told";

/// The host, its council and the runs so far.
struct Story<'a> {
    client: &'a Client<'a>,
    council: Value,
    runs: Map<String, Value>,
}

impl<'a> Story<'a> {
    fn begin(client: &'a Client<'a>) -> Self {
        let capability = |name: &str, tool: &str| json!({"name": name, "description": "d", "tool": tool, "parameters": {"type": "object"}});
        let told = |name: &str| capability(name, &format!("{PUPPET}.{name}"));
        let sprite = |name: &str, capabilities: Value| {
            let body = json!({
                "name": name, "version": "1.0.0", "system_prompt": "Be brief.", "capabilities": capabilities,
                "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["core"]},
            });
            client.post("/v1/sprites", &body).expect(201, "")["id"].clone()
        };
        let worker = sprite(
            "BECK-02",
            json!([
                told("act"),
                told("keep"),
                told("pay"),
                told("calls"),
                capability("through", "hostile.calls-as-told.act"),
                {"name": "unknown", "description": "d", "parameters": {"type": "object"}},
            ]),
        );
        let agent = sprite("LEWIS-06", json!([told("evaluate_gate")]));
        let chain = |name: &str, action: &str, input: Value, gates: Value| {
            let step = json!({"order": 0, "sprite_id": worker, "action": action, "input_map": input});
            json!({"name": name, "timeout": "10m", "steps": [step], "gates": gates})
        };
        let input = json!({"act": "$input.act", "order": "$input.order", "times": 0});
        let through = json!({"order": "$input.order", "calls": "$input.calls"});
        let gate = json!([{"position": "before", "sprite_id": agent, "condition": "has(input.order)", "veto_message": "no order"}]);
        let rule =
            json!({"id": "ask", "name": "ask first", "condition": "has(input.risky)", "action": "escalate"});
        let body = json!({
            "domain": "engineering", "sprites": [worker, agent], "gate_agents": [agent], "rules": [rule],
            "chains": [
                chain("act", "act", input.clone(), gate),
                chain("keep", "keep", input.clone(), json!([])),
                chain("pay", "pay", input.clone(), json!([])),
                chain("count", "calls", input, json!([])),
                chain("through", "through", through, json!([])),
                chain("unknown", "unknown", json!({}), json!([])),
            ],
        });
        Self {
            client,
            council: client.post("/v1/councils", &body).expect(201, ""),
            runs: Map::new(),
        }
    }

    fn request(&self, chain: &str, input: &Value) -> Value {
        let mut full = json!({"act": "answer", "order": "o"});
        let more = input.as_object().unwrap().clone();
        full.as_object_mut().unwrap().extend(more);
        let chains = self.council["chains"].as_array().unwrap();
        let chain = chains.iter().find(|found| found["name"] == chain).unwrap();
        json!({"council_id": self.council["id"], "chain_id": chain["id"], "input": full})
    }

    /// Runs a chain as far as it goes by itself. Returns its id.
    fn run(&self, chain: &str, input: Value) -> String {
        let answer = self
            .client
            .post("/v1/chains/execute", &self.request(chain, &input));
        let body = answer.json();
        let id = match answer.status {
            200 | 202 => &body["execution_id"],
            _ => &body["details"]["execution_id"],
        };
        id.as_str().unwrap_or_else(|| panic!("{body}")).to_owned()
    }

    /// Records a run as it is shown now.
    fn record(&mut self, name: &str, id: &str) {
        self.runs.insert(name.to_owned(), self.client.shown(id));
    }

    fn tell(&mut self) {
        for (name, chain, input) in [
            ("completed", "act", json!({"order": "first"})),
            ("kept", "keep", json!({"order": "kept"})),
            ("failed", "unknown", json!({})),
            ("tool error", "act", json!({"act": "break"})),
            ("vetoed by a pack", "act", json!({"severity": 5})),
            (
                "redacted input",
                "act",
                json!({"order": "x TOPSECRET42 y", "more": {"TOPSECRET43": ["TOPSECRET42", 7]}}),
            ),
            (
                "nested calls",
                "through",
                json!({"calls": [
                    {"tool": format!("{PUPPET}.keep"), "input": {"act": "answer", "order": "nested", "times": 0}},
                    {"tool": format!("{PUPPET}.act"), "input": {"act": "fail", "order": "n", "times": 0}},
                ]}),
            ),
            ("waits for a rule", "act", json!({"risky": true})),
            ("waits for a pack", "keep", json!({"ask": true, "order": "asked"})),
        ] {
            let id = self.run(chain, input);
            self.record(name, &id);
        }
        for (name, decision) in [("approved", "approve"), ("denied", "deny")] {
            let id = self.run("act", json!({"risky": true}));
            self.client.decide(&self.client.shown(&id), decision);
            self.record(name, &id);
        }
        let cancelled = self.run("act", json!({"risky": true}));
        let path = format!("/v1/executions/{cancelled}/cancel");
        self.client.post(&path, &json!({})).expect(200, "");
        self.record("cancelled", &cancelled);
        let tool = format!("/v1/tools/{PUPPET}.act/call");
        let called = json!({"input": {"act": "answer", "order": "called", "times": 0}});
        let called = self.client.post(&tool, &called).expect(200, "")["execution_id"].clone();
        self.record("tool call", called.as_str().unwrap());
        let erased = self.run("act", json!({"order": "erased"}));
        self.client
            .delete(&format!("/v1/executions/{erased}"))
            .expect(204, "");
        self.record("erased", &erased);
    }

    /// Begins a payment that does not end before the host is killed.
    fn begin_payment(&mut self) {
        let body = self.request("pay", &json!({"act": "wait", "order": "under way"}));
        let begun = self
            .client
            .post_with("/v1/chains/execute", &body, &[("prefer", "respond-async")])
            .expect(202, "");
        let id = begun["execution_id"].as_str().unwrap();
        // What it has kept is there as soon as the call has begun.
        let counted = || {
            let count = self.run("count", json!({"order": "under way"}));
            self.client.shown(&count)["steps"][0]["output"]["calls"] == 1
        };
        while !counted() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        self.record("under way", id);
    }
}

/// Writes the host of this version. Returns its folder.
pub(super) fn write() -> PathBuf {
    let folder = fixture::folder().join(env!("CARGO_PKG_VERSION"));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("exports")).unwrap();
    let host = Host::new()
        .plugin("tests/guests/does-as-told")
        .plugin("tests/guests/calls-as-told")
        .rules("guard", RULES);
    fs::write(host.path("mizzen.toml"), CONFIG).unwrap();
    let public = packages::home().join("keys/dev.pub");
    host.yes(&["trust", "add", public.to_str().unwrap(), "--namespace", "*"]);

    let key = host.key(&["admin"]);
    let revoked = host.key(&["sprites:read"]);
    host.yes(&["key", "api", "revoke", revoked.rsplit_once('_').unwrap().0]);
    let server = host.serve();
    let client = Client::new(&server, &key);
    let mut story = Story::begin(&client);
    story.tell();
    let host_key = export_all(&host, &story.runs, &folder);
    story.begin_payment();
    let chains = story.council["chains"].as_array().unwrap().iter();
    let chains: Map<String, Value> = chains
        .map(|chain| (chain["name"].as_str().unwrap().to_owned(), chain["id"].clone()))
        .collect();
    let council = format!("/v1/councils/{}", story.council["id"].as_str().unwrap());
    let lists = ["/v1/sprites", "/v1/councils", &council, "/v1/tools", "/v1/packs"];
    let lists: Map<String, Value> = lists
        .iter()
        .map(|path| ((*path).to_owned(), client.get(path).expect(200, "")))
        .collect();
    let recorded = json!({
        "key": key, "revoked_key": revoked, "host_key": host_key,
        "council": story.council["id"], "chains": chains, "runs": story.runs, "lists": lists,
        "load_plan_hash": client.get("/health").expect(200, "")["load_plan_hash"],
        "audit": client.get("/v1/audit?limit=100").expect(200, "")["entries"],
        "audit_head": host.yes(&["audit", "head"]).trim(),
    });
    server.kill();
    let text = serde_json::to_string_pretty(&recorded).unwrap() + "\n";
    fs::write(folder.join("recorded.json"), text).unwrap();
    pack_up(&host, &folder.join("host.tar.gz"));
    folder
}

/// Exports every run that has ended. Returns the host's public key.
fn export_all(host: &Host, runs: &Map<String, Value>, folder: &Path) -> String {
    let mut keys = Vec::new();
    for (name, run) in runs {
        if run["status"] != "awaiting_approval" {
            let (file, _, key) = host.export(run["execution_id"].as_str().unwrap());
            let name = format!("{}.json", name.replace(' ', "-"));
            fs::copy(file, folder.join("exports").join(name)).unwrap();
            keys.push(key);
        }
    }
    keys.swap_remove(0)
}

/// Everything that the host's folder needs to be served again, smallest first; compiled code is made anew.
fn pack_up(host: &Host, archive: &Path) {
    let status = Command::new("tar")
        .args(["--create", "--use-compress-program", "gzip -9n", "--file"])
        .arg(archive)
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner"])
        .args(["--exclude=data/artifacts", "-C"])
        .arg(host.folder())
        .args(["mizzen.toml", "trust.toml", "plugins", "data"])
        .status()
        .unwrap();
    assert!(status.success());
}
