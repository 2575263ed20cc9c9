//! `mizzen sprite test`: the sprite's declared cases, each a call in the real sandbox.

use crate::document_file as source;
use crate::home::{ConfigFile, Home};
use crate::output;
use crate::workbench::Workbench;
use anyhow::{Result, ensure};
use mizzen_catalog::{LoadFailure, Sources};
use mizzen_engine::{CallPolicy, Schema};
use mizzen_json::Json;
use mizzen_model::problem::Problems;
use mizzen_model::sprite::{Case, Difference, TestOutcome, TestReport, Verdict, select_cases};
use mizzen_model::sprite::{Sprite, SpriteBody, SpriteDraft};
use mizzen_ops::Installed;
use mizzen_ops::toolbox::CallRequest;
use mizzen_sandbox::CallContext;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Run the sprite's declared test cases in the sandbox.
///
/// A case passes when every field of its expected_output is in the answer. A sprite with several capabilities says in the
/// case's input which one is meant: "action": "NAME". Exit code 1 when a case fails.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen sprite test sol-forge.yaml --plugin dist/text-0.1.0.wasm
  mizzen sprite test sol-forge.yaml --config mizzen.toml --tag smoke --json")]
pub(super) struct Test {
    /// The sprite, JSON or YAML
    file: PathBuf,
    /// A package that performs its capabilities, signed by one of your keys (may be given several times)
    #[arg(long, value_name = "FILE")]
    plugin: Vec<PathBuf>,
    /// Use the plugins of this host, on its terms [default: mizzen.toml here, without --plugin]
    #[arg(long, value_name = "FILE", conflicts_with = "plugin")]
    config: Option<PathBuf>,
    /// Run only cases with this tag (may be given several times)
    #[arg(long, value_name = "TAG")]
    tag: Vec<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    home: Home,
}

impl Test {
    pub(super) fn run(self) -> Result<ExitCode> {
        let body = match body(&source::read(&self.file)?) {
            Ok(body) => body,
            Err(problems) => {
                let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
                anyhow::bail!(
                    "{} is not a valid sprite:\n{}",
                    self.file.display(),
                    lines.join("\n")
                );
            }
        };
        let bench = match self.workbench()? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let installed = bench.loaded().installed();
        let mut outcomes = Vec::new();
        for case in select_cases(&body, &self.tag) {
            let outcome = run_case(&bench, &installed, &body, &case);
            if !self.json {
                print(&outcome);
            }
            outcomes.push(outcome);
        }
        let report = TestReport {
            sprite: body.name.to_string(),
            outcomes,
        };
        let failed = report.outcomes.len() - report.passed();
        if self.json {
            let cases: Vec<Value> = report.outcomes.iter().map(shown).collect();
            output::json(&json!({
                "ok": report.is_success(), "sprite": report.sprite,
                "passed": report.passed(), "failed": failed, "cases": cases,
            }))?;
        } else {
            match body.tests.as_deref().unwrap_or_default().len() {
                0 => println!(
                    "note: {} declares no tests; write them under `tests`",
                    report.sprite
                ),
                all if report.outcomes.is_empty() => {
                    println!("note: none of {all} cases has the tag {}", self.tag.join(" or "));
                }
                _ => {}
            }
            println!("\n{}: {} passed, {failed} failed", report.sprite, report.passed());
        }
        Ok(if report.is_success() {
            ExitCode::SUCCESS
        } else {
            ExitCode::from(output::EXIT_REFUSED)
        })
    }

    fn workbench(&self) -> Result<Result<Workbench, LoadFailure>> {
        let usual = PathBuf::from("mizzen.toml");
        let config = match &self.config {
            None if self.plugin.is_empty() && usual.exists() => Some(usual),
            named => named.clone(),
        };
        match config {
            Some(config) => {
                let (config, terms) = ConfigFile { config }.terms(&self.home)?;
                Workbench::load(&config.sources, &terms, &self.home)
            }
            None => {
                ensure!(
                    !self.plugin.is_empty(),
                    "nothing is here that performs its capabilities: name a package with --plugin FILE, or a host with --config FILE"
                );
                let sources = Sources {
                    files: self.plugin.clone(),
                    ..Sources::default()
                };
                Workbench::load(&sources, &self.home.author_terms()?, &self.home)
            }
        }
    }
}

