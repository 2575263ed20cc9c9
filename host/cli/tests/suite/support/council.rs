//! A server with first-party plugins, and the seed's council on it.

use super::host::Host;
use super::http::{Answer, Served, mizzen};
use super::packages;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The plugins that the tests of runs call.
const PLUGINS: [&str; 3] = ["plugins/text", "tests/guests/spins", "tests/guests/does-as-told"];

/// What they may do.
const GRANTS: &str = "[grants.plugin]\ndoes-as-told = [\"kv:*\"]\n";

/// A host with the plugins.
pub(crate) fn host() -> Host {
    let host = Host::new().config(GRANTS);
    PLUGINS.iter().fold(host, |host, plugin| host.plugin(plugin))
}

/// The folder with the packages beside a data folder, and the home of the key that signed them.
fn built(data: &Path) -> (PathBuf, PathBuf) {
    let folder = data.parent().unwrap().join("plugins");
    if !folder.exists() {
        for plugin in PLUGINS {
            packages::plugin(plugin).write(&folder);
        }
    }
    (folder, packages::home())
}

/// Starts a server that has the plugins.
pub(crate) fn serve(data: &Path) -> Served {
    serve_with(data, "", |command| command)
}

/// Starts one with more sections in its configuration, in a changed environment.
pub(crate) fn serve_with(
    data: &Path,
    sections: &str,
    change: impl FnOnce(&mut std::process::Command) -> &mut std::process::Command,
) -> Served {
    let (plugins, home) = built(data);
    let config = data.parent().unwrap().join("host.toml");
    let text = format!(
        "[plugins]\nfolders = [{:?}]\n[trust]\nmode = \"dev\"\n{GRANTS}{sections}",
        plugins.to_str().unwrap()
    );
    std::fs::write(&config, text).unwrap();
    Served::start_with(
        data,
        &[
            "--config",
            config.to_str().unwrap(),
            "--home",
            home.to_str().unwrap(),
        ],
        change,
    )
}

/// A command with the configuration of a server that [`serve`] started in this folder.
pub(crate) fn offline(folder: &Path) -> std::process::Command {
    let mut command = mizzen();
    command.current_dir(folder);
    std::fs::copy(folder.join("host.toml"), folder.join("mizzen.toml")).unwrap();
    command.env("MIZZEN_HOME", packages::home());
    command
}

/// The seed's council with its chains, by name.
pub(crate) struct Council {
    pub(crate) id: String,
    pub(crate) lewis: String,
    pub(crate) chains: Vec<(String, String)>,
}

pub(crate) fn register(server: &Served, name: &str, capabilities: Value, protected: bool) -> String {
    let sprite = json!({
        "name": name, "version": "1.0.0", "capabilities": capabilities, "system_prompt": "Be brief.", "protected": protected,
        "metadata": {
            "author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["core"],
        },
    });
    let made = server.call_json("POST", "/v1/sprites", &sprite).expect(201, "");
    made["id"].as_str().unwrap().to_owned()
}

pub(crate) fn capability(name: &str, tool: Option<&str>) -> Value {
    let mut value = json!({"name": name, "description": "A capability.", "parameters": {"type": "object"}});
    if let Some(tool) = tool {
        value["tool"] = json!(tool);
    }
    value
}

impl Council {
    /// Registers SOL-FORGE, BECK-02, MARTINEZ-04 and LEWIS-06 (the gate agent) and creates the council.
    pub(crate) fn create(server: &Served) -> Self {
        let forge = register(
            server,
            "SOL-FORGE",
            json!([capability("word_count", None)]),
            false,
        );
        let beck = register(
            server,
            "BECK-02",
            json!([capability("shout", Some("text.case"))]),
            false,
        );
        let martinez = register(
            server,
            "MARTINEZ-04",
            json!([
                capability("spin", Some("hostile.spins.attack")),
                capability("nobody_does", None)
            ]),
            false,
        );
        let lewis = register(server, "LEWIS-06", json!([capability("look", None)]), true);
        let count = json!({"order": 0, "sprite_id": forge, "action": "word_count", "input_map": {"text": "$input.text"},
                           "output_map": {"words": "$output.words"}});
        let shout = json!({"order": 1, "sprite_id": beck, "action": "shout",
                           "input_map": {"text": "$input.text", "to": "upper"}});
        let missing = json!({"order": 0, "sprite_id": martinez, "action": "nobody_does", "input_map": {}});
        let spin = json!({"order": 0, "sprite_id": martinez, "action": "spin", "input_map": {}});
        let gate = |position: &str, condition: &str, veto: &str| json!({"position": position, "sprite_id": lewis, "condition": condition, "veto_message": veto});
        let chain = |name: &str, timeout: &str, steps: Vec<&Value>, gates: Vec<Value>| json!({"name": name, "timeout": timeout, "steps": steps, "gates": gates});
        let chains = json!([
            chain(
                "completes",
                "30s",
                vec![&count, &shout],
                vec![
                    gate("before", "has(input.text)", "no text"),
                    gate("after", "steps[0].output.words >= 1", "no words")
                ]
            ),
            chain(
                "vetoed-before",
                "30s",
                vec![&count],
                vec![gate("before", "false", "Task scope not authorised")]
            ),
            chain(
                "vetoed-after",
                "30s",
                vec![&count],
                vec![gate("after", "output.words > 100", "too short")]
            ),
            chain("fails", "30s", vec![&missing, &shout], vec![]),
            chain(
                "goes-on",
                "30s",
                vec![&missing, &shout],
                vec![gate("on_error", "error.step == 0", "stop")]
            ),
            chain(
                "on-error-vetoes",
                "30s",
                vec![&missing],
                vec![gate("on_error", "false", "stop")]
            ),
            chain("times-out", "200ms", vec![&spin], vec![]),
        ]);
        let rules = json!([
            {"id": "r-deny", "name": "no secrets", "condition": "has(input.secret)", "action": "deny",
             "hook": "webhook:http://127.0.0.1:9/hook"},
            {"id": "r-ask", "name": "ask first", "condition": "has(input.risky)", "action": "escalate"},
        ]);
        let body = json!({"domain": "engineering", "sprites": [forge, beck, martinez, lewis], "gate_agents": [lewis],
                          "chains": chains, "rules": rules});
        let made = server.call_json("POST", "/v1/councils", &body).expect(201, "");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            id: text(&made["id"]),
            lewis,
            chains: made["chains"]
                .as_array()
                .unwrap()
                .iter()
                .map(|chain| (text(&chain["name"]), text(&chain["id"])))
                .collect(),
        }
    }

    /// The id of a chain.
    pub(crate) fn chain(&self, name: &str) -> &str {
        &self.chains.iter().find(|(found, _)| found == name).unwrap().1
    }

    /// The request that runs a chain.
    pub(crate) fn request(&self, chain: &str, input: &Value) -> Value {
        json!({"council_id": self.id, "chain_id": self.chain(chain), "input": input})
    }

    /// Runs a chain.
    pub(crate) fn execute(&self, server: &Served, chain: &str, input: Value) -> Answer {
        server.call_json("POST", "/v1/chains/execute", &self.request(chain, &input))
    }
}
