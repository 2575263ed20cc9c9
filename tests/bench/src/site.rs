//! A host to start: a folder with its configuration, its plugins and its data, and what is registered on it.

use crate::echo::TOOL;
use crate::harness::Bench;
use crate::http_load::exchange;
use crate::process::Listening;
use anyhow::{Context, Result};
use mizzen_isolation::key;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder; removed when its creator drops it.
#[derive(Debug)]
pub(crate) struct Site {
    path: PathBuf,
    _folder: Option<tempfile::TempDir>,
}

impl Site {
    /// A host with these plugins, which trusts the key that signed them.
    pub(crate) fn new(bench: &Bench, plugins: &[PathBuf]) -> Result<Self> {
        Self::granting(bench, plugins, "")
    }

    /// The same, with the tables of `mizzen.toml` that grant something.
    pub(crate) fn granting(bench: &Bench, plugins: &[PathBuf], grants: &str) -> Result<Self> {
        let folder = bench.places.scratch()?;
        let names: Vec<String> = plugins.iter().map(|path| format!("{path:?}")).collect();
        let text = format!(
            "[plugins]\nfiles = [{}]\n[trust]\nmode = \"pinned\"\n{grants}",
            names.join(", ")
        );
        std::fs::write(folder.path().join("mizzen.toml"), text)?;
        let trusted = format!(
            "[[keys]]\nid = \"{}\"\npublic_key = \"{}\"\nnamespaces = [\"*\"]\n",
            key().id(),
            key().public()
        );
        std::fs::write(folder.path().join("trust.toml"), trusted)?;
        Ok(Self {
            path: folder.path().to_owned(),
            _folder: Some(folder),
        })
    }

    /// A site that another process made.
    pub(crate) fn at(path: &Path) -> Self {
        Self {
            path: path.to_owned(),
            _folder: None,
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn config(&self) -> PathBuf {
        self.path.join("mizzen.toml")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    /// Starts `mizzen serve` on the folder.
    pub(crate) fn serve(&self, binary: &Path) -> Result<Listening> {
        self.serve_from(binary, &self.data())
    }

    /// The same with the data in another folder.
    pub(crate) fn serve_from(&self, binary: &Path, data: &Path) -> Result<Listening> {
        let mut command = Command::new(binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--data"])
            .arg(data)
            .arg("--home")
            .arg(self.path().join("home"))
            .current_dir(self.path())
            .env_remove("MIZZEN_DATA")
            .env("MIZZEN_LOG", "warn");
        Listening::start(&mut command, &self.path().join("log"))
    }
}

/// A sprite whose capability is a tool.
pub(crate) fn sprite(name: &str, tool: &str) -> Value {
    json!({
        "name": name, "version": "1.0.0", "system_prompt": "Be brief.",
        "capabilities": [{"name": "act", "description": "Does it.", "tool": tool, "parameters": {"type": "object"}}],
        "metadata": {"author": "ada", "created": "2026-04-27T10:00:00Z", "updated": "2026-04-27T10:00:00Z", "tags": ["bench"]},
    })
}

/// A council with one chain of some steps, one gate before and one after, and a rule that asks a person about risky input.
pub(crate) fn council(domain: &str, sprite: &str, steps: usize) -> Value {
    let step = |order: usize| {
        let text = match order {
            0 => "$input.text".to_owned(),
            _ => format!("$steps[{}].output.text", order - 1),
        };
        json!({"order": order, "sprite_id": sprite, "action": "act", "input_map": {"text": text}, "output_map": {"text": "$output.text"}})
    };
    let gate = |position: &str, condition: &str| json!({"position": position, "sprite_id": sprite, "condition": condition, "veto_message": "no"});
    let steps: Vec<Value> = (0..steps).map(step).collect();
    let gates = [
        gate("before", "has(input.text)"),
        gate("after", "size(output.text) > 0"),
    ];
    json!({
        "domain": domain, "sprites": [sprite], "gate_agents": [sprite],
        "rules": [{"id": "r-ask", "name": "ask first", "condition": "has(input.risky)", "action": "escalate"}],
        "chains": [{"name": "acts", "timeout": "60s", "steps": steps, "gates": gates}],
    })
}

/// The request that executes the chain of a council as it was stored.
pub(crate) fn request(council: &Value, input: &Value) -> Result<Value> {
    let text = |pointer: &str| {
        let found = council.pointer(pointer).and_then(Value::as_str);
        found.with_context(|| format!("the council has no {pointer}"))
    };
    Ok(json!({"council_id": text("/id")?, "chain_id": text("/chains/0/id")?, "input": input}))
}

/// The input of a step of about a hundred bytes.
pub(crate) fn input() -> Value {
    json!({"text": "a".repeat(89)})
}

/// Registers a sprite and a council over HTTP; gives the request that executes its chain.
pub(crate) async fn furnish(address: SocketAddr, steps: usize) -> Result<String> {
    let made = exchange(
        address,
        ("POST", "/v1/sprites"),
        &sprite("ECHO-1", TOOL).to_string(),
        201,
    )
    .await?;
    let id = made
        .get("id")
        .and_then(Value::as_str)
        .context("the sprite has no id")?;
    let council = council("bench", id, steps).to_string();
    let made = exchange(address, ("POST", "/v1/councils"), &council, 201).await?;
    Ok(request(&made, &input())?.to_string())
}
