//! `mizzen tool check FILE…`.

use crate::document_file;
use crate::output;
use mizzen_engine::{Schema, Tool};
use mizzen_model::tool_spec::{LegacySideEffects, ToolDraft, ToolSpec};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

/// Check tool descriptors as a host checks them when it loads a plugin, and print them in the current form
///
/// A file holds one descriptor (a ToolSpec) or a list of them, in JSON or YAML. The legacy `side_effects: true` and `false` are
/// read as `write` and `none`, with one warning. Exit code 1 when a descriptor is refused.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  mizzen tool check tools.yaml
  mizzen tool check --json - < tool.json")]
pub(super) struct Check {
    /// The files; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON document with every tool and every problem
    #[arg(long)]
    json: bool,
}

/// What became of one descriptor.
struct Judged {
    file: String,
    tool: Result<Arc<ToolSpec>, Vec<String>>,
}

/// More descriptors than a plugin may have are refused there too.
const MAX_TOOLS: usize = 256;

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut judged = Vec::new();
        let mut legacy = 0;
        for file in &self.files {
            let document = document_file::read(file)?.to_serde()?;
            let descriptors = match &document {
                Value::Array(items) => items.as_slice(),
                one => std::slice::from_ref(one),
            };
            anyhow::ensure!(
                (1..=MAX_TOOLS).contains(&descriptors.len()),
                "{} has {} descriptors; a file has 1 to {MAX_TOOLS}",
                file.display(),
                descriptors.len()
            );
            for descriptor in descriptors {
                let (tool, form) = judge(descriptor);
                legacy += usize::from(form == LegacySideEffects::UpConverted);
                judged.push(Judged {
                    file: file.display().to_string(),
                    tool,
                });
            }
        }
        // One warning, however many there are: a file of old descriptors would bury everything else.
        let warning = (legacy > 0).then(|| {
            format!(
                "{legacy} of {} descriptors have the legacy `side_effects: true` or `false`, read as `write` or `none`; \
                 write the word",
                judged.len()
            )
        });
        let valid = judged.iter().all(|judged| judged.tool.is_ok());
        if self.json {
            let tools: Vec<Value> = judged.iter().map(Judged::to_json).collect();
            let warnings: Vec<String> = warning.into_iter().collect();
            output::json(&json!({ "valid": valid, "tools": tools, "warnings": warnings }))?;
        } else {
            for judged in &judged {
                judged.print()?;
            }
            if let Some(warning) = warning {
                eprintln!("warning: {warning}");
            }
        }
        Ok(ExitCode::from(if valid { 0 } else { output::EXIT_REFUSED }))
    }
}

/// As at load: the shape, every field, and schemas that compile and cannot explode.
fn judge(descriptor: &Value) -> (Result<Arc<ToolSpec>, Vec<String>>, LegacySideEffects) {
    let texts = |problems: Vec<mizzen_model::tool_spec::ToolProblem>| {
        problems.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let (draft, form) = match ToolDraft::from_json(descriptor) {
        Ok(read) => read,
        Err(problems) => return (Err(texts(problems)), LegacySideEffects::Absent),
    };
    let (spec, mut problems) = match ToolSpec::check(draft) {
        Ok(spec) => (Some(Arc::new(spec)), Vec::new()),
        Err(problems) => (None, texts(problems)),
    };
    // Whatever else is wrong, and both of them.
    for field in ["input_schema", "output_schema"] {
        if let Some(schema @ Value::Object(_)) = descriptor.get(field)
            && let Err(refusals) = Schema::compile_all(schema)
        {
            problems.extend(
                refusals
                    .into_iter()
                    .map(|refusal| refusal.within(field).to_string()),
            );
        }
    }
    let checked = match spec {
        Some(spec) if problems.is_empty() => match Tool::compile(Arc::clone(&spec)) {
            Ok(_) => Ok(spec),
            Err(refusal) => Err(vec![refusal.to_string()]),
        },
        _ => Err(problems),
    };
    (checked, form)
}

impl Judged {
    fn print(&self) -> anyhow::Result<()> {
        match &self.tool {
            Ok(spec) => output::json(spec.as_ref())?,
            Err(problems) => {
                for problem in problems {
                    eprintln!("error: {}: {problem}", self.file);
                }
            }
        }
        Ok(())
    }

    fn to_json(&self) -> Value {
        match &self.tool {
            Ok(spec) => json!({ "file": self.file, "valid": true, "tool": spec.as_ref() }),
            Err(problems) => json!({ "file": self.file, "valid": false, "problems": problems }),
        }
    }
}
