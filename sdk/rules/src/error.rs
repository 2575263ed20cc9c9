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
    /// Of which kind it is.
    pub kind: RuleErrorKind,
    /// Where it starts.
    pub start: Position,
    /// Where it ends.
    pub end: Position,
    /// What is wrong.
    pub message: String,
    /// What to write instead, or what to do.
    pub hint: String,
}

/// The kinds of [`RuleError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleErrorKind {
    /// It is not in the language, or makes no sense.
    Refused,
    /// It would be allowed, and there is too much of it: bytes, nesting, patterns, the size of a regular expression.
    Budget,
}

impl RuleErrorKind {
    /// A stable code; a budget that is spent while rules run has the same.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Refused => "RULE_REFUSED",
            Self::Budget => BUDGET_EXHAUSTED,
        }
    }
}

/// The code of every budget that is spent, in a text and in a run.
pub(crate) const BUDGET_EXHAUSTED: &str = "BUDGET_EXHAUSTED";

/// An error that does not say yet what to do about it. There is no other way to make one, so all of them say it.
#[derive(Debug)]
pub(crate) struct Unhinted {
    kind: RuleErrorKind,
    span: (Position, Position),
    message: String,
}

impl Unhinted {
    pub(crate) fn hint(self, hint: impl Into<String>) -> RuleError {
        RuleError {
            kind: self.kind,
            start: self.span.0,
            end: self.span.1,
            message: self.message,
            hint: hint.into(),
        }
    }
}

impl RuleError {
    pub(crate) fn refused(span: (Position, Position), message: impl Into<String>) -> Unhinted {
        Unhinted {
            kind: RuleErrorKind::Refused,
            span,
            message: message.into(),
        }
    }

    /// A text that needs more than it may.
    pub(crate) fn budget(span: (Position, Position), message: impl Into<String>) -> Unhinted {
        Unhinted {
            kind: RuleErrorKind::Budget,
            ..Self::refused(span, message)
        }
    }

    /// About a file as a whole.
    #[cfg(feature = "json")]
    pub(crate) fn whole(message: impl Into<String>, hint: impl Into<String>) -> Self {
        let start = Position { line: 1, column: 1 };
        Self::refused((start, start), message).hint(hint)
    }
}

impl fmt::Display for RuleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.start, self.message, self.hint)
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

impl RunError {
    /// A stable code.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Exhausted(_) => BUDGET_EXHAUSTED,
            Self::Action { .. } => "ACTION_FAILED",
            Self::Fact(_) => "BAD_FACTS",
        }
    }
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
