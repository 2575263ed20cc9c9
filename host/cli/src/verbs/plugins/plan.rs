//! `mizzen plugins plan`.

use crate::home::{ConfigFile, Home};
use crate::output;
use crate::verbs::plugin::shown;
use mizzen_catalog::LoadPlan;
use mizzen_catalog::load::load_set;
use serde_json::{Value, json};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins plan --config mizzen.toml

The same files, trust and grants always give the same hash; a host logs it at start and shows it
under /health.")]
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
        let plan = match load_set(&config.sources, &terms) {
            Ok(plan) => plan,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        if self.json {
            output::json(&in_json(&plan))?;
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
            for (namespace, key) in plan.new_pins() {
                println!("on first use, namespace {namespace} will be pinned to {key}");
            }
            println!("{} plugins, plan {}", plan.plugins().len(), plan.hash());
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// The plan for scripts.
pub(super) fn in_json(plan: &LoadPlan) -> Value {
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
    json!({ "ok": true, "hash": plan.hash(), "plugins": plugins, "new_pins": plan.new_pins() })
}
