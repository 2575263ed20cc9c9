//! `mizzen ir graph`

use super::report;
use super::source::Reading;
use crate::output;
use mizzen_model::ir::{GraphFormat, draw};
use std::process::ExitCode;

/// Draws a document as a flow chart.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir graph graph.yaml                         Mermaid, for Markdown
  mizzen ir graph --format dot graph.yaml | dot -Tsvg > graph.svg

Exit code: 0 drawn, 1 the document is invalid, 2 wrong usage or unreadable file.")]
pub(super) struct Graph {
    /// A document in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// The language of the picture
    #[arg(long, value_enum, default_value = "mermaid")]
    format: Format,
    #[command(flatten)]
    reading: Reading,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Format {
    /// Mermaid
    Mermaid,
    /// Graphviz DOT
    Dot,
}

impl Graph {
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
        let format = match self.format {
            Format::Mermaid => GraphFormat::Mermaid,
            Format::Dot => GraphFormat::Dot,
        };
        print!("{}", draw(document, format));
        Ok(ExitCode::SUCCESS)
    }
}
