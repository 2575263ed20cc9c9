//! `mizzen plugin new NAME`.

use crate::output;
use anyhow::Context;
use mizzen_builder::{NewProject, ProjectKind, new_project};
use mizzen_model::namespace::PluginName;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugin new hello
  mizzen plugin build hello
  mizzen plugin run hello/dist/hello-0.1.0.wasm hello.greet --input '{\"name\":\"Ada\"}'

The folder builds anywhere: the SDK comes out of this binary.")]
pub(crate) struct New {
    /// The plugin's name, which is also its namespace: [a-z][a-z0-9-]{0,63}
    name: String,
    /// What the plugin provides
    #[arg(long, value_enum, default_value = "tool")]
    kind: KindName,
    /// The folder to create, instead of NAME in the current one
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum KindName {
    /// Tools: functions with typed input and output
    Tool,
    /// A governance pack in Rust; one that is only rules: `mizzen pack new`
    Pack,
}

impl New {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let name = PluginName::parse(&self.name).context("the plugin cannot have this name")?;
        let folder = self.folder.unwrap_or_else(|| PathBuf::from(name.as_str()));
        let kind = match self.kind {
            KindName::Tool => ProjectKind::Tool,
            KindName::Pack => ProjectKind::Pack,
        };
        let files = new_project(NewProject {
            name: &name,
            kind,
            folder: &folder,
        })?;
        if self.json {
            output::json(&json!({ "folder": folder, "files": files }))?;
            return Ok(ExitCode::SUCCESS);
        }
        let shown = folder.display();
        println!("created {shown}");
        for file in files {
            println!("  {}", file.display());
        }
        if matches!(self.kind, KindName::Pack) {
            println!("\nnext:\n  mizzen pack test {shown}\n  mizzen pack build {shown}");
            return Ok(ExitCode::SUCCESS);
        }
        println!("\nnext:\n  mizzen plugin build {shown}");
        println!(
            "  mizzen plugin run {shown}/dist/{name}-0.1.0.wasm {name}.greet --input '{{\"name\":\"Ada\"}}'"
        );
        Ok(ExitCode::SUCCESS)
    }
}
