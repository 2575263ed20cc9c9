//! `mizzen audit export`.

use crate::data::{Data, host_public_key};
use anyhow::{Context, Result};
use mizzen_model::id::ExecutionId;
use mizzen_ops::Host;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
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
        // Never made here: a new key would verify nothing that was signed before.
        match host_public_key(self.data.folder())? {
            Some(key) => eprintln!("host key: {key}"),
            None => eprintln!(
                "warning: the host's key is gone from {}: restore it from a backup; what it signed is verified with its public \
                 half, if somebody has that",
                self.data.folder().join("keys").display()
            ),
        }
        match &self.output {
            None => println!("{document}"),
            Some(path) => {
                write_private(path, &document).with_context(|| format!("cannot write {}", path.display()))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A journal holds what callers sent: a new file is its owner's alone.
fn write_private(path: &Path, document: &str) -> std::io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(document.as_bytes())
}
