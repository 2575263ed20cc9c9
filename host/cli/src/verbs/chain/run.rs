//! `mizzen chain run`.

use crate::data::{Data, host_key};
use crate::home::Home;
use crate::output;
use crate::plugin_host::PluginHost;
use crate::settings::Settings;
use anyhow::{Context, Result};
use mizzen_model::execution::ExecutionStatus;
use mizzen_model::json::{Json, Limits, parse};
use mizzen_ops::{Caller, Clock, Host, HostKey, SystemClock, Wait};
use mizzen_store::{FolderLock, Options, Store};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use uuid::Uuid;

/// Run a chain of a stored council, and show its steps and gates as they happen
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen chain run --council 7a1e4c2b-9d30-4f6e-8b57-1c2d3e4f5a6b --chain 3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35 \\
    --input '{\"text\": \"hello\"}'

Works on the data folder itself, so no server may run on it; a server runs chains with POST /v1/chains/execute.
Exits 1 unless the execution completes.")]
pub(crate) struct Run {
    /// The council's id
    #[arg(long, value_name = "ID")]
    council: String,
    /// The chain's id
    #[arg(long, value_name = "ID")]
    chain: String,
    /// The input: a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    input: String,
    /// The host's configuration, with its plugins
    #[arg(long, value_name = "FILE", default_value = "mizzen.toml")]
    config: PathBuf,
    /// Print the result as JSON and nothing else
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    home: Home,
}

impl Run {
    pub(super) fn run(self) -> Result<ExitCode> {
        let input: Value = serde_json::from_str(&self.input).context("--input is not JSON")?;
        let request = json!({"council_id": self.council, "chain_id": self.chain, "input": input}).to_string();
        let request = parse(&request, Limits::default())?.root().to_json();
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.execute(&request))
    }

    async fn execute(self, request: &Json) -> Result<ExitCode> {
        let folder = self.data.folder();
        let _lock = FolderLock::take(folder)?;
        let options = Options {
            now: SystemClock.now_ms(),
            ..Options::default()
        };
        let store = Store::open_existing(folder, &options)?;
        let host = Arc::new(Host::new(store.clone()));
        let config = Path::new(&self.config).is_file().then(|| self.config.clone());
        let settings = Settings::load(config.as_deref())?;
        let plugins = PluginHost {
            config,
            home: self.home,
            profile: settings.profile(),
            sandbox: settings.sandbox(folder)?,
        };
        plugins.start(&host, &store).await?;
        host.sign_with(HostKey::new(host_key(folder)?));
        let caller = Caller::local(host.new_request_id());
        let id = host
            .execute_chain(&caller, request, None, Wait::ForStart)
            .await?
            .id();
        let status = follow(&host, id, self.json).await?;
        if self.json {
            output::json(&host.execution(id).await?)?;
        }
        store.close().await;
        Ok(match status {
            ExecutionStatus::Completed => ExitCode::SUCCESS,
            _ => ExitCode::from(output::EXIT_REFUSED),
        })
    }
}

/// Prints a line per decision and step, until the execution ends or waits for a person.
async fn follow(host: &Host, id: Uuid, quiet: bool) -> Result<ExecutionStatus> {
    let mut after = 0;
    while let Some(events) = host.next_events(id, after).await? {
        for event in events {
            after = event.seq;
            let entry: Value = serde_json::from_str(&event.json)?;
            if !quiet {
                print(&entry);
            }
            if entry.get("status").and_then(Value::as_str) == Some("awaiting_approval") {
                println!(
                    "waits for a person: POST /v1/executions/{id}/decision on a server of this data folder"
                );
                return Ok(ExecutionStatus::AwaitingApproval);
            }
        }
    }
    Ok(host.execution(id).await?.status)
}

fn print(entry: &Value) {
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
        text.escape_debug().to_string()
    };
    let list = |name: &str| {
        entry
            .get(name)
            .and_then(Value::as_array)
            .cloned()
            .unwrap_or_default()
    };
    for rule in list("rules") {
        println!("rule  {:<24} {}", text(&rule, "name"), text(&rule, "reason"));
    }
    for gate in list("gates") {
        println!(
            "gate  {:<24} {}: {}",
            text(&gate, "type"),
            text(&gate, "decision"),
            text(&gate, "reason")
        );
    }
    for step in list("steps") {
        let order = step.get("order").and_then(Value::as_u64).unwrap_or_default();
        println!("step  {order:<24} {}", text(&step, "status"));
    }
    let status = text(entry, "status");
    if ["completed", "failed", "vetoed", "cancelled"].contains(&status.as_str()) {
        let reason = entry
            .get("error")
            .map(|error| text(error, "message"))
            .unwrap_or_default();
        println!("end   {status:<24} {reason}");
    }
}
