//! Regular expressions with the meaning of their dialect, for the engines that run them (D28).
//!
//! Conditions and rules mean RE2's, JSON Schemas ECMA-262's; what runs them is `regex` in the host and `regex-lite` in guests. All of
//! these read some texts differently (`\<`, `\s`, `[a&&b]`, `a{,2}`), so a pattern is read here, by the grammar of its dialect, and
//! written again in the few forms that both engines read alike. What a dialect does not have, or an engine cannot do, is refused.
//!
//! Whether a pattern is too large or nested too deep is for the engine to decide.

mod class;
mod ecma;
mod re2;
mod reader;

use reader::{Dialect, Reader};

/// What runs a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The crate `regex`, which knows the classes and cases of Unicode.
    Full,
    /// The crate `regex-lite`, which knows those of ASCII.
    Lite,
}

/// Writes a pattern of RE2 for an engine.
///
/// # Errors
/// With what is not in RE2, or not in the engine.
pub fn re2(pattern: &str, engine: Engine) -> Result<String, String> {
    translated(re2::Re2, pattern, engine)
}

/// Writes a pattern of ECMA-262, as JSON Schemas have them, for an engine: without flags, by code points.
///
/// # Errors
/// With what is not in ECMA-262, or not in the engine.
pub fn ecma(pattern: &str, engine: Engine) -> Result<String, String> {
    translated(ecma::Ecma, pattern, engine)
}

fn translated(dialect: impl Dialect, pattern: &str, engine: Engine) -> Result<String, String> {
    let mut reader = Reader::new(pattern, engine);
    while let Some(c) = reader.next() {
        match c {
            '\\' => {
                let item = dialect.escape(&mut reader, false)?;
                reader.item(item)?;
            }
            '[' => reader.class(&dialect)?,
            '(' => dialect.group(&mut reader)?,
            ')' => reader.close()?,
            '|' => reader.alternative(),
            '*' | '+' | '?' => reader.repeat(&c.to_string())?,
            '{' => match reader.count() {
                Some(count) => reader.repeat(count)?,
                None => dialect.brace(&mut reader)?,
            },
            '.' => reader.atom(dialect.any()),
            '^' | '$' => reader.atom(c.encode_utf8(&mut [0; 4])),
            c => reader.literal(c)?,
        }
    }
    reader.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_lite::Regex;
    use serde_json::Value;

    /// Cases that the host's engine runs too: a pattern, a text and whether it matches; nothing where the pattern is refused.
    fn check(cases: &str, dialect: fn(&str, Engine) -> Result<String, String>) {
        let cases: Vec<(String, String, Value)> = serde_json::from_str(cases).unwrap();
        for (pattern, text, wanted) in cases {
            let compiled = dialect(&pattern, Engine::Lite).and_then(|translated| {
                Regex::new(&translated).map_err(|error| format!("{translated}: {error}"))
            });
            match (wanted.as_bool(), compiled) {
                (Some(wanted), Ok(regex)) => {
                    assert_eq!(regex.is_match(&text), wanted, "{pattern} on {text:?}: {regex}");
                }
                (None, Err(_)) => {}
                // What only the full engine has.
                (Some(_), Err(error)) if pattern.contains("\\p") || pattern.contains("\\P") => {
                    assert!(error.contains("Unicode"), "{pattern}: {error}");
                }
                (wanted, compiled) => panic!("{pattern} on {text:?}: {wanted:?}, {compiled:?}"),
            }
        }
    }

    #[test]
    fn patterns_of_re2_mean_what_re2_means() {
        check(include_str!("../tests/re2.json"), re2);
    }

    #[test]
    fn patterns_of_json_schemas_mean_what_ecma_262_means() {
        check(include_str!("../tests/ecma.json"), ecma);
    }

    #[test]
    fn cases_beyond_ascii_are_refused_where_the_engine_does_not_know_them() {
        for pattern in [
            "(?i)é",
            "(?i)[à-ü]",
            "(?i:x\\x{3b1})",
            "(?i)[\\x{80}-\\x{10FFFF}]",
        ] {
            assert!(re2(pattern, Engine::Lite).is_err(), "{pattern}");
            assert!(re2(pattern, Engine::Full).is_ok(), "{pattern}");
        }
        for pattern in ["(?i)a(?-i)é", "(?i:a)é", "(?i)[\\x{2010}-\\x{2015}]", "(?i)漢"] {
            assert!(re2(pattern, Engine::Lite).is_ok(), "{pattern}");
        }
    }

    /// The engine's own folding leaves letters out where a range holds both cases.
    #[test]
    fn ranges_are_folded_as_a_whole() {
        let regex = Regex::new(&re2("(?i)^[5-g]$", Engine::Lite).unwrap()).unwrap();
        for text in ["z", "Z", "g", "h", "7", "\u{212a}", "\u{17f}"] {
            assert!(regex.is_match(text), "{text}");
        }
        let regex = Regex::new(&re2("(?i)^[^5-g]$", Engine::Lite).unwrap()).unwrap();
        for text in ["z", "\u{212a}"] {
            assert!(!regex.is_match(text), "{text}");
        }
    }

    #[test]
    #[allow(clippy::disallowed_methods, reason = "a test may read the clock")]
    fn hostile_patterns_are_read_in_linear_time() {
        for pattern in [
            "(".repeat(100_000),
            "[".repeat(100_000),
            "[[:".repeat(50_000),
            "\\W".repeat(50_000),
            "{".repeat(100_000),
            "a{1".repeat(50_000),
            "(?i".repeat(50_000),
        ] {
            let started = std::time::Instant::now();
            let _ = re2(&pattern, Engine::Lite);
            let _ = ecma(&pattern, Engine::Full);
            assert!(started.elapsed().as_secs() < 2, "{}", &pattern[..6]);
        }
    }
}
