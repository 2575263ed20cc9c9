//! `mizzen graph check`.

use super::file;
use crate::home::Home;
use crate::local_host::{LocalHost, Place, config_in_reach};
use crate::output;
use anyhow::Result;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Check whether this host could run a graph
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen graph check graph.yaml
  mizzen graph check graph.yaml --config mizzen.toml --json

Beyond `mizzen ir validate` it looks up everything that the document names: node kinds, tools, skills,
stores and packs with their versions, conditions, targets and state types. All problems are listed.")]
pub(super) struct Check {
    /// A document, JSON or YAML
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The host's configuration, with its plugins [default: mizzen.toml here or beside FILE]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print what is known of the graph as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: Home,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode> {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        let checked = runtime.block_on(self.check());
        runtime.shutdown_background();
        checked
    }

    async fn check(self) -> Result<ExitCode> {
        let document = file::read(&self.file)?;
        let config = config_in_reach(self.config.as_deref(), Some(&self.file));
        let local = LocalHost::open(Place::Temporary, config, self.home).await?;
        let checked = local.host.check_graph(&document);
        local.close().await;
        let checked = checked.map_err(file::refusal)?;
        if self.json {
            output::json(&json!({
                "graph_id": checked.id, "graph_hash": checked.graph_hash, "migration_hash": checked.migration_hash,
                "warnings": checked.warnings,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for warning in &checked.warnings {
            eprintln!("warning: {}", output::harmless(warning));
        }
        println!("{} can be run", output::harmless(&checked.id));
        println!("graph_hash      {}", checked.graph_hash);
        println!("migration_hash  {}", checked.migration_hash);
        Ok(ExitCode::SUCCESS)
    }
}
