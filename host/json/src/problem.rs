//! What is wrong with a document, in one shape for JSON, YAML and TOML: where, a stable code for programs, a sentence for people.

use super::{Position, Span};
use serde::{Serialize, Serializer, ser::SerializeMap as _};
use std::borrow::Cow;
use std::fmt;

/// One mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// An RFC 6901 pointer into the document, or the dotted key of TOML; empty for the document as a whole. A missing field is reported
    /// at the path it should have had.
    pub path: String,
    /// What kind of mistake, stable over versions: programs match on it.
    pub code: &'static str,
    /// What is wrong and what was expected.
    pub message: String,
    /// What to do; empty where the message says it.
    pub help: Cow<'static, str>,
    /// The bytes of the source that it is about, where there is a source.
    pub span: Option<Span>,
    /// Where they begin, for those who no longer have the source.
    pub position: Option<Position>,
}

impl Problem {
    /// A problem of a value whose place in a source is not known.
    pub fn new(path: impl Into<String>, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            code,
            message: message.into(),
            help: Cow::Borrowed(""),
            span: None,
            position: None,
        }
    }

    /// The same with what to do.
    #[must_use]
    pub fn with_help(self, help: impl Into<Cow<'static, str>>) -> Self {
        Self {
            help: help.into(),
            ..self
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path, code, message, ..
        } = self;
        // A text that a person edits: the line says more than the code.
        if let Some(Position { line, column }) = self.position {
            write!(f, "line {line}, column {column}: ")?;
            if !path.is_empty() {
                write!(f, "{path}: ")?;
            }
            return write!(f, "{message}; {}", self.help);
        }
        let path = if path.is_empty() { "(document)" } else { path };
        write!(f, "{path}: {message} [{code}]")
    }
}

/// What is known of it and nothing else.
impl Serialize for Problem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("path", &self.path)?;
        map.serialize_entry("code", self.code)?;
        map.serialize_entry("message", &self.message)?;
        if !self.help.is_empty() {
            map.serialize_entry("help", &self.help)?;
        }
        if let Some(Position { line, column }) = self.position {
            map.serialize_entry("line", &line)?;
            map.serialize_entry("column", &column)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_has_a_line_where_there_is_a_text_and_a_code_where_there_is_none() {
        let check = |problem: &Problem, text: &str, json: &str| {
            assert_eq!(problem.to_string(), text);
            assert_eq!(serde_json::to_string(problem).unwrap(), json);
        };
        let mut problem = Problem::new("/name", "missing", "name is required");
        check(
            &problem,
            "/name: name is required [missing]",
            r#"{"path":"/name","code":"missing","message":"name is required"}"#,
        );
        problem.path = "plugin.name".to_owned();
        problem = problem.with_help("add it");
        problem.position = Some(Position { line: 2, column: 3 });
        check(
            &problem,
            "line 2, column 3: plugin.name: name is required; add it",
            r#"{"path":"plugin.name","code":"missing","message":"name is required","help":"add it","line":2,"column":3}"#,
        );
        let whole = Problem::new("", "unreadable", "not JSON");
        assert_eq!(whole.to_string(), "(document): not JSON [unreadable]");
    }
}
