//! Regular expressions of `matches`: RE2's, linear in time, bounded in size.

use super::error::{EvalError, EvalErrorKind};
use super::limits::Fuel;
use mizzen_rules::dialect::{self, Engine};
use regex::{Regex, RegexBuilder};

/// Longest text that a pattern is applied to, in bytes.
const HAYSTACK: usize = 64 * 1024;
/// Largest compiled program, and the lazy automaton's cache.
const PROGRAM: usize = 64 * 1024;
/// Programs up to this size cost what their text says; larger ones (counted repetitions) eight times that.
const SMALL_PROGRAM: usize = 8 * 1024;

/// Bytes that are looked at to replace what a pattern finds in one text.
const SCANNED: usize = 64 * 1024 * 1024;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// Fuel per ten bytes of text: by the length of the pattern, as CEL's cost model has it, and by its program's size.
    weight: u64,
}

impl Pattern {
    /// Compiles a pattern of RE2.
    ///
    /// # Errors
    /// What is wrong with it, or that its program is too large.
    pub fn compile(text: &str) -> Result<Self, String> {
        let translated = dialect::re2(text, Engine::Full)
            .map_err(|problem| format!("the pattern is no regular expression of RE2: {problem}"))?;
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

    /// The text with everything replaced that a match covers, those included that begin with a word inside of another: whoever asked
    /// may mean one that another hides. None where nothing matches.
    ///
    /// Every search may look at all that is left of the text, whatever the pattern finds first. A text in which that adds up to too
    /// much is replaced whole.
    pub fn replace(&self, text: &str, by: &str) -> Option<String> {
        let mut replaced = String::new();
        // What is copied already, and the end of the matches that hang together.
        let (mut copied, mut open): (usize, Option<(usize, usize)>) = (0, None);
        let (mut at, mut scanned) = (0, 0_usize);
        while let Some(found) = (at <= text.len()).then(|| self.regex.find_at(text, at)).flatten() {
            scanned = scanned.saturating_add(text.len().saturating_sub(at));
            if scanned > SCANNED.max(text.len()) {
                return Some(by.to_owned());
            }
            at = next_word(text, found.start(), found.end());
            open = match open {
                // An empty one right behind another is a part of it.
                Some((start, end)) if found.start() < end || found.end() == end => {
                    Some((start, end.max(found.end())))
                }
                Some((start, end)) => {
                    replaced.push_str(text.get(copied..start)?);
                    replaced.push_str(by);
                    copied = end;
                    Some((found.start(), found.end()))
                }
                None => Some((found.start(), found.end())),
            };
        }
        let (start, end) = open?;
        replaced.push_str(text.get(copied..start)?);
        replaced.push_str(by);
        replaced.push_str(text.get(end..)?);
        Some(replaced)
    }
}

/// Where the next word after `start` begins, or `end`, whichever comes first; at least one character on.
fn next_word(text: &str, start: usize, end: usize) -> usize {
    let mut characters = text.get(start..).unwrap_or_default().char_indices();
    let Some((_, mut before)) = characters.next() else {
        return text.len() + 1;
    };
    for (at, c) in characters {
        if start + at >= end || (c.is_alphanumeric() && !before.is_alphanumeric()) {
            return start + at;
        }
        before = c;
    }
    text.len()
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

    /// T2: the cases of RE2 that rules run too. Packs find with one engine and the host redacts with the other: they must agree.
    #[test]
    fn what_the_crate_reads_otherwise_means_what_re2_means() {
        let cases = include_str!("../../../sdk/rules/tests/re2.json");
        let cases: Vec<(String, String, Option<bool>)> = serde_json::from_str(cases).unwrap();
        for (pattern, text, wanted) in cases {
            match wanted {
                Some(wanted) => check(&pattern, &text, wanted),
                None => assert!(Pattern::compile(&pattern).is_err(), "{pattern}"),
            }
        }
        check("(?i)^É$", "é", true);
        check("(?i)^[à-ü]$", "É", true);
    }

    #[test]
    fn what_any_match_covers_is_replaced() {
        let check = |pattern: &str, text: &str, wanted: Option<&str>| {
            let replaced = Pattern::compile(pattern).unwrap().replace(text, "[x]");
            assert_eq!(replaced.as_deref(), wanted, "{pattern} in {text:?}");
        };
        let card = r"\b[2-6]\d{3}(?: \d{4}){3}\b";
        check(card, "no card", None);
        check(card, "4111 1111 1111 1111", Some("[x]"));
        check(
            card,
            "a 4111 1111 1111 1111 and 5500 0000 0000 0004.",
            Some("a [x] and [x]."),
        );
        check(card, "is 4567 4111 1111 1111 1111 it", Some("is [x] it"));
        check("é+", "aéé é", Some("a[x] [x]"));
        check("ab", "abab", Some("[x][x]"));
        check("x*", "ax", Some("[x]a[x]"));
        check("", "ab", Some("[x]a[x]b[x]"));
        check("a|", "", Some("[x]"));
    }

    #[test]
    fn a_pattern_that_looks_at_everything_again_and_again_takes_the_whole_text() {
        let pattern = Pattern::compile("(?:.*y|x)").unwrap();
        let text = "x".repeat(1 << 20);
        assert_eq!(pattern.replace(&text, "[x]").as_deref(), Some("[x]"));
        // One search of a longer text is allowed.
        let long = "a".repeat(SCANNED + 10);
        assert_eq!(Pattern::compile("b").unwrap().replace(&long, "[x]"), None);
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test may read the clock")]
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
