//! Regular expressions of `matches`: RE2's, linear in time, bounded in size.

use super::error::{EvalError, EvalErrorKind};
use super::limits::Fuel;
use regex::{Regex, RegexBuilder};

/// Longest text that a pattern is applied to, in bytes.
const HAYSTACK: usize = 64 * 1024;
/// Largest compiled program, and the lazy automaton's cache.
const PROGRAM: usize = 64 * 1024;
/// Programs up to this size cost what their text says; larger ones (counted repetitions) eight times that.
const SMALL_PROGRAM: usize = 8 * 1024;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Regex,
    /// Fuel per ten bytes of text: by the length of the pattern, as CEL's cost model has it, and by its program's size.
    weight: u64,
}

impl Pattern {
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let translated = ascii_classes(text);
        let build = |size| {
            RegexBuilder::new(&translated)
                .size_limit(size)
                .dfa_size_limit(PROGRAM)
                .nest_limit(32)
                .build()
        };
        let (regex, factor) = match build(SMALL_PROGRAM) {
            Ok(regex) => (regex, 1),
            Err(regex::Error::CompiledTooBig(_)) => match build(PROGRAM) {
                Ok(regex) => (regex, 8),
                Err(error) => return Err(refusal(&error)),
            },
            Err(error) => return Err(refusal(&error)),
        };
        let length = u64::try_from(text.len()).unwrap_or(u64::MAX);
        Ok(Self {
            regex,
            weight: factor * (length.div_ceil(4)).max(1),
        })
    }

    /// Whether the pattern occurs anywhere in the text.
    pub(crate) fn is_match(&self, text: &str, fuel: &mut Fuel) -> Result<bool, EvalError> {
        if text.len() > HAYSTACK {
            return Err(EvalError::new(
                EvalErrorKind::BadPattern,
                format!(
                    "matches() looks at {HAYSTACK} bytes of text at most, and this has {}",
                    text.len()
                ),
            ));
        }
        let tens = u64::try_from(text.len() / 10 + 1).unwrap_or(u64::MAX);
        fuel.spend(tens.saturating_mul(self.weight))?;
        Ok(self.regex.is_match(text))
    }

    /// The text with every match replaced; none where nothing matches. Linear in a text that the caller has bounded.
    pub(crate) fn replace(&self, text: &str, by: &str) -> Option<String> {
        match self.regex.replace_all(text, regex::NoExpand(by)) {
            std::borrow::Cow::Borrowed(_) => None,
            std::borrow::Cow::Owned(replaced) => Some(replaced),
        }
    }
}

fn refusal(error: &regex::Error) -> String {
    match error {
        regex::Error::CompiledTooBig(_) => {
            format!("the pattern needs more than {PROGRAM} bytes when compiled; repeat less")
        }
        // The crate draws the pattern over several lines; the last one says what is wrong.
        error => {
            let text = error.to_string();
            let reason = text
                .lines()
                .last()
                .unwrap_or_default()
                .trim()
                .trim_start_matches("error: ");
            format!("the pattern is no regular expression: {reason}")
        }
    }
}

/// CEL's patterns are RE2's, in which `\d`, `\w`, `\s` and `\b` mean ASCII; it also keeps the programs small.
fn ascii_classes(pattern: &str) -> String {
    let mut translated = String::with_capacity(pattern.len() + 16);
    let mut characters = pattern.chars();
    let mut in_class = false;
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('d') => translated.push_str("[0-9]"),
                Some('D') => translated.push_str("[^0-9]"),
                Some('w') => translated.push_str("[0-9A-Za-z_]"),
                Some('W') => translated.push_str("[^0-9A-Za-z_]"),
                Some('s') => translated.push_str("[\\t\\n\\f\\r ]"),
                Some('S') => translated.push_str("[^\\t\\n\\f\\r ]"),
                Some('b') if !in_class => translated.push_str("(?-u:\\b)"),
                Some(other) => translated.extend(['\\', other]),
                None => translated.push('\\'),
            },
            // In RE2 a bracket inside a class is a literal; the crate would read a nested class.
            '[' if in_class && !characters.as_str().starts_with(':') => translated.push_str("\\["),
            '[' if in_class => translated.push('['),
            '[' => {
                in_class = true;
                translated.push('[');
                if characters.as_str().starts_with('^') {
                    characters.next();
                    translated.push('^');
                }
                if characters.as_str().starts_with(']') {
                    characters.next();
                    translated.push_str("\\]");
                }
            }
            ':' if in_class && characters.as_str().starts_with(']') && translated.contains("[:") => {
                // The end of `[:alpha:]`, which does not end the class around it.
                characters.next();
                translated.push_str(":]");
            }
            ']' if in_class => {
                in_class = false;
                translated.push(']');
            }
            c => translated.push(c),
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, text: &str, wanted: bool) {
        let compiled = Pattern::compile(pattern).unwrap();
        assert_eq!(
            compiled.is_match(text, &mut Fuel::default()).unwrap(),
            wanted,
            "{pattern} on {text}"
        );
    }

    #[test]
    fn classes_mean_ascii_as_in_re2() {
        check(r"^\d+$", "123", true);
        check(r"^\d+$", "१२३", false);
        check(r"^[\w.-]+@[\w-]+\.com$", "a.b-c@d-e.com", true);
        check(r"^\w$", "é", false);
        check(r"\bfoo\b", "a foo b", true);
        check(r"^.$", "é", true);
        check(r"^[[:alpha:]]+$", "abc", true);
        check(r"^[]a]+$", "]a]", true);
        check(r"^[a[]+$", "[a", true);
        check("b", "abc", true);
    }

    #[test]
    fn giant_patterns_are_refused_quickly() {
        let started = std::time::Instant::now();
        for pattern in [
            "(a{1000}){1000}",
            r"\pL{500}",
            "((((a{99}){99}){99}){99})",
            &"(".repeat(2000),
            "a{4294967296}",
        ] {
            assert!(Pattern::compile(pattern).is_err(), "{pattern}");
        }
        assert!(started.elapsed().as_millis() < 500, "{:?}", started.elapsed());
    }
}
