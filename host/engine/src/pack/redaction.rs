//! Replacing a text of an input, an output or an error: a string, a number, or keys of an object.

use mizzen_condition::Pattern;
use mizzen_json::is_pointer;
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
    /// The pointer leads to no string, number or object of the output.
    #[error("there is no text at {0:?} to redact")]
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
        if !is_pointer(pointer) || pointer.len() > MAX_POINTER {
            return Err("its pointer is not an RFC 6901 pointer".to_owned());
        }
        let pattern = match details.get("pattern") {
            None => None,
            Some(Value::String(pattern)) => {
                Self::check_pattern(pattern)?;
                Some(pattern.clone())
            }
            Some(_) => return Err(Self::no_pattern()),
        };
        Ok(Self {
            pointer: pointer.clone(),
            pattern,
        })
    }

    fn no_pattern() -> String {
        format!("its pattern is not a text of at most {MAX_PATTERN} bytes")
    }

    /// Whether something can be redacted by this pattern.
    ///
    /// # Errors
    /// With what is wrong with it, in words.
    pub fn check_pattern(pattern: &str) -> Result<(), String> {
        if pattern.len() > MAX_PATTERN {
            return Err(Self::no_pattern());
        }
        Pattern::compile(pattern).map(drop)
    }

    /// Where the text is, an RFC 6901 pointer into the output.
    pub fn pointer(&self) -> &str {
        &self.pointer
    }

    /// What is replaced in it; all of it without one.
    pub fn pattern(&self) -> Option<&str> {
        self.pattern.as_deref()
    }

    /// Whether it is about keys: those must be redacted after everything that a pointer finds by them.
    pub fn is_about_keys(&self, output: &Value) -> bool {
        matches!(output.pointer(&self.pointer), Some(Value::Object(_)))
    }

    /// Replaces the text, and returns what stood there before.
    ///
    /// In a string what the pattern matches becomes `[redacted]`; a number that it matches becomes the string `[redacted]`; of an
    /// object the keys that it matches are redacted like strings, and of several that become the same the later ones are numbered.
    /// What the pattern does not match, or where there is none, becomes `[redacted]` whole: a pack that asks for a redaction has
    /// seen something there, and what it saw must not get past because two machines read a pattern differently.
    ///
    /// # Errors
    /// When the pointer leads to no text.
    pub fn apply(&self, output: &mut Value) -> Result<Vec<Replaced>, RedactionError> {
        let pattern = self
            .pattern
            .as_deref()
            .and_then(|pattern| Pattern::compile(pattern).ok());
        let replace = |text: &str| {
            pattern
                .as_ref()
                .and_then(|pattern| pattern.replace(text, REDACTED))
        };
        // Several decisions can ask for the same: what is gone already is not a reason to take the rest.
        let is_gone = |text: &str| self.pattern.is_some() && text.contains(REDACTED);
        let Some(target) = output.pointer_mut(&self.pointer) else {
            return Err(RedactionError::NoText(self.pointer.clone()));
        };
        let mut gone = Vec::new();
        match target {
            Value::String(text) => {
                let replaced = replace(text);
                if replaced.is_some() || !is_gone(text) {
                    let after = replaced.unwrap_or_else(|| REDACTED.to_owned());
                    let before = std::mem::replace(text, after.clone());
                    gone.push(Replaced { before, after });
                }
            }
            Value::Number(number) => {
                gone.push(Replaced {
                    before: number.to_string(),
                    after: REDACTED.to_owned(),
                });
                *target = REDACTED.into();
            }
            Value::Object(members) => {
                let mut kept = Map::new();
                for (key, value) in std::mem::take(members) {
                    let Some(after) = replace(&key) else {
                        kept.insert(key, value);
                        continue;
                    };
                    let mut name = after.clone();
                    let mut number = 2;
                    while kept.contains_key(&name) {
                        name = format!("{after} {number}");
                        number += 1;
                    }
                    gone.push(Replaced {
                        before: key,
                        after: name.clone(),
                    });
                    kept.insert(name, value);
                }
                let is_done = !gone.is_empty() || kept.keys().any(|key| is_gone(key));
                match is_done {
                    true => *members = kept,
                    false => *target = REDACTED.into(),
                }
            }
            Value::Null | Value::Bool(_) | Value::Array(_) => {
                return Err(RedactionError::NoText(self.pointer.clone()));
            }
        }
        Ok(gone)
    }
}

/// A text before and after a redaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// What must not be seen any more.
    pub before: String,
    /// What stands there.
    pub after: String,
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
    fn numbers_and_keys_are_redacted_too() {
        let digits = r"\d{3}-\d{2}-\d{4}";
        let card = json!({"card": 4_111_111_111_111_111_u64, "n": 1});
        let redacted = json!({"card": "[redacted]", "n": 1});
        for details in [
            json!({"pointer": "/card", "pattern": r"\d+"}),
            json!({"pointer": "/card"}),
        ] {
            assert_eq!(redact(details, card.clone()).unwrap(), redacted);
        }
        let people = json!({"123-45-6789": 1, "321-45-6789": 2, "the 123-45-6789": 3, "name": 4});
        assert_eq!(
            redact(json!({"pointer": "", "pattern": digits}), people).unwrap(),
            json!({"[redacted]": 1, "[redacted] 2": 2, "the [redacted]": 3, "name": 4})
        );
        let nested = json!({"in": {"a": 1}});
        assert_eq!(
            redact(json!({"pointer": "/in", "pattern": digits}), nested.clone()).unwrap(),
            json!({"in": "[redacted]"}),
            "a pattern that matches no key fails closed"
        );
        assert_eq!(
            redact(json!({"pointer": "/in"}), nested).unwrap(),
            json!({"in": "[redacted]"})
        );
        let done = json!({"[redacted]": 1});
        assert_eq!(
            redact(json!({"pointer": "", "pattern": digits}), done.clone()).unwrap(),
            done
        );
    }

    #[test]
    fn a_redaction_that_cannot_be_carried_out_is_refused() {
        let check = |details: Value, part: &str| {
            let problem = redact(details, json!({"n": true, "list": [1]})).unwrap_err();
            assert!(problem.contains(part), "{problem}");
        };
        check(json!({}), "needs a pointer");
        check(json!({"pointer": "text"}), "RFC 6901");
        check(json!({"pointer": "/m~n"}), "RFC 6901");
        check(json!({"pointer": "/n"}), "no text");
        check(json!({"pointer": "/list"}), "no text");
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
