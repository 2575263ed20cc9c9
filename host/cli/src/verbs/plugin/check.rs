//! `mizzen plugin check FILE`.

use super::{provided, shown};
use crate::home::{ConfigFile, Home};
use crate::output;
use crate::workbench::Workbench;
use anyhow::Result;
use mizzen_catalog::component;
use mizzen_catalog::load::verify_file;
use mizzen_catalog::{LoadCode, LoadFailure, PluginLoadError, Stage, VerifiedPlugin};
use mizzen_ops::toolbox::{Outfit, Unconfigured};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin check dist/text-0.1.0.wasm
  mizzen plugin check text.wasm --config mizzen.toml   (with a host's trust, grants and limits)")]
pub(crate) struct Check {
    /// The package
    file: PathBuf,
    /// Check it as this host would: with its trust, grants and limits, instead of yours
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let (terms, outfit) = match &self.config {
            Some(config) => {
                let file = ConfigFile {
                    config: config.clone(),
                };
                let (config, terms) = file.terms(home)?;
                let outfit = Outfit {
                    settings: config.settings,
                    ..Outfit::default()
                };
                (terms, outfit)
            }
            // The settings are an operator's to write: without a host there are none to judge.
            None => {
                let outfit = Outfit {
                    unconfigured: Unconfigured::Accepted,
                    ..Outfit::default()
                };
                (home.author_terms()?, outfit)
            }
        };
        let plugin = match verify_file(&self.file, &terms).and_then(|plugin| self.validated(plugin)) {
            Ok(plugin) => plugin,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        // The host's own loader, to its last stage: compiled, linked, described twice and registered.
        let bench = match Workbench::open_with(vec![self.file.clone()], &terms, outfit, home)? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let items = bench.loaded().installed().provided;
        if self.json {
            let shown = shown::json(&plugin);
            output::json(
                &serde_json::json!({ "ok": true, "plugin": shown, "provided": provided::json(&items) }),
            )?;
        } else {
            shown::print(&plugin);
            for item in &items {
                println!(
                    "  {:<11}  {}",
                    item.kind.as_str(),
                    output::harmless(&provided::line(item))
                );
            }
            println!("ok");
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Before the compiler sees it: the validator's messages are about the component, the compiler's are about itself.
    fn validated(&self, plugin: VerifiedPlugin) -> Result<VerifiedPlugin, LoadFailure> {
        component::validate(plugin.component())
            .map_err(|error| LoadFailure {
                errors: vec![PluginLoadError {
                    code: LoadCode::CompileFailed,
                    stage: Stage::Compile,
                    plugin: Some(plugin.id()),
                    file: Some(self.file.clone()),
                    message: error.to_string(),
                    help: "build the package again with `mizzen plugin build`".to_owned(),
                }],
            })
            .map(|()| plugin)
    }
}
