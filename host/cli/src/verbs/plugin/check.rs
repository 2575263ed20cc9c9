//! `mizzen plugin check FILE`.

use super::shown;
use crate::home::{ConfigFile, Home};
use crate::output;
use mizzen_catalog::component;
use mizzen_catalog::load::verify_file;
use mizzen_catalog::{LoadCode, LoadFailure, PluginLoadError, Stage, VerifiedPlugin};
use mizzen_sandbox::{Sandbox, Services, Settings};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Nothing is called here.
const SLOTS: u32 = 8;

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
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let terms = match self.config {
            Some(config) => ConfigFile { config }.terms(home)?.1,
            None => home.author_terms()?,
        };
        let checked = verify_file(&self.file, &terms).and_then(|plugin| {
            let plugin = Arc::new(plugin);
            // Validated first: its messages are about the component, the compiler's are about itself.
            component::validate(plugin.component())
                .map_err(|error| error.to_string())
                .and_then(|()| prepare(&plugin))
                .map(|()| Arc::clone(&plugin))
                .map_err(|message| LoadFailure {
                    errors: vec![PluginLoadError {
                        code: LoadCode::CompileFailed,
                        stage: Stage::Compile,
                        plugin: Some(plugin.id()),
                        file: Some(self.file.clone()),
                        message,
                        help: "build the package again with `mizzen plugin build`".to_owned(),
                    }],
                })
        });
        match checked {
            Ok(plugin) => {
                if self.json {
                    output::json(&serde_json::json!({ "ok": true, "plugin": shown::json(&plugin) }))?;
                } else {
                    shown::print(&plugin);
                    println!("ok");
                }
                Ok(ExitCode::SUCCESS)
            }
            Err(failure) => output::load_failure(&failure, self.json.into()),
        }
    }
}

/// The loader's compile stage: compiled, within its limits, and every import linked. Nothing of it runs.
fn prepare(plugin: &Arc<VerifiedPlugin>) -> Result<(), String> {
    let settings = Settings {
        slots: SLOTS,
        ..Settings::default()
    };
    let sandbox = Sandbox::start(settings).map_err(|error| error.to_string())?;
    let prepared = sandbox.prepare(Arc::clone(plugin), Services::default());
    prepared.map(|_| ()).map_err(|error| error.to_string())
}
