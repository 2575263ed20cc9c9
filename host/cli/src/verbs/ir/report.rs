//! What a verb says about a document: for people, and for programs.

use super::source::Input;
use crate::diagnostic::{Colour, Finding, Severity, Source, render};
use mizzen_json::{Json, Object, Problem, Span};
use mizzen_model::ir::{Inspection, ValidationError};
use std::io::Write as _;

/// How many findings of one document people see; programs ask for `--json` and get all.
const SHOWN: usize = 50;

/// Prints errors and warnings of a document on standard error.
pub(super) fn show(input: &Input, inspection: &Inspection) {
    let source = Source::new(&input.name, &input.text);
    let colour = Colour::for_stderr();
    let shown = inspection.errors.iter().take(SHOWN);
    let errors: Vec<Problem> = shown.map(ValidationError::problem).collect();
    let errors = inspection
        .errors
        .iter()
        .zip(&errors)
        .map(|(error, problem)| Finding {
            severity: Severity::Error,
            code: format!("{}/{}", error.stage.as_str(), error.code),
            problem,
        });
    let warnings = inspection.warnings.iter().map(|problem| Finding {
        severity: Severity::Warning,
        code: problem.code.to_owned(),
        problem,
    });
    let mut err = std::io::stderr().lock();
    // A closed standard error is nobody to tell.
    for finding in errors.chain(warnings).take(SHOWN) {
        let _ = writeln!(err, "{}", render(&source, &finding, colour));
    }
    let found = inspection.errors.len() + inspection.warnings.len();
    let hidden = found.saturating_sub(SHOWN) + inspection.dropped;
    if hidden > 0 {
        let _ = writeln!(err, "… and {hidden} more; --json shows them\n");
    }
}

/// An error for programs, without its place.
pub(super) fn error_json(error: &ValidationError) -> Object {
    let mut members = Object::new();
    members.insert("stage", error.stage.as_str().into());
    members.insert("code", error.code.into());
    members.insert("path", error.path.as_str().into());
    members.insert("expected", error.expected.as_ref().into());
    members.insert("actual", error.actual.as_deref().map_or(Json::Null, Json::from));
    members.insert("hint", error.hint.as_ref().into());
    members
}

/// A document's findings for programs, with their places.
pub(super) fn inspection_json(input: &Input, inspection: &Inspection) -> Json {
    let source = Source::new(&input.name, &input.text);
    let errors: Vec<Json> = inspection
        .errors
        .iter()
        .map(|error| {
            let mut members = error_json(error);
            place(&source, error.span, &mut members);
            Json::Object(members)
        })
        .collect();
    let warnings: Vec<Json> = inspection
        .warnings
        .iter()
        .map(|warning| {
            let mut members = Object::new();
            members.insert("code", warning.code.into());
            members.insert("path", warning.path.as_str().into());
            members.insert("message", warning.message.as_str().into());
            members.insert("hint", warning.help.as_ref().into());
            place(&source, warning.span, &mut members);
            Json::Object(members)
        })
        .collect();
    let mut document = Object::new();
    document.insert("file", input.name.as_str().into());
    document.insert("valid", inspection.errors.is_empty().into());
    document.insert("errors", errors.into());
    if inspection.dropped > 0 {
        document.insert("errors_not_listed", (inspection.dropped as i64).into());
    }
    document.insert("warnings", warnings.into());
    Json::Object(document)
}

fn place(source: &Source<'_>, span: Option<Span>, members: &mut Object) {
    let Some(span) = span else { return };
    let (line, column) = source.position(span.start);
    members.insert("line", (line as i64).into());
    members.insert("column", (column as i64).into());
    let bytes = vec![Json::from(span.start as i64), Json::from(span.end as i64)];
    members.insert("span", bytes.into());
}
