//! Regular expressions: compiled once, paid for by what they can cost.

mod first;

use super::{Failure, shortened};
use crate::budget::Meter;
use first::{Bytes, first_bytes};
use regex_lite::{Regex, RegexBuilder};
use std::sync::Arc;

/// A compiled regular expression and what it costs per byte of text.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Arc<Regex>,
    weight: u64,
    /// With what a match begins, where that is known.
    first: Option<Bytes>,
}

impl Pattern {
    /// Compiles with the smallest of three sizes that suffices: the size says what a byte of text can cost.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let mut last = String::new();
        for (size, weight) in [(2 * 1024, 4), (8 * 1024, 16), (32 * 1024, 64)] {
            match RegexBuilder::new(text).size_limit(size).build() {
                Ok(regex) => {
                    return Ok(Self {
                        regex: Arc::new(regex),
                        weight,
                        first: first_bytes(text),
                    });
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(format!(
            "{:?} is no regular expression that can be used: {last}",
            shortened(text)
        ))
    }

    pub(crate) fn is_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        meter.spend(
            u64::try_from(text.len())
                .unwrap_or(u64::MAX)
                .saturating_mul(self.weight),
        )?;
        Ok(self
            .begin(text)
            .is_some_and(|at| self.regex.is_match_at(text, at)))
    }

    /// Where a match can begin at the earliest; the search still sees what stands before it.
    fn begin(&self, text: &str) -> Option<usize> {
        match &self.first {
            None => Some(0),
            Some(first) => text.bytes().position(|byte| first.has(byte)),
        }
    }

    pub(crate) fn is_luhn_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        // Every match is looked at; matches do not overlap, so that is the price of one pass, and of another for the digits.
        meter.spend(
            u64::try_from(text.len())
                .unwrap_or(u64::MAX)
                .saturating_mul(self.weight + 1),
        )?;
        if self.begin(text).is_none() {
            return Ok(false);
        }
        Ok(self.regex.find_iter(text).any(|found| luhn(found.as_str())))
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
