//! What can be wrong with a condition, before and while it runs.

use std::fmt;

/// Where something stands in the text of a condition, counted in characters and from one, as editors do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column within the line, from 1, in characters.
    pub column: u32,
}

impl Position {
    /// The very first character.
    pub const START: Self = Self { line: 1, column: 1 };

    /// The position of the byte `offset` of `text`; past the end it is the end.
    #[must_use]
    pub fn of_offset(text: &str, offset: usize) -> Self {
        let mut position = Self::START;
        for (at, c) in text.char_indices() {
            if at >= offset {
                break;
            }
            if c == '\n' {
                position.line = position.line.saturating_add(1);
                position.column = 1;
            } else {
                position.column = position.column.saturating_add(1);
            }
        }
        position
    }

    /// This position, when the text it was counted in starts at `start` of a larger text.
    #[must_use]
    pub(crate) fn shifted(self, start: Self) -> Self {
        let line = start.line.saturating_add(self.line).saturating_sub(1);
        let column = if self.line == 1 {
            start.column.saturating_add(self.column).saturating_sub(1)
        } else {
            self.column
        };
        Self { line, column }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// Why a condition does not compile. It is refused when a council or chain is created, never at a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{position}: {message}{}", hint.as_deref().map(|hint| format!(" ({hint})")).unwrap_or_default())]
pub struct ConditionError {
    /// Where, in the text as it was written.
    pub position: Position,
    /// What is wrong.
    pub message: String,
    /// What to write instead, where that can be said.
    pub hint: Option<String>,
}

impl ConditionError {
    pub(crate) fn new(position: Position, message: impl Into<String>) -> Self {
        Self {
            position,
            message: message.into(),
            hint: None,
        }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// What kind of failure stopped an evaluation. Callers decide by this and never by the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EvalErrorKind {
    /// A variable that exists, but has no value at this point of the run.
    Unavailable,
    /// A field or map key that is not there.
    NoSuchKey,
    /// A list index outside the list.
    OutOfRange,
    /// An operator or function that does not take values of these types.
    NoSuchOverload,
    /// Integer overflow, division by zero or a conversion that loses the value.
    Arithmetic,
    /// A conversion of a text that does not say such a value.
    BadConversion,
    /// A pattern that is no regular expression, or too large a one.
    BadPattern,
    /// A map literal with the same key twice.
    DuplicateKey,
    /// The condition answered something that is neither true nor false.
    NotABoolean,
    /// The budget is spent.
    OutOfFuel,
}

/// Why an evaluation has no answer. Gates and mandatory rules fail closed on it (D2, D6).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {}", self.position(), .0.message)]
pub struct EvalError(Box<Failure>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Failure {
    kind: EvalErrorKind,
    position: Option<Position>,
    message: String,
}

impl EvalError {
    pub(crate) fn new(kind: EvalErrorKind, message: impl Into<String>) -> Self {
        Self(Box::new(Failure {
            kind,
            position: None,
            message: message.into(),
        }))
    }

    pub(crate) fn at(mut self, position: Position) -> Self {
        self.0.position = Some(position);
        self
    }

    /// What kind of failure it is.
    #[must_use]
    pub fn kind(&self) -> EvalErrorKind {
        self.0.kind
    }

    /// Where in the condition it happened.
    #[must_use]
    pub fn position(&self) -> Position {
        self.0.position.unwrap_or(Position::START)
    }

    pub(crate) fn is_placed(&self) -> bool {
        self.0.position.is_some()
    }

    /// What happened, without the position.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// A spent budget ends the evaluation at once; `false && …` must not hide it, or cost would decide outcomes.
    pub(crate) fn is_fatal(&self) -> bool {
        self.0.kind == EvalErrorKind::OutOfFuel
    }
}
