//! What is wrong with a rule file, and what can go wrong while it runs.

use crate::budget::Exhausted;
use std::fmt;

/// Where something stands: line and column from one, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a text is no rule program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleError {
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be said.
    pub hint: Option<String>,
}

impl RuleError {
    pub(crate) fn new(span: (Position, Position), message: impl Into<String>) -> Self {
        Self {
            start: span.0,
            end: span.1,
            message: message.into(),
            hint: None,
        }
    }

    /// About a file as a whole.
    #[cfg(feature = "json")]
    pub(crate) fn whole(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let start = Position { line: 1, column: 1 };
        Self::new((start, start), message).hint(hint)
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.start, self.message)?;
        match &self.hint {
            Some(hint) => write!(f, " ({hint})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for RuleError {}

/// Why a run has no result. Governance fails closed on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunError {
    /// A budget is spent.
    Exhausted(Exhausted),
    /// A right-hand side could not be computed.
    Action {
        /// The rule.
        rule: String,
        /// What happened.
        message: String,
    },
    /// A fact does not fit its template.
    Fact(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted(exhausted) => write!(f, "{exhausted}"),
            Self::Action { rule, message } => write!(f, "the actions of rule {rule} failed: {message}"),
            Self::Fact(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for RunError {}

impl From<Exhausted> for RunError {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}
