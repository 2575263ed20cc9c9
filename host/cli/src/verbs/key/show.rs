//! `mizzen key show NAME`.

use crate::output;
use mizzen_catalog::key::{KeyName, KeyStore};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen key show release")]
pub(crate) struct Show {
    /// The key's name on this machine
    name: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Show {
    pub(super) fn run(self, keys: &KeyStore) -> anyhow::Result<ExitCode> {
        let entry = keys.public(&KeyName::parse(&self.name)?)?;
        if self.json {
            output::json(&entry)?;
        } else {
            super::print(&entry);
            println!(
                "\nWhoever should trust it runs: mizzen trust add {} --namespace NAMESPACE",
                entry.public_key
            );
        }
        Ok(ExitCode::SUCCESS)
    }
}
