//! `mizzen condition eval EXPR --with ctx.json`.

use crate::document_file;
use crate::output;
use anyhow::Context as _;
use mizzen_condition::{Condition, ConditionError, Context, EvalError, Fuel, Variable};
use serde_json::{Value, json};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Contexts are read whole, so they have a limit.
const CONTEXT_BYTES: u64 = 16 * 1024 * 1024;

const HELP: &str = "\
Example:
  echo '{\"output\": {\"confidence\": 0.9}}' > ctx.json
  mizzen condition eval 'output.confidence >= 0.85' --with ctx.json

The context has one key per variable: input, steps, output, error, chain, council. A rule (--rule)
can use input, chain and council, and may be YAML that combines expressions with all, any and not.

Prints true or false and exits 0; exits 1 when the condition does not compile or has no answer: a
gate would veto.";

#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub(crate) struct Eval {
    /// The condition, CEL.
    // A condition may begin with a minus: `-1 < 0` is no option.
    #[arg(allow_hyphen_values = true)]
    expr: String,
    /// A JSON file with the values of the variables, or - for standard input.
    #[arg(long, value_name = "CTX.json")]
    with: Option<PathBuf>,
    /// Read it as the condition of a rule: CEL, or YAML that combines CEL.
    #[arg(long)]
    rule: bool,
    /// The budget of the evaluation.
    #[arg(long, default_value_t = Fuel::DEFAULT)]
    fuel: u64,
    /// Print the answer as JSON.
    #[arg(long)]
    json: bool,
}

impl Eval {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let document = match &self.with {
            Some(path) => read(path)?,
            None => json!({}),
        };
        let context = context(&document)?;
        let compiled = if self.rule {
            Condition::compile_rule(&self.expr)
        } else {
            Condition::compile_gate(&self.expr)
        };
        let condition = match compiled {
            Ok(condition) => condition,
            Err(error) => return self.refused(&error),
        };
        let mut fuel = Fuel::new(self.fuel);
        match condition.evaluate(&context, &mut fuel) {
            Ok(result) if self.json => {
                output::json(&json!({"result": result, "fuel_used": fuel.used()}))?;
                Ok(ExitCode::SUCCESS)
            }
            Ok(result) => {
                println!("{result}");
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => self.failed(&error, &fuel),
        }
    }

    fn refused(&self, error: &ConditionError) -> anyhow::Result<ExitCode> {
        if self.json {
            output::json(&json!({"error": {
                "stage": "compile",
                "line": error.position.line,
                "column": error.position.column,
                "message": error.message,
                "hint": error.hint,
            }}))?;
        } else {
            eprintln!("error: the condition does not compile: {}", error.message);
            point_at(&self.expr, error.position.line, error.position.column);
            if let Some(hint) = &error.hint {
                eprintln!("  hint: {hint}");
            }
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }

    fn failed(&self, error: &EvalError, fuel: &Fuel) -> anyhow::Result<ExitCode> {
        let position = error.position();
        if self.json {
            output::json(&json!({"error": {
                "stage": "evaluate",
                "line": position.line,
                "column": position.column,
                "message": error.message(),
            }, "fuel_used": fuel.used()}))?;
        } else {
            eprintln!("error: the condition has no answer: {}", error.message());
            point_at(&self.expr, position.line, position.column);
            eprintln!("  a gate vetoes and a mandatory rule denies on such an error");
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }
}

/// Shows the line and marks the column.
fn point_at(text: &str, line: u32, column: u32) {
    let index = usize::try_from(line).unwrap_or(1).saturating_sub(1);
    let shown = text.lines().nth(index).unwrap_or_default();
    let column = usize::try_from(column).unwrap_or(1);
    // A long line is cut to a window around the column.
    let start = column.saturating_sub(61);
    let window: String = shown.chars().skip(start).take(100).collect();
    eprintln!("  {line} | {window}");
    let indent = line.to_string().len() + 3 + column.saturating_sub(start + 1);
    eprintln!("  {}^", " ".repeat(indent));
}

fn read(path: &Path) -> anyhow::Result<Value> {
    let name = path.display();
    let mut bytes = Vec::new();
    if path.as_os_str() == "-" {
        std::io::stdin()
            .take(CONTEXT_BYTES + 1)
            .read_to_end(&mut bytes)
            .context("cannot read standard input")?;
    } else {
        let file = std::fs::File::open(path).with_context(|| format!("cannot open the context {name}"))?;
        file.take(CONTEXT_BYTES + 1)
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot read the context {name}"))?;
    }
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > CONTEXT_BYTES {
        anyhow::bail!("the context {name} is larger than {CONTEXT_BYTES} bytes");
    }
    String::from_utf8(bytes)
        .map_err(anyhow::Error::from)
        .and_then(|text| document_file::value(&text))
        .with_context(|| format!("the context {name} is not JSON"))
}

fn context(document: &Value) -> anyhow::Result<Context<'_>> {
    let Some(map) = document.as_object() else {
        anyhow::bail!("the context must be a JSON object with a key per variable, such as {{\"output\": …}}");
    };
    let mut context = Context::new();
    for (name, value) in map {
        let Some(variable) = Variable::parse(name) else {
            let known: Vec<_> = Variable::ALL.iter().map(|variable| variable.name()).collect();
            anyhow::bail!(
                "the context has the unknown variable {name:?}; there are {}",
                known.join(", ")
            );
        };
        context = context.with(variable, value);
    }
    Ok(context)
}
