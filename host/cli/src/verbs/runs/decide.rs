//! `mizzen runs approve` and `mizzen runs deny`.

use crate::remote_host::{RemoteHost, execution_id};
use anyhow::{Result, bail};
use mizzen_model::execution::Approval;
use mizzen_model::id::ExecutionId;
use serde_json::{Value, json};
use std::process::ExitCode;

/// Approve what an execution of a running host waits for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen runs show 019abc…
  mizzen runs approve 019abc… --reason \"checked the invoice\"

The key needs the grant runs:respond. With --escalation only the question that you looked at is
answered, and not one that came after it.")]
pub(crate) struct Approve {
    #[command(flatten)]
    answer: Answer,
}

/// Deny what an execution of a running host waits for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen runs deny 019abc… --reason \"not this customer\"

The key needs the grant runs:respond.")]
pub(crate) struct Deny {
    #[command(flatten)]
    answer: Answer,
}

#[derive(Debug, clap::Args)]
struct Answer {
    /// The execution's id
    #[arg(value_name = "RUN", value_parser = execution_id)]
    run: ExecutionId,
    /// Why; it is recorded in the journal
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// The question that is answered [default: the one that the execution waits for]
    #[arg(long, value_name = "ID")]
    escalation: Option<String>,
    #[command(flatten)]
    host: RemoteHost,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Approve {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.answer.give(Approval::Approve)
    }
}

impl Deny {
    pub(super) fn run(self) -> Result<ExitCode> {
        self.answer.give(Approval::Deny)
    }
}

impl Answer {
    fn give(self, decision: Approval) -> Result<ExitCode> {
        let Self {
            run,
            reason,
            escalation,
            host,
            json,
        } = self;
        let answered = host.block_on(async |client| {
            let escalation = match escalation {
                Some(escalation) => escalation,
                None => open_question(&client.execution(run).await?)?,
            };
            let body = json!({"decision": decision.as_str(), "reason": reason, "escalation_id": escalation});
            let path = format!("/v1/executions/{run}/decision");
            client.post(&path, Some(&body)).await
        })?;
        super::print(&answered, json)?;
        Ok(ExitCode::SUCCESS)
    }
}

/// The question that an execution waits for.
fn open_question(run: &Value) -> Result<String> {
    let open = run
        .get("escalation")
        .filter(|escalation| escalation.get("answer").is_none());
    match open.and_then(|escalation| escalation.get("escalation_id")?.as_str()) {
        Some(escalation) => Ok(escalation.to_owned()),
        None => bail!(
            "the execution waits for no answer: it is {}",
            super::text(run, "/status")
        ),
    }
}
