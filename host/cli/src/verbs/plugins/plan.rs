//! `mizzen plugins plan`.

use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output;
use crate::verbs::plugin::shown;
use mizzen_catalog::LoadPlan;
use mizzen_catalog::key::KeyId;
use mizzen_catalog::load::load_set;
use mizzen_model::namespace::Namespace;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins plan --config mizzen.toml

The set is compiled, described, registered and mounted as the host would; the exit code is 1 when
the host would not start with it. The same files, trust and grants always give the same hash; a host
logs it at start and shows it under /health.")]
pub(crate) struct Plan {
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Plan {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let (config, terms) = self.config.terms(home)?;
        super::note_missing_folder(&config);
        let loaded = match load_set(&config.sources, &terms) {
            Ok(plan) => Trial::of(&self.config, home)?
                .set(&config, &plan)?
                .map(|tried| (plan, tried)),
            Err(failure) => Err(failure),
        };
        let (plan, tried) = match loaded {
            Ok(loaded) => loaded,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let described_pins = tried.loaded().registry().new_pins();
        let new_pins: Vec<_> = plan.new_pins().iter().chain(described_pins).collect();
        if self.json {
            output::json(&in_json(&plan, &new_pins))?;
        } else {
            for (index, planned) in plan.plugins().iter().enumerate() {
                let default = if planned.is_default() {
                    ""
                } else {
                    "  (not the default version)"
                };
                println!(
                    "{}. order {}{default}",
                    index + 1,
                    planned.plugin().manifest().order()
                );
                shown::print(planned.plugin());
            }
            for (namespace, key) in new_pins {
                println!("on first use, namespace {namespace} will be pinned to {key}");
            }
            let plugins = output::counted(plan.plugins().len(), "plugin");
            println!("{plugins}, plan {}", plan.hash());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The plan for scripts.
fn in_json(plan: &LoadPlan, new_pins: &[&(Namespace, KeyId)]) -> Value {
    let plugins: Vec<Value> = plan
        .plugins()
        .iter()
        .map(|planned| {
            let mut plugin = shown::json(planned.plugin());
            if let Some(object) = plugin.as_object_mut() {
                object.insert("default".to_owned(), planned.is_default().into());
            }
            plugin
        })
        .collect();
    json!({ "ok": true, "hash": plan.hash(), "plugins": plugins, "new_pins": new_pins })
}
