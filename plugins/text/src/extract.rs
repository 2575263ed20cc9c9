//! `text.extract`.

use mizzen_sdk::prelude::*;
use regex_lite::RegexBuilder;
use std::collections::BTreeMap;

/// The compiled program of a pattern; `(a{100}){100}` would otherwise need more memory than a call has.
const PATTERN_SIZE: usize = 256 * 1024;
const MOST_MATCHES: u32 = 10_000;

/// Where to look and what for.
#[input]
pub struct Extract {
    /// The text to look in.
    text: String,
    /// A regular expression without look-around and back-references; it runs in linear time.
    pattern: String,
    /// Whether `a` also matches `A`.
    #[serde(default)]
    ignore_case: bool,
    /// How many matches to return at most, up to 10,000.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 10_000))]
    limit: u32,
}

fn default_limit() -> u32 {
    100
}

/// What was found.
#[output]
#[derive(Debug)]
pub struct Extracted {
    /// The matches, from the left, without overlap.
    matches: Vec<Match>,
    /// Whether there are more than the limit.
    more: bool,
}

/// One match.
#[output]
#[derive(Debug)]
pub struct Match {
    /// The text that matched.
    text: String,
    /// The character where it begins, counted from 0.
    start: usize,
    /// The character after its end.
    end: usize,
    /// What each group matched, by number (from 1) and by name; absent groups are left out.
    groups: BTreeMap<String, String>,
}

/// Extracts every match of a regular expression from a text, with its groups and position.
#[tool(
    side_effects = "none",
    tags = ["regex", "search"],
    example(
        name = "finds named groups",
        input = { "text": "ada@example.com, bob@test.org", "pattern": "(?P<user>[a-z]+)@([a-z.]+)" },
        output = { "matches": [
            { "text": "ada@example.com", "start": 0, "end": 15, "groups": { "1": "ada", "2": "example.com", "user": "ada" } },
            { "text": "bob@test.org", "start": 17, "end": 29, "groups": { "1": "bob", "2": "test.org", "user": "bob" } }
        ], "more": false }
    ),
    example(
        name = "stops at the limit and says so",
        input = { "text": "1 2 3", "pattern": "[0-9]", "limit": 2 },
        output = { "matches": [
            { "text": "1", "start": 0, "end": 1, "groups": {} },
            { "text": "2", "start": 2, "end": 3, "groups": {} }
        ], "more": true }
    ),
    example(
        name = "counts positions in characters",
        input = { "text": "Zoë ran", "pattern": "RAN", "ignore_case": true },
        output = { "matches": [{ "text": "ran", "start": 4, "end": 7, "groups": {} }], "more": false }
    )
)]
pub fn extract(input: Extract) -> Result<Extracted, ToolError> {
    if input.limit == 0 || input.limit > MOST_MATCHES {
        return Err(ToolError::invalid_input(
            "/limit",
            format!("expected 1 to {MOST_MATCHES}, found {}", input.limit),
        ));
    }
    let regex = RegexBuilder::new(&input.pattern)
        .case_insensitive(input.ignore_case)
        .size_limit(PATTERN_SIZE)
        .build()
        .map_err(|error| ToolError::invalid_input("/pattern", error.to_string()))?;
    let names: Vec<Option<&str>> = regex.capture_names().collect();
    let mut found = regex.captures_iter(&input.text);
    let mut positions = Positions {
        text: &input.text,
        byte: 0,
        character: 0,
    };
    let mut matches = Vec::new();
    let mut more = false;
    for captures in &mut found {
        if matches.len() >= usize::try_from(input.limit).unwrap_or(usize::MAX) {
            more = true;
            break;
        }
        let Some(whole) = captures.get(0) else { continue };
        let mut groups = BTreeMap::new();
        for (index, name) in names.iter().enumerate().skip(1) {
            if let Some(group) = captures.get(index) {
                groups.insert(index.to_string(), group.as_str().to_owned());
                if let Some(name) = name {
                    groups.insert((*name).to_owned(), group.as_str().to_owned());
                }
            }
        }
        matches.push(Match {
            text: whole.as_str().to_owned(),
            start: positions.at(whole.start()),
            end: positions.at(whole.end()),
            groups,
        });
    }
    Ok(Extracted { matches, more })
}

/// Turns byte offsets that only grow into character offsets, reading the text once.
struct Positions<'a> {
    text: &'a str,
    byte: usize,
    character: usize,
}

impl Positions<'_> {
    fn at(&mut self, byte: usize) -> usize {
        if let Some(between) = self.text.get(self.byte..byte) {
            self.character += between.chars().count();
            self.byte = byte;
        }
        self.character
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, pattern: &str) -> Result<Extracted, ToolError> {
        extract(Extract {
            text: text.to_owned(),
            pattern: pattern.to_owned(),
            ignore_case: false,
            limit: 10,
        })
    }

    #[test]
    fn a_pattern_that_does_not_parse_names_its_field() {
        for pattern in ["(", "a{2,1}", "(?P<>a)", "\\1", "((((a{100}){100}){100}){100})"] {
            let error = run("a", pattern).unwrap_err();
            assert!(
                matches!(&error, ToolError::InvalidInput { path, .. } if path == "/pattern"),
                "{pattern}: {error}"
            );
        }
    }

    #[test]
    fn the_pattern_that_kills_backtracking_engines_ends() {
        let found = run(&"a".repeat(2_000), "(a*)*b").unwrap();
        assert!(found.matches.is_empty());
    }

    #[test]
    fn an_empty_match_moves_on() {
        let found = run("ab", "x*").unwrap();
        assert_eq!(
            found.matches.iter().map(|m| (m.start, m.end)).collect::<Vec<_>>(),
            [(0, 0), (1, 1), (2, 2)]
        );
    }

    #[test]
    fn a_limit_out_of_range_is_refused() {
        for limit in [0, MOST_MATCHES + 1] {
            let input = Extract {
                text: String::new(),
                pattern: "a".to_owned(),
                ignore_case: false,
                limit,
            };
            assert!(extract(input).is_err(), "{limit}");
        }
    }
}
