//! `mizzen runs watch`.

use crate::output::{self, EXIT_REFUSED};
use crate::remote_host::{RemoteHost, execution_id};
use anyhow::Result;
use mizzen_model::execution::ExecutionStatus;
use mizzen_model::id::ExecutionId;
use serde_json::Value;
use std::process::ExitCode;
use std::time::Duration;

/// How often the host is asked.
const EVERY: Duration = Duration::from_millis(500);

/// Follow an execution of a running host to its end
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen runs watch 019abc…

Prints a line when the execution or one of its steps changes. Ends with exit code 0 when the execution
was completed, and with 1 when it ended in another way.")]
pub(crate) struct Watch {
    /// The execution's id
    #[arg(value_name = "RUN", value_parser = execution_id)]
    run: ExecutionId,
    #[command(flatten)]
    host: RemoteHost,
    /// Print nothing but the execution at its end, as JSON
    #[arg(long)]
    json: bool,
}

impl Watch {
    pub(super) fn run(self) -> Result<ExitCode> {
        let ended = self.host.block_on(async |client| {
            let mut known = Vec::new();
            loop {
                let run = client.execution(self.run).await?;
                let now = states(&run);
                for state in now.iter().filter(|state| !known.contains(*state)) {
                    if !self.json {
                        println!("{}", output::harmless(state));
                    }
                }
                known = now;
                if status(&run).is_none_or(ExecutionStatus::is_final) {
                    return Ok(run);
                }
                tokio::time::sleep(EVERY).await;
            }
        })?;
        if self.json {
            output::json(&ended)?;
        }
        Ok(match status(&ended) {
            Some(ExecutionStatus::Completed) => ExitCode::SUCCESS,
            _ => ExitCode::from(EXIT_REFUSED),
        })
    }
}

fn status(run: &Value) -> Option<ExecutionStatus> {
    ExecutionStatus::parse(super::text(run, "/status"))
}

/// Where the steps and the execution stand, one line each; a line that was not there before is news.
fn states(run: &Value) -> Vec<String> {
    let steps = run.get("steps").and_then(Value::as_array).into_iter().flatten();
    let mut states: Vec<String> = steps
        .map(|step| {
            let order = step.get("order").and_then(Value::as_u64).unwrap_or_default();
            format!(
                "step {order}  {}  {}",
                super::text(step, "/status"),
                super::text(step, "/action")
            )
        })
        .filter(|state| !state.contains("  pending  "))
        .collect();
    let mut whole = super::text(run, "/status").to_owned();
    for pointer in ["/error/message", "/escalation/reason"] {
        if let Some(text) = run.pointer(pointer).and_then(Value::as_str) {
            whole.push_str("  ");
            whole.push_str(text);
        }
    }
    states.push(whole);
    states
}
