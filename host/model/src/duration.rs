//! Durations as documents write them: `30s`, `5m`, `1h`, `250ms`. The IR writes ISO 8601 ([`crate::ir::IsoDuration`]).

use std::fmt;

/// The seed's pattern.
pub const DURATION_PATTERN: &str = r"^([1-9]\d*)(ms|s|m|h)$";
/// The longest duration, in characters. It is what bounds the value: eleven digits of hours are less than
/// 2^63 milliseconds, so no arithmetic on a parsed duration can overflow.
pub const DURATION_MAX: usize = 12;

/// The units of every length of time that people write for the host, in milliseconds, the shortest first.
pub(crate) const UNITS: [(&str, u64); 4] = [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)];

/// A text that is not a duration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "not a duration: expected a whole number from 1 and ms, s, m or h, such as 30s, 5m or 1h (at most 12 characters)"
)]
pub struct NotADuration;

/// A positive length of time. It keeps its spelling, so that a document comes back as it was sent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Duration {
    text: String,
    milliseconds: u64,
}

/// Splits a text that follows [`DURATION_PATTERN`] into its digits and the milliseconds of its unit.
fn split(text: &str) -> Option<(&str, u64)> {
    let digits_end = text.find(|character: char| !character.is_ascii_digit())?;
    let (digits, unit) = text.split_at_checked(digits_end)?;
    let (_, scale) = UNITS.into_iter().find(|(name, _)| *name == unit)?;
    if digits.is_empty() || digits.starts_with('0') {
        None
    } else {
        Some((digits, scale))
    }
}

/// Whether a text follows [`DURATION_PATTERN`]; the length is judged separately.
pub(crate) fn is_duration(text: &str) -> bool {
    split(text).is_some()
}

impl Duration {
    /// Reads a duration.
    ///
    /// # Errors
    /// [`NotADuration`] when the text does not follow the pattern or is longer than [`DURATION_MAX`].
    pub fn parse(text: &str) -> Result<Self, NotADuration> {
        if text.len() > DURATION_MAX {
            return Err(NotADuration);
        }
        let (digits, scale) = split(text).ok_or(NotADuration)?;
        let count: u64 = digits.parse().map_err(|_| NotADuration)?;
        let milliseconds = count.checked_mul(scale).ok_or(NotADuration)?;
        Ok(Self {
            text: text.to_owned(),
            milliseconds,
        })
    }

    /// The length in milliseconds; at least 1 and less than 2^63.
    pub fn milliseconds(&self) -> u64 {
        self.milliseconds
    }

    /// The spelling in the document.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_milliseconds() {
        for (text, expected) in [
            ("250ms", 250),
            ("30s", 30_000),
            ("5m", 300_000),
            ("1h", 3_600_000),
            ("99999999999h", 359_999_999_996_400_000),
        ] {
            assert_eq!(Duration::parse(text).unwrap().milliseconds(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_not_a_duration_is_refused() {
        for bad in [
            "",
            "s",
            "0s",
            "05s",
            "-1s",
            "1.5s",
            "1 s",
            "30",
            "30S",
            "1d",
            "1sm",
            "1s\n",
            "١s",
            "+1s",
            "999999999999h",
            "18446744073709551616ms",
        ] {
            assert_eq!(Duration::parse(bad), Err(NotADuration), "{bad:?}");
        }
    }
}
