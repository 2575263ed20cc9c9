//! `mizzen runs show`.

use crate::remote_host::{RemoteHost, execution_id};
use anyhow::Result;
use mizzen_model::id::ExecutionId;
use std::process::ExitCode;

/// Show an execution of a running host: its steps, and the question it waits for
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen runs show 019abc… --host http://127.0.0.1:7437")]
pub(crate) struct Show {
    /// The execution's id
    #[arg(value_name = "RUN", value_parser = execution_id)]
    run: ExecutionId,
    #[command(flatten)]
    host: RemoteHost,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self) -> Result<ExitCode> {
        let run = self
            .host
            .block_on(async |client| client.execution(self.run).await)?;
        super::print(&run, self.json)?;
        Ok(ExitCode::SUCCESS)
    }
}
