//! `mizzen audit export`.

use crate::data::{Data, host_key};
use anyhow::{Context, Result};
use mizzen_model::id::ExecutionId;
use mizzen_ops::Host;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write the journal of an execution that has ended, with the host's signature
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen audit export 7a1e4c2b-9d30-4f6e-8b57-1c2d3e4f5a6b --output run.json
  mizzen audit verify run.json --key ed25519:…

Prints the host's public key on stderr: give it to whoever verifies, by another way than the file.")]
pub(crate) struct Export {
    /// The execution
    #[arg(value_name = "RUN")]
    run: String,
    /// Write here instead of to stdout
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    data: Data,
}

impl Export {
    pub(super) fn run(self) -> Result<ExitCode> {
        let id = ExecutionId::parse(&self.run)?.uuid();
        let document = self
            .data
            .with_existing_store(|store| async move { Ok(Host::new(store).export_audit(id).await?) })?;
        eprintln!("host key: {}", host_key(self.data.folder())?.public());
        match &self.output {
            None => println!("{document}"),
            Some(path) => {
                std::fs::write(path, document).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
