//! Regular expressions: compiled once, paid for by what they can cost.

mod shape;

use super::{Failure, shortened};
use crate::budget::{Exhausted, Meter};
use crate::dialect::{self, Engine};
use crate::error::RuleError;
use crate::reader::Span;
use regex_lite::{Regex, RegexBuilder};
use shape::Shape;
use std::sync::Arc;

/// A compiled regular expression and what it costs per byte of text.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Arc<Regex>,
    weight: u64,
    /// As large as its program may be.
    bytes: usize,
    /// With what a match begins and how long it can be, where that is known.
    shape: Option<Arc<Shape>>,
}

/// The same text means the same, and so do different ones that are written alike for the engine.
impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.regex.as_str() == other.regex.as_str()
    }
}

/// The largest program that a regular expression may become, in bytes.
const LARGEST: usize = 32 * 1024;
/// What it costs to begin a search.
const BEGIN: usize = 16;

/// Why a text cannot be used as a regular expression.
#[derive(Debug)]
pub(crate) enum Unusable {
    /// It is none.
    Wrong(String),
    /// It is too large or nested too deep.
    Large(String),
}

impl Unusable {
    /// As a mistake of a rule file.
    pub(crate) fn in_a_rule(self, span: Span) -> RuleError {
        match self {
            Self::Wrong(message) => {
                RuleError::refused(span, message).hint("a backslash is written twice in a string: \"\\\\d+\"")
            }
            Self::Large(message) => RuleError::budget(span, message).hint("repeat and nest less"),
        }
    }
}

impl From<Unusable> for Failure {
    fn from(unusable: Unusable) -> Self {
        match unusable {
            Unusable::Wrong(message) => Self::Error(message),
            Unusable::Large(_) => Self::Exhausted(Exhausted::Pattern(LARGEST)),
        }
    }
}

impl Pattern {
    /// Compiles a pattern of RE2 (D28) with the smallest of three sizes that suffices: the size says what a byte of text can cost.
    pub(crate) fn compile(text: &str) -> Result<Self, Unusable> {
        // Longer than its program may be: nothing has to be read to know that it is too large.
        if text.len() > LARGEST {
            return Err(Unusable::Large(format!(
                "the regular expression {:?} is longer than the budget of {LARGEST} bytes",
                shortened(text)
            )));
        }
        let translated = dialect::re2(text, Engine::Lite).map_err(|problem| {
            Unusable::Wrong(format!(
                "{:?} is no regular expression of RE2: {problem}",
                shortened(text)
            ))
        })?;
        let mut last = String::new();
        for (size, weight) in [(2 * 1024, 4), (8 * 1024, 16), (LARGEST, 64)] {
            match RegexBuilder::new(&translated).size_limit(size).build() {
                Ok(regex) => {
                    return Ok(Self {
                        regex: Arc::new(regex),
                        weight,
                        bytes: size,
                        shape: Shape::of(&translated).map(Arc::new),
                    });
                }
                Err(error) => last = error.to_string(),
            }
        }
        // The crate has no kinds of errors, only these words; a test holds them.
        let is_large = last.contains("size limit") || last.contains("too much nesting");
        let text = shortened(text);
        Err(match is_large {
            true => Unusable::Large(format!(
                "the regular expression {text:?} needs more than the budget of {LARGEST} bytes, or is nested too deep: {last}"
            )),
            false => Unusable::Wrong(format!("{text:?} is no regular expression: {last}")),
        })
    }

    /// What it takes in memory, at most.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn is_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        let Some(at) = self.begin(text, 0, meter)? else {
            return Ok(false);
        };
        self.pay(text.len().saturating_sub(at), meter)?;
        Ok(self.regex.is_match_at(text, at))
    }

    /// Where from `at` on a match can begin at the earliest; the search still sees what stands before it. Looking for that is cheap.
    fn begin(&self, text: &str, at: usize, meter: &mut Meter) -> Result<Option<usize>, Failure> {
        let Some(shape) = &self.shape else {
            return Ok((at <= text.len()).then_some(at));
        };
        let found = shape.begin(text, at);
        let seen = found.unwrap_or(text.len()).saturating_sub(at);
        meter.spend(u64::try_from(seen / 4).unwrap_or(u64::MAX))?;
        Ok(found)
    }

    /// The price of searching that many bytes.
    fn pay(&self, bytes: usize, meter: &mut Meter) -> Result<(), Failure> {
        let bytes = u64::try_from(bytes.saturating_add(BEGIN)).unwrap_or(u64::MAX);
        Ok(meter.spend(bytes.saturating_mul(self.weight))?)
    }

    /// Whether the digits of any match end in the right check digit, wherever it begins: numbers stand beside each other, and
    /// the one that is meant may begin or end inside of the first match.
    pub(crate) fn is_luhn_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        let mut from = 0;
        let mut is_first = true;
        while let Some(at) = self.begin(text, from, meter)? {
            // The first search pays for one pass over the text. What a later one sees again is as long as a match, or all that is left.
            let left = text.len().saturating_sub(at);
            let longest = self.shape.as_ref().and_then(|shape| shape.longest);
            let again = longest.map_or(left, |longest| longest.min(left));
            self.pay(if is_first { left } else { again }, meter)?;
            is_first = false;
            let Some(found) = self.regex.find_at(text, at) else {
                return Ok(false);
            };
            if self.is_luhn_within(found.as_str(), meter)? {
                return Ok(true);
            }
            let mut rest = text.get(found.start()..).unwrap_or_default().chars();
            from = found.start() + rest.next().map_or(1, char::len_utf8);
        }
        Ok(false)
    }

    /// Whether a match has the right check digit, or the beginning of it up to the end of one of its groups, where that is a
    /// match too: an expiry date may stand behind a card.
    fn is_luhn_within(&self, found: &str, meter: &mut Meter) -> Result<bool, Failure> {
        meter.spend_bytes(found.len())?;
        // Which digits count double depends on how many follow: both sums are kept.
        let mut sums = [0_u64; 2];
        let mut count = 0_usize;
        let mut bytes = found.bytes().enumerate().peekable();
        while let Some((at, byte)) = bytes.next() {
            if !byte.is_ascii_digit() {
                continue;
            }
            let digit = u64::from(byte - b'0');
            let double = if digit > 4 { digit * 2 - 9 } else { digit * 2 };
            for (parity, sum) in sums.iter_mut().enumerate() {
                *sum += if count % 2 == parity { digit } else { double };
            }
            count += 1;
            let ends = bytes.peek().is_none_or(|(_, next)| !next.is_ascii_digit());
            // The last digit counts once.
            let sum = sums.get((count + 1) % 2).copied().unwrap_or(1);
            if !ends || count < 2 || !sum.is_multiple_of(10) {
                continue;
            }
            let part = found.get(..=at).unwrap_or(found);
            if bytes.peek().is_none() {
                return Ok(true);
            }
            self.pay(part.len(), meter)?;
            let again = self.regex.find(part);
            if again.is_some_and(|again| again.range() == (0..part.len())) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The check digit of ISO/IEC 7812: from the right, every second digit counts double. What is not a digit is not looked at.
pub(super) fn luhn(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit);
    let mut count = 0_u64;
    let mut sum = 0_u64;
    for digit in digits {
        let value = u64::from(digit - b'0') * if count % 2 == 1 { 2 } else { 1 };
        sum += if value > 9 { value - 9 } else { value };
        count += 1;
    }
    count > 1 && sum.is_multiple_of(10)
}
