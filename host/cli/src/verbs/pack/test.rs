//! `mizzen pack test [DIR|FILE]`: a pack's cases, run in the real sandbox.

use super::cases::{Case, Cases, config_schema};
use crate::home::Home;
use crate::output;
use crate::workbench::Workbench;
use anyhow::Result;
use mizzen_ops::toolbox::InstalledPack;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen pack test                     (builds the pack in this folder, then runs cases/*.json)
  mizzen pack test plugins/budgets
  mizzen pack test dist/night-0.1.0.wasm --cases . --json

A case is {\"name\": …, \"facts\": […], \"decisions\": […]}; a file holds one or a list. Of every
decision, what the case names must be as it says. \"settings\" are the operator's, \"budget\" the
match operations, and \"fails\" a text that the reason must hold why there is no verdict.")]
pub(crate) struct Test {
    /// A pack's folder, which is built first, or a package
    #[arg(default_value = ".")]
    path: PathBuf,
    /// The folder with cases/, when it is not that of the pack
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Run only cases whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of one case.
struct Ran {
    name: String,
    problem: Option<String>,
    millis: f64,
}

impl Test {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let folder = self.cases.as_deref().unwrap_or(&self.path);
        let folder = if folder.is_dir() { folder } else { Path::new(".") };
        let cases = Cases::read(folder)?;
        let trial = match super::build::try_out(&self.path, home, self.json)? {
            Ok(trial) => trial,
            Err(code) => return Ok(code),
        };
        let bench = match Workbench::open(vec![trial.file.clone()], &home.author_terms()?, home)? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let mut ran = Vec::new();
        for pack in bench.loaded().packs() {
            let schema = config_schema(pack.manifest())?;
            for case in cases.iter().filter(|case| case.name.contains(&self.filter)) {
                let doubts = case.doubts(pack.descriptor().writes(), schema.as_ref())?;
                let mut one = run_case(&bench, &pack, case);
                if !doubts.is_empty() {
                    one.problem = Some(doubts.join("\n"));
                }
                if !self.json {
                    match &one.problem {
                        None => println!(
                            "test {} ... ok ({:.2} ms)",
                            output::harmless(&one.name),
                            one.millis
                        ),
                        Some(problem) => {
                            println!(
                                "test {} ... FAILED\n  {}",
                                output::harmless(&one.name),
                                output::harmless(problem).replace('\n', "\n  ")
                            );
                        }
                    }
                }
                ran.push(one);
            }
        }
        let failed = ran.iter().filter(|one| one.problem.is_some()).count();
        let passed = ran.len() - failed;
        if self.json {
            let list: Vec<Value> = ran
                .iter()
                .map(|one| json!({"name": one.name, "ok": one.problem.is_none(), "problem": one.problem, "ms": one.millis}))
                .collect();
            output::json(&json!({"ok": failed == 0, "passed": passed, "failed": failed, "cases": list}))?;
        } else {
            if ran.is_empty() {
                match cases.len() {
                    0 => println!(
                        "note: there are no cases; write {}/cases/NAME.json",
                        folder.display()
                    ),
                    all => println!("note: none of {all} cases has {:?} in its name", self.filter),
                }
            }
            println!("\n{passed} passed, {failed} failed");
        }
        Ok(if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}

fn run_case(bench: &Workbench, pack: &InstalledPack, case: &Case) -> Ran {
    let facts = Value::Array(case.all_facts()).to_string();
    let started = Instant::now();
    let verdict = bench.evaluate(pack, &facts, case.budget);
    let millis = started.elapsed().as_secs_f64() * 1e3;
    let problem = match verdict {
        Ok(verdict) => {
            let found: Vec<Value> = verdict
                .decisions
                .iter()
                .map(|decision| decision.to_json())
                .collect();
            case.problem(&found)
        }
        Err(failure) => match &case.fails {
            Some(part) if failure.to_string().contains(part) => None,
            Some(part) => Some(format!("expected no verdict because of {part:?}, but: {failure}")),
            None => Some(failure.to_string()),
        },
    };
    Ran {
        name: format!("{}: {}", pack.id(), case.name),
        problem,
        millis,
    }
}
