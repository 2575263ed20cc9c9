//! Globs with one wildcard, `*`: any run of characters, also none, dots included.
//!
//! Matching is linear in pattern plus text: the pieces between the stars are found leftmost first, which is enough when
//! the only wildcard is `*`, and never needs to go back.

/// A pattern, taken apart once: what is before its first star, between its stars, and after its last one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Glob {
    text: Box<str>,
    /// Where the first and the last star stand; none when there is no star.
    stars: Option<(usize, usize)>,
}

impl Glob {
    pub(crate) fn new(text: &str) -> Self {
        let stars = text.find('*').zip(text.rfind('*'));
        Self {
            text: text.into(),
            stars,
        }
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it matches one text only.
    pub(crate) const fn is_literal(&self) -> bool {
        self.stars.is_none()
    }

    /// What every text that it matches begins and ends with; both are the whole text when there is no star.
    pub(crate) fn ends(&self) -> (&str, &str) {
        match self.stars {
            None => (&self.text, &self.text),
            Some((first, last)) => (
                self.text.get(..first).unwrap_or_default(),
                self.text.get(last + 1..).unwrap_or_default(),
            ),
        }
    }

    /// Whether it matches the whole of `text`.
    ///
    /// `text` may itself be a pattern: its stars are then ordinary characters which only a star of this one can take, so
    /// that a match means "everything that `text` matches, this matches too".
    pub(crate) fn matches(&self, text: &str) -> bool {
        let Some((first, last)) = self.stars else {
            return *self.text == *text;
        };
        // The ends decide nearly always. The last part goes first: hosts differ there, and it is the cheapest to refuse.
        let pattern = self.text.as_bytes();
        let (before, after) = (
            pattern.get(..first).unwrap_or_default(),
            pattern.get(last + 1..).unwrap_or_default(),
        );
        if !text.as_bytes().ends_with(after) || !text.as_bytes().starts_with(before) {
            return false;
        }
        // None when the ends would overlap, as in `ab*bc` and `abc`.
        let Some(mut left) = text.get(first..text.len() - after.len()) else {
            return false;
        };
        if first == last {
            return true;
        }
        let between = self.text.get(first + 1..last).unwrap_or_default();
        for piece in between.split('*').filter(|piece| !piece.is_empty()) {
            match left.split_once(piece) {
                Some((_, rest)) => left = rest,
                None => return false,
            }
        }
        true
    }

    /// Whether there is a text that both match.
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        intersect(&self.text, &other.text)
    }
}

impl std::fmt::Display for Glob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether there is a text that both patterns match. Quadratic, for load time; both patterns are bounded by the caller.
fn intersect(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    // reachable[j]: the part of `a` read so far and the first j bytes of `b` can stand for the same text.
    let mut reachable = vec![false; b.len() + 1];
    let step_over_stars = |row: &mut Vec<bool>, from: usize| {
        for j in from..b.len() {
            if row.get(j) == Some(&true)
                && b.get(j) == Some(&b'*')
                && let Some(next) = row.get_mut(j + 1)
            {
                *next = true;
            }
        }
    };
    if let Some(start) = reachable.first_mut() {
        *start = true;
    }
    step_over_stars(&mut reachable, 0);
    for &byte in a {
        let mut next = vec![false; b.len() + 1];
        let mut seen = false;
        for (j, &here) in reachable.iter().enumerate() {
            if byte == b'*' {
                // A star of `a` takes any number of bytes of `b`.
                seen |= here;
                if let Some(slot) = next.get_mut(j) {
                    *slot = seen;
                }
                continue;
            }
            if !here {
                continue;
            }
            match b.get(j) {
                // A star of `b` takes this byte and stays.
                Some(b'*') => {
                    if let Some(slot) = next.get_mut(j) {
                        *slot = true;
                    }
                }
                Some(&other) if other == byte => {
                    if let Some(slot) = next.get_mut(j + 1) {
                        *slot = true;
                    }
                }
                _ => {}
            }
        }
        step_over_stars(&mut next, 0);
        reachable = next;
    }
    reachable.last() == Some(&true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn matches(pattern: &str, text: &str) -> bool {
        Glob::new(pattern).matches(text)
    }

    #[test]
    fn a_star_takes_any_run_of_characters() {
        for (pattern, text, expected) in [
            ("a", "a", true),
            ("a", "b", false),
            ("*", "", true),
            ("*", "anything.at.all", true),
            ("a*", "a", true),
            ("*a", "a", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*.example.com", "api.example.com", true),
            ("*.example.com", "a.b.example.com", true),
            ("*.example.com", "example.com", false),
            ("*.example.com", "evil-example.com", false),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXcYb", false),
            ("**", "x", true),
            ("a**b", "ab", true),
            ("*a*", "bab", true),
            ("*a*", "bbb", false),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(matches(pattern, text), expected, "{pattern} {text}");
        }
    }

    /// The textbook definition, exponential but obviously right.
    fn slow(pattern: &[u8], text: &[u8]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| slow(rest, &text[skip..])),
            Some((byte, rest)) => text
                .split_first()
                .is_some_and(|(head, tail)| head == byte && slow(rest, tail)),
        }
    }

    proptest! {
        #[test]
        fn matching_agrees_with_the_definition(pattern in "[ab*]{0,8}", text in "[ab]{0,10}") {
            prop_assert_eq!(matches(&pattern, &text), slow(pattern.as_bytes(), text.as_bytes()));
        }

        #[test]
        fn a_pattern_that_covers_another_matches_whatever_the_other_matches(
            wide in "[ab*]{0,6}", narrow in "[ab*]{0,6}", text in "[ab]{0,8}"
        ) {
            if matches(&wide, &narrow) && matches(&narrow, &text) {
                prop_assert!(matches(&wide, &text));
            }
        }

        #[test]
        fn patterns_that_share_a_text_intersect(a in "[ab*]{0,6}", b in "[ab*]{0,6}", text in "[ab]{0,8}") {
            if matches(&a, &text) && matches(&b, &text) {
                prop_assert!(intersect(&a, &b));
            }
            prop_assert_eq!(intersect(&a, &b), intersect(&b, &a));
        }

        #[test]
        fn a_pattern_and_a_plain_text_intersect_exactly_when_they_match(a in "[ab*]{0,8}", text in "[ab]{0,8}") {
            prop_assert_eq!(intersect(&a, &text), matches(&a, &text));
        }
    }

    #[test]
    fn many_stars_do_not_blow_up() {
        let pattern = "*a".repeat(100) + "b";
        let text = "a".repeat(100_000);
        assert!(!matches(&pattern, &text));
    }
}
