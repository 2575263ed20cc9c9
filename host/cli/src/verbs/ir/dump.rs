//! `mizzen ir dump`

use super::report;
use super::source::Reading;
use super::validate::record_name;
use crate::output;
use mizzen_model::ir::{Inspection, RecordName};
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

/// Prints a document in its wire form: compact, defaults left out.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir dump graph.yaml
  mizzen ir dump --canonical graph.json | b3sum

No newline is added when the output is not a terminal, so that the bytes can be hashed.
Exit code: 0 printed, 1 the document is invalid, 2 wrong usage or unreadable file.")]
pub(super) struct Dump {
    /// A document in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Sort keys by code point at every depth: the form that hashes cover
    #[arg(long)]
    canonical: bool,
    /// Dump another record than a whole document, such as ToolSpec or PluginManifest
    #[arg(long, value_name = "NAME", value_parser = record_name)]
    record: Option<RecordName>,
    #[command(flatten)]
    reading: Reading,
}

impl Dump {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let input = match self.reading.read(&self.file) {
            Ok(input) => input,
            Err(error) => return Ok(output::usage_error(&error)),
        };
        let dumped = match self.record {
            None | Some(RecordName::IRDocument) => {
                let inspection = input.inspect();
                match inspection.document {
                    Some(document) if self.canonical => Ok(mizzen_model::ir::dumps_canonical(&document)),
                    Some(document) => Ok(mizzen_model::ir::dumps(&document)),
                    None => Err(inspection),
                }
            }
            Some(record) => {
                let read = input
                    .parse()
                    .map_err(|error| vec![*error])
                    .and_then(|tape| record.read(&tape));
                match read {
                    Ok(value) if self.canonical => Ok(value.dumps_canonical()),
                    Ok(value) => Ok(value.dumps()),
                    Err(errors) => Err(Inspection {
                        errors,
                        ..Inspection::default()
                    }),
                }
            }
        };
        match dumped {
            Ok(mut text) => {
                let mut out = std::io::stdout().lock();
                if out.is_terminal() {
                    text.push('\n');
                }
                out.write_all(text.as_bytes())?;
                out.flush()?;
                Ok(ExitCode::SUCCESS)
            }
            Err(inspection) => {
                report::show(&input, &inspection);
                Ok(ExitCode::from(output::EXIT_REFUSED))
            }
        }
    }
}
