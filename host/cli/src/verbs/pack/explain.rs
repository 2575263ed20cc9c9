//! `mizzen pack explain [DIR] --facts FACTS.json`: the same rules, with a trace.

use crate::output;
use crate::verbs::rules::fired;
use anyhow::Result;
use mizzen_rules::{Explanation, Report};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen pack explain plugins/budgets --facts facts.json

Says of every rule on which facts it fired and what it asserted, or what stood in its way.")]
pub(crate) struct Explain {
    /// The pack's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
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

impl Explain {
    pub(super) fn run(self) -> Result<ExitCode> {
        let project = match super::open(&self.folder, self.json)? {
            Ok(project) => project,
            Err(code) => return Ok(code),
        };
        let rules = project.ruleset()?;
        let facts = super::facts::read(&self.facts)?;
        for doubt in super::facts::doubts(&facts, rules.own_templates())? {
            eprintln!("note: {}", output::harmless(&doubt));
        }
        let mut session = rules.session()?;
        let explained = rules
            .given(&Value::Array(facts).to_string(), &session)
            .and_then(|given| rules.explain(&mut session, given, self.budget));
        let (verdict, report, why) = match explained {
            Ok(explained) => explained,
            Err(failure) => {
                if self.json {
                    let error = json!({"code": failure.code(), "message": failure.to_string()});
                    output::json(&json!({"ok": false, "error": error}))?;
                } else {
                    eprintln!("error: {}", output::harmless(&failure));
                }
                return Ok(ExitCode::from(output::EXIT_REFUSED));
            }
        };
        let decisions: Vec<Value> = verdict.decisions.iter().map(|d| d.to_json()).collect();
        if self.json {
            output::json(&document(&report, &why, &decisions))?;
            return Ok(ExitCode::SUCCESS);
        }
        for firing in &report.firings {
            println!("fired {}", output::harmless(firing));
        }
        for why in &why {
            println!(
                "did not fire: {}: {}",
                why.rule,
                output::harmless(&why.reasons.join("; or "))
            );
        }
        for decision in &verdict.decisions {
            println!(
                "decides {} ({}) by {}: {}",
                decision.action,
                decision.severity,
                decision.rule,
                output::harmless(&decision.reason)
            );
        }
        println!("{} match operations", report.operations);
        Ok(ExitCode::SUCCESS)
    }
}

fn document(report: &Report, why: &[Explanation], decisions: &[Value]) -> Value {
    let fired: Vec<Value> = report.firings.iter().map(fired).collect();
    let not_fired: Vec<Value> = why
        .iter()
        .map(|why| json!({"rule": why.rule, "reasons": why.reasons}))
        .collect();
    json!({
        "ok": true,
        "fired": fired,
        "not_fired": not_fired,
        "decisions": decisions,
        "operations": report.operations,
    })
}
