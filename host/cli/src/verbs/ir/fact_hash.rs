//! `mizzen ir fact-hash`

use super::report;
use super::source::Reading;
use crate::jsonl::{Halves, Row, answer_lines};
use crate::output;
use mizzen_json::{Json, Object};
use mizzen_model::ir::{Inspection, fact_content_hash};
use std::process::ExitCode;

/// Prints the content hash of a fact: BLAKE2b of its canonical JSON, 32 hex digits.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
With --jsonl, reads lines {\"text\": …} from standard input and writes lines {\"hash\": …}, in
order; a text that is not JSON gets {\"hash\": null, \"error\": …}.

Example:
  echo '{\"k\": \"v\"}' | mizzen ir fact-hash -
  echo '{\"text\": \"{\\\"k\\\": \\\"v\\\"}\"}' | mizzen ir fact-hash --jsonl

Exit code: 0 hashed, 1 an input is not JSON, 2 wrong usage or unreadable file.")]
pub(super) struct FactHash {
    /// A fact in JSON or YAML; `-` is standard input
    #[arg(
        value_name = "FILE",
        required_unless_present = "jsonl",
        conflicts_with = "jsonl"
    )]
    file: Option<String>,
    /// Read and write lines of JSON
    #[arg(long)]
    jsonl: bool,
    #[command(flatten)]
    reading: Reading,
}

impl FactHash {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let Some(file) = self.file else {
            return hash_lines();
        };
        let input = match self.reading.read(&file) {
            Ok(input) => input,
            Err(error) => return Ok(output::usage_error(&error)),
        };
        match input.parse_exactly() {
            Ok(tape) => {
                println!("{}", fact_content_hash(&tape.root().to_json()));
                Ok(ExitCode::SUCCESS)
            }
            Err(error) => {
                report::show(
                    &input,
                    &Inspection {
                        errors: vec![*error],
                        ..Inspection::default()
                    },
                );
                Ok(ExitCode::from(output::EXIT_REFUSED))
            }
        }
    }
}

fn hash_lines() -> anyhow::Result<ExitCode> {
    let mut hashed = true;
    answer_lines(
        std::io::stdin().lock(),
        std::io::stdout().lock(),
        Halves::InTexts,
        |row| {
            let mut answer = Object::new();
            match hash_row(row) {
                Ok(hash) => {
                    answer.insert("hash", hash.into());
                }
                Err(reason) => {
                    hashed = false;
                    answer.insert("hash", Json::Null);
                    answer.insert("error", reason.into());
                }
            }
            Json::Object(answer)
        },
    )?;
    Ok(ExitCode::from(if hashed { 0 } else { output::EXIT_REFUSED }))
}

fn hash_row(row: &Row) -> Result<String, String> {
    let value = row
        .as_ref()
        .map_err(|error| format!("the line is not JSON: {error}"))?;
    let text = value
        .get("text")
        .and_then(Json::as_str)
        .ok_or("a line must be an object with the string text")?;
    let fact = Json::parse(text).map_err(|error| format!("the text is not JSON: {error}"))?;
    Ok(fact_content_hash(&fact))
}
