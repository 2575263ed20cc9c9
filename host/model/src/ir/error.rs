//! What a validator says.

use mizzen_json::{Form, Node, Problem, Span, View, write_string};
use std::borrow::Cow;

/// Which check refused the document. Stages run in this order and the first with errors reports alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// The text is not JSON (or YAML), or exceeds a limit.
    JsonParse,
    /// Missing, unknown or ill-typed members.
    Structural,
    /// Ids that are not stable slugs.
    Slug,
    /// A version this build does not read.
    Version,
}

impl Stage {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Stage::JsonParse => "json_parse",
            Stage::Structural => "structural",
            Stage::Slug => "slug",
            Stage::Version => "version",
        }
    }
}

/// One reason why a document is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: expected {expected}")]
pub struct ValidationError {
    /// Which check refused it.
    pub stage: Stage,
    /// A stable name for the kind of error.
    pub code: &'static str,
    /// RFC 6901 pointer into the document; empty for the whole of it.
    pub path: String,
    /// What should have been there.
    pub expected: Cow<'static, str>,
    /// What was there, as JSON, shortened; nothing when a member is missing.
    pub actual: Option<String>,
    /// What to do.
    pub hint: Cow<'static, str>,
    /// Where in the source, if there is one.
    pub span: Option<Span>,
}

impl ValidationError {
    /// The error in the shape of every other document's.
    pub fn problem(&self) -> Problem {
        let message = match (&self.actual, self.code) {
            (_, "missing") => format!("missing {}", self.expected),
            (_, "extra_forbidden") => "unknown field".to_owned(),
            (Some(actual), _) if self.stage != Stage::JsonParse => {
                format!("expected {}, found {actual}", self.expected)
            }
            _ => format!("expected {}", self.expected),
        };
        Problem {
            span: self.span,
            ..Problem::new(self.path.as_str(), self.code, message).with_help(self.hint.clone())
        }
    }
}

/// How much of a hostile value is repeated in a message.
const ACTUAL_CHARS: usize = 80;

/// The value as short JSON: long texts are cut, containers are summarised.
pub(crate) fn describe(node: Node<'_>) -> String {
    match node.view() {
        View::String(text) => describe_text(text),
        View::Array(items) => format!("array of {}", items.len()),
        View::Object(members) => format!("object of {}", members.len()),
        _ => shorten(node.source_text()),
    }
}

/// A text as a short JSON string.
pub(crate) fn describe_text(text: &str) -> String {
    let short = shorten(text);
    let mut out = String::with_capacity(short.len() + 2);
    write_string(&short, Form::Compact, &mut out);
    out
}

/// At most 80 characters of a text.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(ACTUAL_CHARS) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
