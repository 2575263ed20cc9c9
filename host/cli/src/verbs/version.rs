//! `mizzen version`.

use crate::output;
use anyhow::Result;
use mizzen_model::manifest::API_VERSION;
use std::process::ExitCode;

/// Print the version, and the version of the plugin API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen version
  mizzen version --json")]
pub(crate) struct Version {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Version {
    pub(super) fn run(self) -> Result<ExitCode> {
        let version = env!("CARGO_PKG_VERSION");
        if self.json {
            output::json(&serde_json::json!({"version": version, "api_version": API_VERSION}))?;
        } else {
            println!("mizzen {version} (plugin API {API_VERSION})");
        }
        Ok(ExitCode::SUCCESS)
    }
}
