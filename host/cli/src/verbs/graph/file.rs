//! A graph's document, from a file or standard input.

use crate::document_file;
use anyhow::{Result, bail};
use mizzen_model::ir::{IRDocument, Options, inspect_value};
use mizzen_ops::{OpError, Refusal};
use std::path::Path;

/// Reads a valid document.
pub(super) fn read(file: &Path) -> Result<IRDocument> {
    let value = document_file::read(file)?;
    let inspection = inspect_value(&value, Options::default());
    let Some(document) = inspection.document else {
        let errors = inspection.errors.iter();
        let lines: Vec<String> = errors
            .map(|error| {
                format!(
                    "  {}: expected {}; {}",
                    place(&error.path),
                    error.expected,
                    error.hint
                )
            })
            .collect();
        bail!(
            "{} is no valid IR document:\n{}",
            file.display(),
            lines.join("\n")
        );
    };
    Ok(document)
}

/// Why a document is refused, a line for each problem.
pub(super) fn refusal(error: OpError) -> anyhow::Error {
    let OpError::Refused(Refusal::GraphRefused { problems }) = &error else {
        return error.into();
    };
    let problems = problems.iter();
    let lines: Vec<String> = problems
        .map(|problem| {
            let place = place(&problem.path);
            format!(
                "  {place}: {} [{}]\n    {}",
                problem.message, problem.code, problem.hint
            )
        })
        .collect();
    anyhow::anyhow!("this host cannot run the graph:\n{}", lines.join("\n"))
}

fn place(pointer: &str) -> &str {
    match pointer {
        "" => "the document",
        pointer => pointer,
    }
}
