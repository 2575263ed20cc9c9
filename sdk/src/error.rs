//! Why a tool, or a host call that it made, did not produce a result.

use std::fmt;

/// Why a tool, or a host call that it made, did not produce a result. The variants are those of the contract.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ToolError {
    /// The caller's input does not fit. The caller can correct it and call again.
    InvalidInput {
        /// An RFC 6901 pointer into the input; empty for the input as a whole.
        path: String,
        /// What is wrong and what was expected, for a person.
        message: String,
    },
    /// A permission, a profile or a rule forbids it. Calling again will not help.
    Denied(String),
    /// Something that is needed cannot be reached now. Calling again later may help.
    Unavailable(String),
    /// The work was tried and failed.
    Failed {
        /// A stable code in SCREAMING_SNAKE_CASE that programs can match.
        code: String,
        /// What happened, for a person.
        message: String,
    },
}

impl ToolError {
    /// The input does not fit at `path`, an RFC 6901 pointer such as `/items/0`.
    pub fn invalid_input(path: impl Into<String>, message: impl Into<String>) -> Self {
        ToolError::InvalidInput {
            path: path.into(),
            message: message.into(),
        }
    }

    /// Something forbids it.
    pub fn denied(message: impl Into<String>) -> Self {
        ToolError::Denied(message.into())
    }

    /// Something that is needed cannot be reached now.
    pub fn unavailable(message: impl Into<String>) -> Self {
        ToolError::Unavailable(message.into())
    }

    /// The work failed; `code` in SCREAMING_SNAKE_CASE.
    pub fn failed(code: impl Into<String>, message: impl Into<String>) -> Self {
        ToolError::Failed {
            code: code.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ToolError::InvalidInput { path, message } if path.is_empty() => {
                write!(f, "invalid input: {message}")
            }
            ToolError::InvalidInput { path, message } => write!(f, "invalid input at {path}: {message}"),
            ToolError::Denied(message) => write!(f, "denied: {message}"),
            ToolError::Unavailable(message) => write!(f, "unavailable: {message}"),
            ToolError::Failed { code, message } => write!(f, "failed ({code}): {message}"),
        }
    }
}

impl std::error::Error for ToolError {}
