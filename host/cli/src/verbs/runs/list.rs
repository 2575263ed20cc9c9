//! `mizzen runs list`.

use crate::output;
use crate::remote_host::RemoteHost;
use anyhow::Result;
use mizzen_model::execution::ExecutionStatus;
use serde_json::Value;
use std::process::ExitCode;

/// List the executions of a running host, newest first
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen runs list --status awaiting_approval
  MIZZEN_API_KEY=$(cat key) mizzen runs list --host https://mizzen.example --limit 50 --json")]
pub(crate) struct List {
    /// Only executions with this status
    #[arg(long, value_name = "STATUS", value_parser = clap::builder::PossibleValuesParser::new(ExecutionStatus::NAMES))]
    status: Option<String>,
    /// How many executions to show
    #[arg(long, value_name = "NUMBER", default_value_t = 20, value_parser = clap::value_parser!(u8).range(1..=100))]
    limit: u8,
    #[command(flatten)]
    host: RemoteHost,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode> {
        let status = self
            .status
            .map_or_else(String::new, |status| format!("&status={status}"));
        let path = format!("/v1/executions?limit={}{status}", self.limit);
        let page = self.host.block_on(async |client| client.get(&path).await)?;
        if self.json {
            output::json(&page)?;
            return Ok(ExitCode::SUCCESS);
        }
        let runs = page.get("executions").and_then(Value::as_array);
        for run in runs.into_iter().flatten() {
            println!("{}", output::harmless(&super::line(run)));
        }
        if runs.is_none_or(Vec::is_empty) {
            eprintln!("no execution matches");
        } else if page.get("next_cursor").is_some() {
            eprintln!("older executions are not shown: raise --limit");
        }
        Ok(ExitCode::SUCCESS)
    }
}
