//! An attempt that has failed, while packs look at it: its message is a text of a tool's making, as an answer is.

use super::CallFailure;
use crate::pack::REDACTED;
use serde_json::{Value, json};

/// Who knows of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FailedBy {
    /// A call ended with it: a journal keeps it as the packs have left it.
    Call,
    /// The run itself found it: it finds the same again when it is made again, whole.
    Run,
}

/// A failure that packs look at.
#[derive(Debug)]
pub(super) struct Failing {
    pub(super) failed: CallFailure,
    pub(super) by: FailedBy,
}

impl Failing {
    pub(super) fn new(failed: CallFailure, by: FailedBy) -> Self {
        Self { failed, by }
    }

    /// What packs are shown, and what they can redact. The code is the host's own word; the tool's is not.
    pub(super) fn text(&self) -> Value {
        let mut error = json!({"message": self.failed.message});
        if let (Some(code), Some(members)) = (&self.failed.tool_code, error.as_object_mut()) {
            members.insert("tool_code".to_owned(), code.as_str().into());
        }
        json!({ "error": error })
    }

    /// Takes back what has become of it.
    pub(super) fn retell(&mut self, text: &Value) {
        let message = text.pointer("/error/message").and_then(Value::as_str);
        message.unwrap_or(REDACTED).clone_into(&mut self.failed.message);
        let code = text.pointer("/error/tool_code").and_then(Value::as_str);
        self.failed.tool_code = code.map(str::to_owned);
    }
}

impl CallFailure {
    /// What may be known of a failure whose message packs have not let through.
    pub fn withheld(&self) -> Self {
        Self {
            message: REDACTED.to_owned(),
            tool_code: None,
            ..self.clone()
        }
    }
}