/// A whole sprite, or a draft as it is sent to the API.
fn body(document: &Json) -> Result<SpriteBody, Problems> {
    if document.get("id").is_some() || document.get("fingerprint").is_some() {
        return Sprite::parse(document).map(|sprite| sprite.body);
    }
    SpriteDraft::parse(document).map(|draft| draft.body)
}

fn run_case(bench: &Workbench, installed: &Installed, body: &SpriteBody, case: &Case<'_>) -> TestOutcome {
    let mut duration_ms = 0;
    let verdict = match call(bench, installed, body, case) {
        Ok((output, millis)) => {
            duration_ms = millis;
            Verdict::of(&case.test.expected_output, &output)
        }
        Err(reason) => Verdict::Failed(reason),
    };
    TestOutcome {
        name: case.test.name.clone(),
        verdict,
        duration_ms,
    }
}

/// As a step of a chain would: the capability's own parameters first, then the tool that performs it.
fn call(
    bench: &Workbench,
    installed: &Installed,
    body: &SpriteBody,
    case: &Case<'_>,
) -> Result<(Json, u64), String> {
    let action = case.action.clone()?;
    let capability = body
        .capability(action)
        .ok_or_else(|| format!("the sprite declares no {action}"))?;
    let reference = capability.tool.as_ref().map(|tool| (tool.id(), tool.range()));
    let provided = installed
        .resolve(action, reference)
        .map_err(|unresolved| unresolved.reason)?;
    let input = Json::Object(case.input.clone())
        .to_serde_exact()
        .map_err(|error| error.to_string())?;
    let parameters = Json::Object(capability.parameters.clone())
        .to_serde()
        .map_err(|error| error.to_string())?;
    Schema::compile(&parameters)
        .map_err(|refusal| refusal.to_string())?
        .check(&input)
        .map_err(|found| {
            let list: Vec<String> = found
                .iter()
                .map(|v| format!("{} {}", v.path, v.message))
                .collect();
            format!(
                "the input does not fit the capability's parameters: {}",
                list.join("; ")
            )
        })?;
    let context = CallContext {
        sprite_name: body.name.to_string(),
        system_prompt: body.system_prompt.to_string(),
        ..CallContext::default()
    };
    let request = CallRequest {
        tool: provided.id.clone(),
        input,
        context,
        policy: CallPolicy::default(),
    };
    let result = bench.call(request).map_err(|error| error.to_string())?;
    let millis = result.report.map_or(0, |report| {
        u64::try_from(report.usage.duration.as_millis()).unwrap_or(u64::MAX)
    });
    Ok((Json::from_serde(&result.output), millis))
}

fn print(outcome: &TestOutcome) {
    let name = output::harmless(&outcome.name);
    match &outcome.verdict {
        Verdict::Passed => println!("test {name} ... ok ({} ms)", outcome.duration_ms),
        Verdict::Failed(reason) => {
            println!("test {name} ... FAILED\n  {}", output::harmless(reason))
        }
        Verdict::Differs(differences) => {
            println!("test {name} ... FAILED");
            for difference in differences {
                let found = difference
                    .found
                    .as_ref()
                    .map_or("nothing".to_owned(), Json::to_compact);
                println!(
                    "  {}: expected {}, found {found}",
                    difference.path,
                    difference.expected.to_compact()
                );
            }
        }
    }
}

fn shown(outcome: &TestOutcome) -> Value {
    let problem = match &outcome.verdict {
        Verdict::Passed => None,
        Verdict::Failed(reason) => Some(reason.clone()),
        Verdict::Differs(differences) => {
            let line = |d: &Difference| {
                let found = d.found.as_ref().map_or("nothing".to_owned(), Json::to_compact);
                format!("{}: expected {}, found {found}", d.path, d.expected.to_compact())
            };
            Some(differences.iter().map(line).collect::<Vec<_>>().join("; "))
        }
    };
    json!({ "name": outcome.name, "ok": problem.is_none(), "problem": problem, "ms": outcome.duration_ms })
}
