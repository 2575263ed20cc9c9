//! A council whose steps do as the input says: answer, fail, spin or wait.

use super::council::{capability, register};
use super::http::{Answer, Served};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Asks until there is an answer.
pub(crate) fn until<T>(what: &str, mut found: impl FnMut() -> Option<T>) -> T {
    let patience = Instant::now() + Duration::from_secs(60);
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(Instant::now() < patience, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The council with its chains, by name.
pub(crate) struct Puppet {
    pub(crate) id: String,
    pub(crate) chains: Vec<(String, String)>,
    pub(crate) made: Value,
}

impl Puppet {
    /// Makes the council; `rules` are its rules, and `agent` are the gate agent's capabilities.
    pub(crate) fn create(server: &Served, rules: Value, agent: Value) -> Self {
        let tool = |name: &str| capability(name, Some(&format!("hostile.does-as-told.{name}")));
        let capabilities = json!([tool("act"), tool("keep"), tool("pay"), tool("calls")]);
        let puppet = register(server, "PUPPET-1", capabilities, false);
        let lewis = register(server, "LEWIS-06", agent, false);
        let step = |action: &str, more: Value| {
            let mut step = json!({
                "order": 0, "sprite_id": puppet, "action": action,
                "input_map": {"act": "$input.act", "order": "$input.order", "times": "$input.times"},
            });
            step.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            step
        };
        let retried = json!({"retries": 3, "retry_backoff": "10ms"});
        let gate = json!({"position": "before", "sprite_id": lewis, "condition": "true"});
        let chain = |name: &str, timeout: &str, step: Value| json!({"name": name, "timeout": timeout, "steps": [step], "gates": []});
        let mut gated = chain("gated", "10m", step("act", json!({})));
        gated["gates"] = json!([gate]);
        let mut mixed = chain("mixed", "10m", step("act", json!({})));
        mixed["steps"] = json!([
            step("act", json!({})),
            step("keep", json!({"order": 1})),
            step("act", json!({"order": 2})),
        ]);
        let body = json!({
            "domain": "puppets", "sprites": [puppet, lewis], "gate_agents": [lewis], "rules": rules,
            "chains": [
                chain("act", "10m", step("act", json!({}))),
                chain("keep", "10m", step("keep", retried.clone())),
                chain("pay", "10m", step("pay", retried)),
                chain("calls", "10m", step("calls", json!({}))),
                chain("short", "300ms", step("act", json!({}))),
                gated,
                mixed,
            ],
        });
        let made = server.call_json("POST", "/v1/councils", &body).expect(201, "");
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        Self {
            id: text(&made["id"]),
            chains: made["chains"]
                .as_array()
                .unwrap()
                .iter()
                .map(|chain| (text(&chain["name"]), text(&chain["id"])))
                .collect(),
            made,
        }
    }

    /// With a gate agent that has no opinion, and without rules.
    pub(crate) fn plain(server: &Served) -> Self {
        Self::create(server, json!([]), json!([capability("look", None)]))
    }

    /// The request that runs a chain.
    pub(crate) fn request(&self, chain: &str, input: Value) -> Value {
        let mut full = json!({"act": "answer", "order": "o", "times": 0});
        full.as_object_mut()
            .unwrap()
            .extend(input.as_object().unwrap().clone());
        let chain = &self.chains.iter().find(|(name, _)| name == chain).unwrap().1;
        json!({"council_id": self.id, "chain_id": chain, "input": full})
    }

    /// Runs a chain to its end.
    pub(crate) fn execute(&self, server: &Served, chain: &str, input: Value) -> Answer {
        server.call_json("POST", "/v1/chains/execute", &self.request(chain, input))
    }

    /// Starts a chain and does not wait for it.
    pub(crate) fn start(&self, server: &Served, chain: &str, input: Value) -> String {
        let headers = [("content-type", "application/json"), ("prefer", "respond-async")];
        let body = self.request(chain, input).to_string();
        let accepted = server.send("POST", "/v1/chains/execute", &headers, body.as_bytes());
        accepted.expect(202, "")["execution_id"]
            .as_str()
            .unwrap()
            .to_owned()
    }
}

/// An execution as it is now.
pub(crate) fn shown(server: &Served, id: &str) -> Value {
    server
        .call("GET", &format!("/v1/executions/{id}"))
        .expect(200, "")
}

/// An execution, once it has ended.
pub(crate) fn ended(server: &Served, id: &str) -> Value {
    until("the execution ends", || {
        let result = shown(server, id);
        let open = ["running", "pending", "awaiting_approval"];
        (!open.contains(&result["status"].as_str().unwrap())).then_some(result)
    })
}
