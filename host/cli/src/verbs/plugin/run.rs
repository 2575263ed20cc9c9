//! `mizzen plugin run FILE TOOL --input JSON`: one sandboxed call.

mod equipment;

use crate::document_file;
use crate::home::Home;
use crate::output;
use crate::workbench::{Workbench, print_log};
use anyhow::{Result, bail};
use equipment::Equipment;
use mizzen_engine::{CallPolicy, CallReport, CallStage, Outcome, Profile, Refused};
use mizzen_ops::toolbox::{CallError, CallRequest};
use mizzen_sandbox::CallContext;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugin run dist/hello-0.1.0.wasm hello.greet --input '{\"name\": \"Ada\"}'
  mizzen plugin run dist/text-0.1.0.wasm word_count --input @input.json --stats
  echo '{\"name\": \"Ada\"}' | mizzen plugin run hello.wasm greet --input - --json
  mizzen plugin run feed.wasm fetch --secret feed-token=@token.txt --set region=eu --deny clock
  mizzen plugin run feed.wasm fetch --config mizzen.toml     (as that host would run it)

Without --config your keys are trusted and everything that the plugin declares is granted; its keys
and values live in memory, and requests that its permissions allow are really sent. The tool's output goes to stdout, what it logs to stderr. Exit code 1 when there is no output.")]
pub(crate) struct Run {
    /// The package
    file: PathBuf,
    /// The tool: `namespace.name`, or its name alone when the plugin has one such tool
    tool: String,
    /// The input: JSON, @FILE, or - for standard input
    #[arg(long, short, default_value = "{}")]
    input: String,
    #[command(flatten)]
    equipment: Equipment,
    /// Call it as a host with the profile `cleared` would: no tools that change the world
    #[arg(long)]
    cleared: bool,
    /// Print time and peak memory
    #[arg(long)]
    stats: bool,
    /// Print JSON: the outcome, the output, what was used and what was logged
    #[arg(long)]
    json: bool,
}

impl Run {
    pub(super) fn run(self, home: &Home) -> Result<ExitCode> {
        let input = document_file::argument("--input", &self.input)?.to_serde_exact()?;
        let bench = match self.equipment.open(&self.file, home)? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let profile = if self.cleared {
            Profile::Cleared
        } else {
            Profile::Open
        };
        let request = CallRequest {
            tool: full_id(&bench, &self.tool)?,
            input,
            context: CallContext::default(),
            policy: CallPolicy {
                profile,
                ..CallPolicy::default()
            },
        };
        match bench.call(request) {
            Ok(result) => self.answered(&result.output, result.report.as_ref()),
            Err(CallError::Refused { refused, report }) => {
                let mut value = json!({
                    "ok": false,
                    "stage": refused.stage.to_string(),
                    "code": refused.code,
                    "problem": refused.reason,
                });
                if let (Some(code), Some(members)) = (&refused.tool_code, value.as_object_mut()) {
                    members.insert("tool_code".to_owned(), code.as_str().into());
                }
                self.refused(
                    value,
                    &refused.to_string(),
                    report.as_deref(),
                    outcome(&refused, report.as_deref()),
                )
            }
            Err(error) => self.refused(
                json!({ "ok": false, "problem": error.to_string() }),
                &error.to_string(),
                None,
                "",
            ),
        }
    }

    fn answered(&self, value: &Value, report: Option<&CallReport>) -> Result<ExitCode> {
        if self.json {
            let mut answer = json!({ "ok": true, "outcome": "output", "output": value });
            add_report(&mut answer, report, "output");
            output::json(&answer)?;
        } else {
            self.explain(report, "output");
            println!("{value}");
        }
        Ok(ExitCode::SUCCESS)
    }

    fn refused(
        &self,
        mut value: Value,
        text: &str,
        report: Option<&CallReport>,
        outcome: &str,
    ) -> Result<ExitCode> {
        if self.json {
            add_report(&mut value, report, outcome);
            output::json(&value)?;
        } else {
            self.explain(report, outcome);
            eprintln!("error: {}", output::harmless(&text));
            if let Some(Outcome::Trap(trap)) = report.map(|report| &report.outcome) {
                for frame in &trap.frames {
                    eprintln!("  at {}", output::harmless(frame));
                }
            }
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }

    fn explain(&self, report: Option<&CallReport>, outcome: &str) {
        let Some(report) = report else { return };
        print_log(report);
        if self.stats {
            let usage = report.usage;
            eprintln!(
                "{}: {:.3} ms, {} KiB peak memory, {} host calls",
                outcome,
                usage.duration.as_secs_f64() * 1e3,
                usage.peak_memory / 1024,
                usage.host_calls
            );
        }
    }
}

/// How a call ended that has no result. A guest may answer, and the answer not be one that the tool's schema allows.
fn outcome(refused: &Refused, report: Option<&CallReport>) -> &'static str {
    match report.map(|report| &report.outcome) {
        Some(Outcome::Output(_)) if refused.stage == CallStage::Output => "bad-output",
        Some(outcome) => outcome.name(),
        None => "",
    }
}

fn add_report(answer: &mut Value, report: Option<&CallReport>, outcome: &str) {
    let (Some(report), Some(answer)) = (report, answer.as_object_mut()) else {
        return;
    };
    answer.insert("outcome".into(), outcome.into());
    if let Outcome::Trap(trap) = &report.outcome {
        answer.insert(
            "trap".into(),
            json!({ "kind": trap.kind, "message": trap.message, "frames": trap.frames }),
        );
    }
    answer.insert(
        "usage".into(),
        json!({
            "duration_us": u64::try_from(report.usage.duration.as_micros()).unwrap_or(u64::MAX),
            "cpu_ms": u64::try_from(report.usage.cpu.as_millis()).unwrap_or(u64::MAX),
            "peak_memory": report.usage.peak_memory,
            "host_calls": report.usage.host_calls,
        }),
    );
    let log = report.log.iter().map(|line| {
        let fields: serde_json::Map<_, _> =
            line.fields.iter().map(|(name, value)| (name.clone(), Value::from(value.as_str()))).collect();
        json!({ "level": format!("{:?}", line.level).to_lowercase(), "message": line.message, "fields": fields })
    });
    answer.insert("log".into(), log.collect());
    answer.insert("log_dropped".into(), report.log_dropped.into());
}

/// `greet` is enough where one tool of the package has that name.
fn full_id(bench: &Workbench, asked: &str) -> Result<String> {
    let loaded = bench.loaded();
    let ids: Vec<String> = loaded
        .registry()
        .tools()
        .map(|tool| tool.spec().id().to_string())
        .collect();
    let wanted = asked.split('@').next().unwrap_or(asked);
    if ids.iter().any(|id| id == wanted) {
        return Ok(asked.to_owned());
    }
    let short = |id: &&String| id.rsplit('.').next() == Some(asked);
    match ids.iter().filter(short).collect::<Vec<_>>().as_slice() {
        [id] => Ok((*id).clone()),
        [] => bail!("the plugin has no tool `{asked}`; it has {}", ids.join(", ")),
        several => bail!("`{asked}` could be any of {several:?}; write the whole id"),
    }
}
