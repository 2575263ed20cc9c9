//! Replacing a text of an output.

use crate::condition::Pattern;
use serde_json::{Map, Value};

/// What stands where something was.
pub const REDACTED: &str = "[redacted]";

const MAX_POINTER: usize = 1_024;
const MAX_PATTERN: usize = 1_024;

/// Which text to replace: what a pattern matches in the string that a pointer leads to, or all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redaction {
    pointer: String,
    pattern: Option<String>,
}

/// A redaction that cannot be carried out. The output must not be used then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedactionError {
    /// The pointer leads to no string of the output.
    #[error("the output has no text at {0:?} to redact")]
    NoText(String),
}

impl Redaction {
    pub(super) fn read(details: &Map<String, Value>) -> Result<Self, String> {
        if let Some(unknown) = details.keys().find(|key| *key != "pointer" && *key != "pattern") {
            return Err(format!(
                "a redaction has no detail {unknown:?}, only pointer and pattern"
            ));
        }
        let Some(Value::String(pointer)) = details.get("pointer") else {
            return Err("a redaction needs a pointer, a text such as \"/summary\"".to_owned());
        };
        let well_formed = pointer.is_empty() || pointer.starts_with('/');
        if !well_formed || pointer.len() > MAX_POINTER {
            return Err("its pointer is not an RFC 6901 pointer".to_owned());
        }
        let pattern = match details.get("pattern") {
            None => None,
            Some(Value::String(pattern)) if pattern.len() <= MAX_PATTERN => {
                Pattern::compile(pattern)?;
                Some(pattern.clone())
            }
            Some(_) => {
                return Err(format!(
                    "its pattern is not a text of at most {MAX_PATTERN} bytes"
                ));
            }
        };
        Ok(Self {
            pointer: pointer.clone(),
            pattern,
        })
    }

    /// Where the text is, an RFC 6901 pointer into the output.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is replaced in it; all of it without one.
    pub fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }

    /// Replaces the text. One that the pattern does not match is replaced whole: a pack that asks for a redaction has seen
    /// something there, and what it saw must not get past because two machines read a pattern differently.
    ///
    /// # Errors
    /// When the pointer leads to no text.
    pub fn apply(&self, output: &mut Value) -> Result<(), RedactionError> {
        let Some(Value::String(text)) = output.pointer_mut(&self.pointer) else {
            return Err(RedactionError::NoText(self.pointer.clone()));
        };
        let replaced = self
            .pattern
            .as_deref()
            .and_then(|pattern| Pattern::compile(pattern).ok())
            .and_then(|pattern| pattern.replace(text, REDACTED));
        // Several decisions can ask for the same: what is gone already is not a reason to take the rest.
        if replaced.is_none() && self.pattern.is_some() && text.contains(REDACTED) {
            return Ok(());
        }
        *text = replaced.unwrap_or_else(|| REDACTED.to_owned());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn redact(details: Value, output: Value) -> Result<Value, String> {
        let redaction = Redaction::read(details.as_object().unwrap())?;
        let mut output = output;
        redaction.apply(&mut output).map_err(|error| error.to_string())?;
        Ok(output)
    }

    #[test]
    fn what_the_pattern_matches_is_replaced_and_without_one_everything() {
        let output = json!({"text": "call 555-0100 or 555-0199", "list": ["a", "b"]});
        assert_eq!(
            redact(
                json!({"pointer": "/text", "pattern": r"\d{3}-\d{4}"}),
                output.clone()
            )
            .unwrap()["text"],
            "call [redacted] or [redacted]"
        );
        assert_eq!(
            redact(json!({"pointer": "/list/1"}), output.clone()).unwrap()["list"],
            json!(["a", "[redacted]"])
        );
        assert_eq!(
            redact(json!({"pointer": ""}), json!("secret")).unwrap(),
            json!("[redacted]")
        );
        assert_eq!(
            redact(json!({"pointer": "/text", "pattern": "nothing"}), output.clone()).unwrap()["text"],
            "[redacted]",
            "a pattern that does not match fails closed"
        );
        assert_eq!(
            redact(
                json!({"pointer": "", "pattern": "555"}),
                json!("[redacted] or another")
            )
            .unwrap(),
            json!("[redacted] or another")
        );
    }

    #[test]
    fn a_redaction_that_cannot_be_carried_out_is_refused() {
        let check = |details: Value, part: &str| {
            let problem = redact(details, json!({"n": 1})).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        check(json!({}), "needs a pointer");
        check(json!({"pointer": "text"}), "RFC 6901");
        check(json!({"pointer": "/n"}), "no text");
        check(json!({"pointer": "/missing"}), "no text");
        check(json!({"pointer": "/n", "with": "x"}), "no detail");
        check(json!({"pointer": "/n", "pattern": "("}), "regular expression");
        check(
            json!({"pointer": "/n", "pattern": "(a{1000}){1000}"}),
            "when compiled",
        );
        check(json!({"pointer": "/n", "pattern": "a".repeat(2000)}), "at most");
        check(json!({"pointer": "/n", "pattern": 1}), "at most");
    }
}
