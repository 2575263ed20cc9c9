//! `mizzen pack check [DIR]`.

use super::cases::{Cases, config_schema};
use crate::home::Home;
use crate::output;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen pack check
  mizzen pack check night --json

Reads pack.toml, rules.clp and cases/*.json and builds nothing. For a package: `mizzen plugin
check FILE`. Exits 0 when the pack can be built and 1 when it cannot.")]
pub(crate) struct Check {
    /// The pack's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Check {
    pub(super) fn run(self, _home: &Home) -> anyhow::Result<ExitCode> {
        let project = match super::open(&self.folder, self.json)? {
            Ok(project) => project,
            Err(code) => return Ok(code),
        };
        let rules = project.ruleset()?;
        // What the pack is built with: facts of its own that do not fit are found here.
        if let Err(error) = rules.session() {
            let message = format!("{}: {error}", project.folder().join("rules.clp").display());
            if self.json {
                output::json(&json!({"ok": false, "error": {"code": error.code(), "message": message}}))?;
            } else {
                eprintln!("error: {}", output::harmless(&message));
            }
            return Ok(ExitCode::from(output::EXIT_REFUSED));
        }
        let names: Vec<&str> = rules.program().rules().collect();
        let cases = Cases::read(&self.folder)?;
        let schema = config_schema(project.manifest())?;
        let mut doubts = Vec::new();
        for case in cases.iter() {
            let found = case.doubts(rules.own_templates(), schema.as_ref())?;
            doubts.extend(
                found
                    .into_iter()
                    .map(|doubt| format!("case {:?}: {doubt}", case.name)),
            );
        }
        if !doubts.is_empty() {
            if self.json {
                output::json(&json!({"ok": false, "error": {"message": doubts.join("\n")}}))?;
            } else {
                doubts
                    .iter()
                    .for_each(|doubt| eprintln!("error: {}", output::harmless(doubt)));
            }
            return Ok(ExitCode::from(output::EXIT_REFUSED));
        }
        let moments = match project.moments() {
            [] => vec!["always".to_owned()],
            moments => moments.to_vec(),
        };
        if names.is_empty() {
            eprintln!("note: there are no rules, so the pack never says anything");
        }
        if self.json {
            output::json(&json!({
                "ok": true,
                "id": project.id(),
                "version": project.manifest().version(),
                "moments": moments,
                "rules": names,
                "reads": rules.reads(),
                "writes": rules.own_templates(),
                "cases": cases.len(),
            }))?;
        } else {
            println!("{} {}", project.id(), project.manifest().version());
            println!("  asked   {}", moments.join(", "));
            println!("  rules   {}", names.join(", "));
            // A pack that names no template is sent all of them.
            let reads = rules.reads().join(", ");
            println!(
                "  reads   {}",
                if reads.is_empty() { "everything" } else { &reads }
            );
            println!("  cases   {}", cases.len());
            println!("ok");
        }
        Ok(ExitCode::SUCCESS)
    }
}
