//! `mizzen pack new NAME`.

use crate::output;
use anyhow::Context as _;
use mizzen_builder::pack::new_pack;
use mizzen_builder::{NewProject, ProjectKind, new_project};
use mizzen_model::namespace::PluginName;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen pack new night
  mizzen pack test night
  mizzen pack build night

With --rust the pack is a crate, for what rules cannot say; both are the same to the host.")]
pub(crate) struct New {
    /// The pack's name, which is also its id and namespace: [a-z][a-z0-9-]{0,63}
    name: String,
    /// A pack in Rust instead of rules
    #[arg(long)]
    rust: bool,
    /// The folder to create, instead of NAME in the current one
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let name = PluginName::parse(&self.name).context("the pack cannot have this name")?;
        let folder = self.folder.unwrap_or_else(|| PathBuf::from(name.as_str()));
        let files = if self.rust {
            new_project(NewProject {
                name: &name,
                kind: ProjectKind::Pack,
                folder: &folder,
            })?
        } else {
            new_pack(&name, &folder)?
        };
        if self.json {
            output::json(&json!({ "folder": folder, "files": files }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = folder.display();
        println!("created {shown}");
        for file in files {
            println!("  {}", file.display());
        }
        println!("\nnext:\n  mizzen pack test {shown}\n  mizzen pack build {shown}");
        Ok(ExitCode::SUCCESS)
    }
}
