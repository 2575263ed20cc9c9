//! `mizzen pack run [DIR|FILE] --facts FACTS.json`.

use crate::home::Home;
use crate::output;
use crate::workbench::Workbench;
use anyhow::{Context as _, Result};
use mizzen_engine::pack::PackFailure;
use mizzen_engine::{Outcome, ToolError};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  echo '[{\"template\": \"budget\", \"slots\": {\"kind\": \"tokens\", \"limit\": 100, \"used\": 120}}]' > facts.json
  mizzen pack run plugins/budgets --facts facts.json

Exits 0 when there is a verdict, whatever it says, and 1 when there is none.")]
pub(crate) struct Run {
    /// A pack's folder, which is built first, or a package
    #[arg(default_value = ".")]
    path: PathBuf,
    /// A JSON file with the facts
    #[arg(long, value_name = "FACTS.json")]
    facts: PathBuf,
    /// The budget of match operations
    #[arg(long, default_value_t = 1_000_000)]
    budget: u64,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let facts = super::facts::read(&self.facts)?;
        let trial = match super::build::try_out(&self.path, home, self.json)? {
            Ok(trial) => trial,
            Err(code) => return Ok(code),
        };
        let bench = match Workbench::open(vec![trial.file.clone()], &home.author_terms()?, home)? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let loaded = bench.loaded();
        let pack = loaded.packs().next().context("the package has no pack")?;
        for doubt in super::facts::doubts(&facts, pack.descriptor().writes())? {
            eprintln!("note: {}", output::harmless(&doubt));
        }
        match bench.evaluate(&pack, &Value::Array(facts).to_string(), self.budget) {
            Ok(verdict) => {
                let decisions: Vec<Value> = verdict.decisions.iter().map(|d| d.to_json()).collect();
                if self.json {
                    output::json(&json!({"ok": true, "decisions": decisions, "shared": verdict.shared}))?;
                } else {
                    for decision in &verdict.decisions {
                        println!(
                            "{} ({}) by {}: {}",
                            decision.action,
                            decision.severity.as_str(),
                            output::harmless(&decision.rule),
                            output::harmless(&decision.reason)
                        );
                        if !decision.details.is_empty() {
                            println!("  {}", Value::Object(decision.details.clone()));
                        }
                    }
                    if verdict.decisions.is_empty() {
                        println!("nothing to say");
                    }
                }
                Ok(ExitCode::SUCCESS)
            }
            Err(failure) => {
                if self.json {
                    // What a pack of rules says itself: a budget that is spent, for one.
                    let code = match &failure {
                        PackFailure::Ended {
                            outcome: Outcome::ToolError(ToolError::Failed { code, .. }),
                            ..
                        } => Some(code),
                        _ => None,
                    };
                    let error = json!({"name": failure.name(), "code": code, "message": failure.to_string()});
                    output::json(&json!({"ok": false, "error": error}))?;
                } else {
                    eprintln!("error: {}", output::harmless(&failure));
                }
                Ok(ExitCode::from(output::EXIT_REFUSED))
            }
        }
    }
}
