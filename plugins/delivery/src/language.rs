//! The languages that code is written in.

use mizzen_sdk::prelude::*;

/// A language.
#[input]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    Typescript,
}

/// Words that one of the languages keeps for itself: a name that is none of them is a name in all.
const RESERVED: &[&str] = &[
    "abs",
    "and",
    "any",
    "as",
    "assert",
    "async",
    "await",
    "bool",
    "box",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "crate",
    "debugger",
    "def",
    "default",
    "del",
    "delete",
    "do",
    "dyn",
    "elif",
    "else",
    "enum",
    "except",
    "export",
    "extends",
    "f64",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "function",
    "gen",
    "global",
    "if",
    "impl",
    "import",
    "in",
    "instanceof",
    "interface",
    "is",
    "lambda",
    "let",
    "loop",
    "match",
    "max",
    "min",
    "mod",
    "move",
    "mut",
    "new",
    "nonlocal",
    "not",
    "null",
    "number",
    "or",
    "package",
    "pass",
    "priv",
    "private",
    "protected",
    "pub",
    "public",
    "raise",
    "ref",
    "return",
    "self",
    "static",
    "str",
    "string",
    "struct",
    "super",
    "switch",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "undefined",
    "unsafe",
    "use",
    "var",
    "virtual",
    "void",
    "where",
    "while",
    "with",
    "yield",
];

const LONGEST_NAME: usize = 40;

/// Whether a text can name a function or a parameter in every language.
pub fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    characters.next().is_some_and(|first| first.is_ascii_lowercase())
        && characters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && text.len() <= LONGEST_NAME
        && !RESERVED.contains(&text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_name_in_every_language() {
        for name in ["area", "a", "total_2"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(LONGEST_NAME + 1);
        for name in [
            "", "2nd", "Area", "lambda", "fn", "typeof", "min", "a-b", "é", &long,
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
