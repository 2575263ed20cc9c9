//! `text.word_count`.

use mizzen_sdk::prelude::*;

/// The text to measure.
#[input]
pub struct Text {
    /// Any text.
    text: String,
}

/// How much there is of it.
#[output]
#[derive(Debug, PartialEq, Eq)]
pub struct Counts {
    /// Runs of characters between white space.
    words: usize,
    /// Lines; a final line break does not begin another one.
    lines: usize,
    /// Unicode scalar values.
    characters: usize,
    /// Bytes of UTF-8.
    bytes: usize,
}

/// Counts the words, lines, characters and bytes of a text.
#[tool(
    side_effects = "none",
    tags = ["count", "length", "words"],
    example(
        name = "counts a sentence",
        input = { "text": "the quick brown fox" },
        output = { "words": 4, "lines": 1, "characters": 19, "bytes": 19 }
    ),
    example(
        name = "counts characters, not bytes",
        input = { "text": "naïve café\n" },
        output = { "words": 2, "lines": 1, "characters": 11, "bytes": 13 }
    ),
    example(name = "an empty text has nothing", input = { "text": "" }, output = { "words": 0, "lines": 0, "characters": 0, "bytes": 0 })
)]
pub fn word_count(input: Text) -> Counts {
    Counts {
        words: input.text.split_whitespace().count(),
        lines: input.text.lines().count(),
        characters: input.text.chars().count(),
        bytes: input.text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unicode_white_space_separates_words() {
        let counts = word_count(Text {
            text: "a\u{2003}b\u{a0}c".to_owned(),
        });
        assert_eq!(counts.words, 3);
    }
}
