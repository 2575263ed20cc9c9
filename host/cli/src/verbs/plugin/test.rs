//! `mizzen plugin test [DIR|FILE]`: the tools' declared examples, run in the real sandbox.

use crate::home::Home;
use crate::output;
use crate::workbench::{Workbench, print_log};
use anyhow::{Result, bail};
use mizzen_catalog::LoadFailure;
use mizzen_engine::CallPolicy;
use mizzen_model::tool_spec::Example;
use mizzen_ops::toolbox::{CallError, CallRequest};
use mizzen_sandbox::CallContext;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin test                     (builds the plugin in this folder, then runs its examples)
  mizzen plugin test plugins/text
  mizzen plugin test dist/hello-0.1.0.wasm --json

A folder is built into a temporary place: dist and its signatures stay as they are.")]
pub(crate) struct Test {
    /// A plugin's folder, which is built first, or a package
    #[arg(default_value = ".")]
    path: PathBuf,
    /// Run only examples whose name contains this text
    #[arg(long, value_name = "TEXT", default_value = "")]
    filter: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// What became of one example.
struct Verdict {
    name: String,
    problem: Option<String>,
    millis: f64,
}

impl Test {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let trial = if self.path.is_dir() {
            super::build::try_out(&self.path, home)?
        } else {
            super::build::Trial::of_file(&self.path)
        };
        let verdicts = match run_examples(
            &trial.file,
            &self.filter,
            home,
            if self.json { Voice::Silent } else { Voice::Aloud },
        )? {
            Ok(verdicts) => verdicts,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let failed = verdicts
            .iter()
            .filter(|verdict| verdict.problem.is_some())
            .count();
        if self.json {
            let list: Vec<Value> = verdicts
                .iter()
                .map(|v| json!({ "name": v.name, "ok": v.problem.is_none(), "problem": v.problem, "ms": v.millis }))
                .collect();
            output::json(
                &json!({ "ok": failed == 0, "passed": verdicts.len() - failed, "failed": failed, "examples": list }),
            )?;
        }
        Ok(if failed == 0 {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }
}

/// Runs and prints the examples of a package, for `plugin dev`.
pub(super) fn examples_hold(file: &Path, home: &Home) -> Result<bool> {
    match run_examples(file, "", home, Voice::Aloud)? {
        Ok(verdicts) => Ok(verdicts.iter().all(|verdict| verdict.problem.is_none())),
        Err(failure) => {
            eprintln!("{failure}");
            Ok(false)
        }
    }
}

/// Whether each example is printed as it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Voice {
    Aloud,
    Silent,
}

/// Runs the examples of a package. `Aloud` prints each as it ends, and a summary.
fn run_examples(
    file: &Path,
    filter: &str,
    home: &Home,
    voice: Voice,
) -> Result<Result<Vec<Verdict>, LoadFailure>> {
    let bench = match Workbench::open(vec![file.to_owned()], &home.author_terms()?, home)? {
        Ok(bench) => bench,
        Err(failure) => return Ok(Err(failure)),
    };
    let loaded = bench.loaded();
    let mut verdicts = Vec::new();
    let tools = || loaded.registry().tools();
    let names: Vec<String> = tools()
        .flat_map(|tool| {
            let id = tool.spec().id();
            let examples = tool.spec().examples().iter();
            examples.map(move |example| format!("{id}: {}", example.name))
        })
        .collect();
    if !filter.is_empty() && !names.iter().any(|name| name.contains(filter)) {
        let there = match names.is_empty() {
            true => "the plugin has none".to_owned(),
            false => format!("there are:\n  {}", names.join("\n  ")),
        };
        bail!(
            "no example's name contains {filter:?}; {}",
            output::harmless(&there)
        );
    }
    let untested: Vec<String> = tools()
        .filter(|tool| tool.spec().examples().is_empty())
        .map(|tool| tool.spec().id().to_string())
        .collect();
    if voice == Voice::Aloud && !untested.is_empty() {
        println!(
            "note: {} without examples: {}; add example(…) to a #[tool] so that it is tested",
            output::counted(untested.len(), "tool"),
            untested.join(", ")
        );
    }
    for tool in tools() {
        let id = tool.spec().id().to_string();
        for example in tool.spec().examples() {
            let name = format!("{id}: {}", example.name);
            if !name.contains(filter) {
                continue;
            }
            let verdict = run_example(&bench, &id, name, example, voice);
            if voice == Voice::Aloud {
                match &verdict.problem {
                    None => println!(
                        "test {} ... ok ({:.2} ms)",
                        output::harmless(&verdict.name),
                        verdict.millis
                    ),
                    Some(problem) => println!(
                        "test {} ... FAILED\n  {}",
                        output::harmless(&verdict.name),
                        output::harmless(problem).replace('\n', "\n  ")
                    ),
                }
            }
            verdicts.push(verdict);
        }
    }
    if voice == Voice::Aloud {
        let failed = verdicts
            .iter()
            .filter(|verdict| verdict.problem.is_some())
            .count();
        println!("\n{} passed, {failed} failed", verdicts.len() - failed);
    }
    Ok(Ok(verdicts))
}

fn run_example(bench: &Workbench, id: &str, name: String, example: &Example, voice: Voice) -> Verdict {
    let request = CallRequest {
        tool: id.to_owned(),
        input: example.input.clone(),
        context: CallContext::default(),
        policy: CallPolicy::default(),
    };
    match bench.call(request) {
        Ok(result) => {
            let millis = result
                .report
                .as_ref()
                .map_or(0.0, |report| report.usage.duration.as_secs_f64() * 1e3);
            let problem = match &example.output {
                Some(expected) if *expected != result.output => {
                    Some(format!("expected {expected}\n     got {}", result.output))
                }
                _ => None,
            };
            Verdict {
                name,
                problem,
                millis,
            }
        }
        Err(error) => {
            if let (
                Voice::Aloud,
                CallError::Refused {
                    report: Some(report), ..
                },
            ) = (voice, &error)
            {
                print_log(report);
            }
            Verdict {
                name,
                problem: Some(error.to_string()),
                millis: 0.0,
            }
        }
    }
}
