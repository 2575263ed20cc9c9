//! `mizzen plugins list`.

use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output;
use mizzen_catalog::load::{load_set, scan};
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins list --json

What is installed is listed whether it can be loaded or not: `ready` when the host would load it,
`refused` when it has problems itself, `not loaded` when another part of the set has. The exit code
is 1 when the set has problems.")]
pub(crate) struct List {
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let (config, terms) = self.config.terms(home)?;
        super::note_missing_folder(&config);
        let found = scan(&config.sources, config.max_package);
        let plan = match load_set(&config.sources, &terms) {
            Ok(plan) => Trial::of(&self.config, home)?.set(&config, &plan)?.map(|_| plan),
            Err(failure) => Err(failure),
        };
        let mut rows = Vec::new();
        for found in &found {
            let Some(manifest) = &found.manifest else {
                rows.push(json!({ "file": found.file, "state": "unreadable" }));
                continue;
            };
            let is_disabled = config.sources.is_disabled(manifest.name(), manifest.version());
            let planned = plan
                .as_ref()
                .ok()
                .and_then(|plan| plan.find(manifest.name().as_str(), Some(manifest.version())));
            let refused = plan.as_ref().is_err_and(|failure| {
                failure
                    .errors
                    .iter()
                    .any(|error| error.file.as_deref() == Some(&found.file))
            });
            let state = match (is_disabled, refused) {
                (true, _) => "disabled",
                (_, true) => "refused",
                // A set is loaded as a whole or not at all.
                (_, false) if plan.is_err() => "not loaded",
                (_, false) => "ready",
            };
            rows.push(json!({
                "file": found.file,
                "state": state,
                "name": manifest.name(),
                "version": manifest.version(),
                "namespaces": manifest.namespaces(),
                "provides": manifest.provides(),
                "order": manifest.order(),
                "default": planned.is_some_and(|planned| planned.is_default()),
            }));
        }
        if self.json {
            let (hash, errors) = match &plan {
                Ok(plan) => (Some(plan.hash()), Vec::new()),
                Err(failure) => (None, failure.errors.clone()),
            };
            output::json(&json!({ "plugins": rows, "hash": hash, "errors": errors }))?;
        } else {
            for (row, found) in rows.iter().zip(&found) {
                let text = |key: &str| {
                    row.get(key)
                        .and_then(|value| value.as_str())
                        .unwrap_or("-")
                        .to_owned()
                };
                let default = if row.get("default") == Some(&json!(true)) {
                    "default"
                } else {
                    ""
                };
                println!(
                    "{:24} {:12} {:10} {:8} {}",
                    text("name"),
                    text("version"),
                    text("state"),
                    default,
                    found.file.display()
                );
            }
            if rows.is_empty() {
                println!("nothing is installed; add a plugin with `mizzen plugins install FILE`");
            }
            if let Err(failure) = &plan {
                return output::load_failure(failure, output::Audience::Person);
            }
        }
        Ok(if plan.is_ok() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}
