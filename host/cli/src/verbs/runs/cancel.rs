//! `mizzen runs cancel`.

use crate::remote_host::{RemoteHost, execution_id};
use anyhow::Result;
use mizzen_model::id::ExecutionId;
use std::process::ExitCode;

/// Cancel an execution of a running host
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen runs cancel 019abc…

The key needs the grant runs:cancel. Cancelling twice is cancelling once.")]
pub(crate) struct Cancel {
    /// The execution's id
    #[arg(value_name = "RUN", value_parser = execution_id)]
    run: ExecutionId,
    #[command(flatten)]
    host: RemoteHost,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Cancel {
    pub(super) fn run(self) -> Result<ExitCode> {
        let path = format!("/v1/executions/{}/cancel", self.run);
        let run = self
            .host
            .block_on(async |client| client.post(&path, None).await)?;
        super::print(&run, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}
