//! `mizzen ir hash`

use super::report;
use super::source::Reading;
use crate::output;
use mizzen_json::{Json, Object};
use mizzen_model::ir::graph_hash;
use std::process::ExitCode;

/// Prints the graph hash of a document: BLAKE3 of its canonical form.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir hash graph.yaml

Exit code: 0 printed, 1 the document is invalid, 2 wrong usage or unreadable file.")]
pub(super) struct Hash {
    /// A document in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Print {"id", "hash"} as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Hash {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let input = match self.reading.read(&self.file) {
            Ok(input) => input,
            Err(error) => return Ok(output::usage_error(&error)),
        };
        let inspection = input.inspect();
        let Some(document) = &inspection.document else {
            report::show(&input, &inspection);
            return Ok(ExitCode::from(output::EXIT_REFUSED));
        };
        let hash = graph_hash(document);
        if self.json {
            let mut answer = Object::new();
            answer.insert("id", document.id.as_str().into());
            answer.insert("hash", hash.into());
            println!("{}", Json::Object(answer).to_pretty());
        } else {
            println!("{hash}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
