//! `mizzen ir check`

use super::report::error_json;
use crate::jsonl::{Halves, Row, answer_lines};
use crate::output;
use mizzen_json::{Json, Object, ParseCode, ParseError, Span};
use mizzen_model::ir::{
    Inspection, Options, ValidationError, dumps, dumps_canonical, graph_hash, inspect, parse_failure,
};
use std::process::ExitCode;

/// Validates many documents in one go, for editors, test suites and comparison with other implementations.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Reads lines {\"name\": …, \"text\": …} from standard input and writes, in order, one line each:
  {\"name\", \"valid\", \"errors\": [{\"stage\", \"code\", \"path\", \"expected\", \"actual\", \"hint\"}],
   \"dumps\", \"canonical\", \"hash\"}          (the last three only when valid)

Example:
  echo '{\"name\": \"a\", \"text\": \"{}\"}' | mizzen ir check --jsonl

Exit code: 0 every line was answered, 1 a line was not of that form, 2 wrong usage.")]
pub(super) struct Check {
    /// Read and write lines of JSON
    #[arg(long, required = true)]
    jsonl: bool,
}

impl Check {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut understood = true;
        let read = answer_lines(
            std::io::stdin().lock(),
            std::io::stdout().lock(),
            Halves::InTexts,
            |row| {
                let answer = check_row(row);
                understood &= answer.is_ok();
                Json::Object(answer.unwrap_or_else(|answer| answer))
            },
        )?;
        Ok(ExitCode::from(if read && understood {
            0
        } else {
            output::EXIT_REFUSED
        }))
    }
}

/// The answer to a row; `Err` when the row is not of the expected form.
fn check_row(row: &Row) -> Result<Object, Object> {
    let value = match row {
        Ok(value) => value,
        Err(error) => return Err(malformed(Json::Null, error)),
    };
    let name = value.get("name").cloned().unwrap_or(Json::Null);
    match value.get("text").and_then(Json::as_str) {
        Some(text) => {
            // The answer has no place for warnings, so none are looked for.
            let options = Options {
                warnings: 0,
                ..Options::default()
            };
            Ok(answer(name, &inspect(text, options)))
        }
        None => {
            let message = "a line must be an object with the strings name and text".to_owned();
            let span = Span { start: 0, end: 0 };
            Err(malformed(
                name,
                &ParseError {
                    code: ParseCode::ExpectedKey,
                    message,
                    span,
                },
            ))
        }
    }
}

fn malformed(name: Json, error: &ParseError) -> Object {
    let failure = ValidationError {
        actual: None,
        ..parse_failure("", error)
    };
    answer(
        name,
        &Inspection {
            errors: vec![failure],
            ..Inspection::default()
        },
    )
}

fn answer(name: Json, inspection: &Inspection) -> Object {
    let errors: Vec<Json> = inspection
        .errors
        .iter()
        .map(|error| Json::Object(error_json(error)))
        .collect();
    let mut answer = Object::new();
    answer.insert("name", name);
    answer.insert("valid", inspection.errors.is_empty().into());
    answer.insert("errors", errors.into());
    if let Some(document) = &inspection.document {
        answer.insert("dumps", dumps(document).into());
        answer.insert("canonical", dumps_canonical(document).into());
        answer.insert("hash", graph_hash(document).into());
    }
    answer
}
