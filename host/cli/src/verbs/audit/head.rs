//! `mizzen audit head`.

use crate::data::Data;
use crate::output;
use anyhow::Result;
use std::process::ExitCode;

/// Print the end of the host's own audit log, to be kept elsewhere
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen audit head --data .mizzen >> /mnt/elsewhere/mizzen-heads
  mizzen doctor --data .mizzen --audit-head \"$(tail -n 1 /mnt/elsewhere/mizzen-heads)\"

Every entry of the log is hashed together with all before it. Whoever can write the database could
still cut entries off at its end, or write the whole log anew: nobody can do that unnoticed to what
stands before a head that is kept where they cannot write. May run beside the server, which also
logs the head when it starts and when it stops.")]
pub(crate) struct Head {
    #[command(flatten)]
    data: Data,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Head {
    pub(super) fn run(self) -> Result<ExitCode> {
        let head = self
            .data
            .with_existing_store(|store| async move { Ok(store.audit_head().await?) })?;
        if self.json {
            output::json(&serde_json::json!({"entries": head.seq, "head": head.to_string()}))?;
        } else {
            println!("{head}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
