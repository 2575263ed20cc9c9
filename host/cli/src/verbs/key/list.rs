//! `mizzen key list`.

use crate::output;
use mizzen_catalog::key::KeyStore;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen key list --json")]
pub(crate) struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, keys: &KeyStore) -> anyhow::Result<ExitCode> {
        let entries = keys.list()?;
        if self.json {
            output::json(&entries)?;
        } else if entries.is_empty() {
            println!(
                "no keys in {}; make one with `mizzen key new NAME`",
                keys.folder().display()
            );
        } else {
            let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
            for entry in entries {
                println!(
                    "{:width$}  {}  {}",
                    entry.name,
                    entry.id,
                    output::harmless(&entry.comment)
                );
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
