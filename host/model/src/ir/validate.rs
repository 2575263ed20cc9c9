//! The validator: JSON → structure → stable ids → version. The first stage with errors reports alone, with all of them.

use super::error::{Stage, ValidationError, shorten};
use super::record::{Reader, Value};
use super::records::IRDocument;
use super::{lint, version};
use mizzen_json::{Json, Node, ParseError, Problem, ReadLimits, Tape, View, parse_lossy, position_of};
use std::borrow::Cow;

/// How much a validator reads and says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Bounds on the text.
    pub json: ReadLimits,
    /// Errors kept; the rest is counted.
    pub errors: usize,
    /// Warnings kept; with none, they are not even looked for.
    pub warnings: usize,
}

impl Default for Options {
    /// 10,000 errors are more than anyone reads and keep a hostile document from growing in memory.
    fn default() -> Self {
        Options {
            json: ReadLimits::default(),
            errors: 10_000,
            warnings: 1_000,
        }
    }
}

/// What was found in a document.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Inspection {
    /// The document, when it is valid.
    pub document: Option<IRDocument>,
    /// Why it is not valid.
    pub errors: Vec<ValidationError>,
    /// How many errors there were beyond [`Options::errors`].
    pub dropped: usize,
    /// What is suspicious in a valid document.
    pub warnings: Vec<Problem>,
}

/// Why a text is not a valid document: empty when it is one. Never panics.
pub fn validate(text: &str) -> Vec<ValidationError> {
    let options = Options::default();
    match parse_lossy(text, options.json) {
        // Only the errors leave this function, so the document may be hollow.
        Ok(tape) => check(&tape, Reader::for_errors(options.errors)).errors,
        Err(error) => vec![parse_failure(text, &error)],
    }
}

/// As [`validate`], for a value that is already decoded. There are no spans then.
pub fn validate_value(value: &Json) -> Vec<ValidationError> {
    inspect_value(value, Options::default()).errors
}

/// The document if a text is a valid one, the errors if not, and warnings either way they can be had.
pub fn inspect(text: &str, options: Options) -> Inspection {
    match parse_lossy(text, options.json) {
        Ok(tape) => inspect_tape(&tape, options),
        Err(error) => Inspection {
            errors: vec![parse_failure(text, &error)],
            ..Inspection::default()
        },
    }
}

/// As [`inspect`], for a text that is already parsed (from JSON or YAML).
pub fn inspect_tape(tape: &Tape<'_>, options: Options) -> Inspection {
    let mut inspection = check(tape, Reader::new(options.errors));
    if let Some(document) = inspection.document.as_ref().filter(|_| options.warnings > 0) {
        inspection.warnings = lint::lint(document, Some(tape.root()), options.warnings);
    }
    inspection
}

/// As [`inspect`], for a value that is already decoded.
pub fn inspect_value(value: &Json, options: Options) -> Inspection {
    let mut inspection = inspect(&value.to_compact(), options);
    inspection.errors.iter_mut().for_each(|error| error.span = None);
    inspection
        .warnings
        .iter_mut()
        .for_each(|warning| warning.span = None);
    inspection
}

/// The one error of a text that could not be parsed.
pub fn parse_failure(text: &str, error: &ParseError) -> ValidationError {
    let position = position_of(text, error.span.start);
    let near = text.get(error.span.start..).unwrap_or_default();
    ValidationError {
        stage: Stage::JsonParse,
        code: error.code.as_str(),
        path: String::new(),
        expected: Cow::Borrowed("valid JSON"),
        actual: Some(shorten(if near.is_empty() { text } else { near })),
        hint: Cow::Owned(format!(
            "{} (line {}, column {})",
            error.message, position.line, position.column
        )),
        span: Some(error.span),
    }
}

fn check<'t>(tape: &'t Tape<'t>, mut reader: Reader<'t>) -> Inspection {
    let root = tape.root();
    let document = IRDocument::read(root, &mut reader);
    let (errors, dropped) = reader.finish_with_ids();
    let Some(document) = document.filter(|_| errors.is_empty()) else {
        return Inspection {
            errors,
            dropped,
            ..Inspection::default()
        };
    };
    // From the tape: the document may be hollow, and the tape knows the place.
    let ir_version = member(root, "ir_version");
    if let Some(mut error) = version::check_version(ir_version.map(text_of).unwrap_or_default()) {
        error.span = ir_version.map(Node::span);
        return Inspection {
            errors: vec![error],
            ..Inspection::default()
        };
    }
    Inspection {
        document: Some(document),
        ..Inspection::default()
    }
}

fn text_of(node: Node<'_>) -> &str {
    node.as_str().unwrap_or_default()
}

/// The member that counts: the last with this key.
pub(crate) fn member<'t>(node: Node<'t>, key: &str) -> Option<Node<'t>> {
    match node.view() {
        View::Object(members) => members
            .filter(|member| member.key_bytes() == key.as_bytes())
            .last()
            .map(|member| member.value),
        _ => None,
    }
}
