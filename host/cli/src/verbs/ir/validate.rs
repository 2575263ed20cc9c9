//! `mizzen ir validate`

use super::report;
use super::source::{Input, Reading};
use crate::output;
use mizzen_json::{Json, Object};
use mizzen_model::ir::{Inspection, RecordName};
use std::process::ExitCode;

/// Says whether documents are valid, and every reason why not.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir validate graph.yaml other.json
  cat graph.json | mizzen ir validate -

Exit code: 0 every document is valid, 1 one is not, 2 wrong usage or unreadable file.
Warnings never make a document invalid.")]
pub(super) struct Validate {
    /// Documents in JSON or YAML; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Print the findings as JSON on standard output
    #[arg(long)]
    json: bool,
    /// Validate another record than a whole document, such as ToolSpec or PluginManifest
    #[arg(long, value_name = "NAME", value_parser = record_name)]
    record: Option<RecordName>,
    #[command(flatten)]
    reading: Reading,
}

/// For clap: the record of that name.
pub(super) fn record_name(text: &str) -> Result<RecordName, String> {
    RecordName::parse(text).ok_or_else(|| {
        let names: Vec<&str> = RecordName::ALL.iter().map(|name| name.as_str()).collect();
        format!("there is no record {text:?}: use one of {}", names.join(", "))
    })
}

impl Validate {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let mut valid = true;
        let mut documents = Vec::new();
        for file in &self.files {
            let input = match self.reading.read(file) {
                Ok(input) => input,
                Err(error) => return Ok(output::usage_error(&error)),
            };
            let inspection = self.inspect(&input);
            valid &= inspection.errors.is_empty();
            if self.json {
                documents.push(report::inspection_json(&input, &inspection));
                continue;
            }
            report::show(&input, &inspection);
            let name = &input.name;
            match (
                inspection.errors.len() + inspection.dropped,
                inspection.warnings.len(),
            ) {
                (0, 0) => println!("{name}: valid"),
                (0, 1) => println!("{name}: valid, 1 warning"),
                (0, warnings) => println!("{name}: valid, {warnings} warnings"),
                (1, _) => println!("{name}: invalid, 1 error"),
                (errors, _) => println!("{name}: invalid, {errors} errors"),
            }
        }
        if self.json {
            let mut answer = Object::new();
            answer.insert("valid", valid.into());
            answer.insert("documents", documents.into());
            println!("{}", Json::Object(answer).to_pretty());
        }
        Ok(ExitCode::from(if valid { 0 } else { output::EXIT_REFUSED }))
    }

    fn inspect(&self, input: &Input) -> Inspection {
        match self.record {
            None | Some(RecordName::IRDocument) => input.inspect(),
            Some(record) => match input.parse() {
                Err(error) => Inspection {
                    errors: vec![*error],
                    ..Inspection::default()
                },
                Ok(tape) => Inspection {
                    errors: record.check(&tape),
                    ..Inspection::default()
                },
            },
        }
    }
}
