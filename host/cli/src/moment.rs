//! A time that a person names: RFC 3339, or so long ago.

use mizzen_model::timestamp::Timestamp;
use mizzen_ops::{Clock, SystemClock};
use std::str::FromStr;
use std::time::Duration;

/// A moment, in milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(i64);

impl Moment {
    /// Milliseconds since 1970.
    pub(crate) const fn unix_ms(self) -> i64 {
        self.0
    }

    fn parse(text: &str, now_ms: i64) -> Option<Self> {
        if let Ok(at) = Timestamp::parse(text) {
            return Some(Self(at.unix_ms()));
        }
        Some(Self(Age::parse(text)?.before(now_ms)))
    }
}

/// How long ago something is: 90s, 30m, 24h, 7d.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age(i64);

impl Age {
    /// Reads one.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let digits = text.find(|c: char| !c.is_ascii_digit())?;
        let (count, unit) = text.split_at_checked(digits)?;
        let seconds: i64 = match unit {
            "s" => 1,
            "m" => 60,
            "h" => 3_600,
            "d" => 86_400,
            _ => return None,
        };
        let count = count.parse::<i64>().ok()?;
        Some(Self(count.checked_mul(seconds)?.checked_mul(1_000)?))
    }

    /// The moment that is so long ago, in milliseconds since 1970.
    pub(crate) fn before(self, now_ms: i64) -> i64 {
        now_ms.saturating_sub(self.0).max(0)
    }

    /// The time in between.
    pub(crate) fn duration(self) -> Duration {
        Duration::from_millis(u64::try_from(self.0).unwrap_or(0))
    }
}

/// The text names no moment.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("write a time such as 2026-04-27T10:00:00Z, or how long ago it was: 90s, 30m, 24h, 7d")]
pub(crate) struct NotAMoment;

impl FromStr for Moment {
    type Err = NotAMoment;

    fn from_str(text: &str) -> Result<Self, NotAMoment> {
        Self::parse(text, SystemClock.now_ms()).ok_or(NotAMoment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_time_or_so_long_ago() {
        let check = |text: &str, expected: Option<i64>| {
            assert_eq!(
                Moment::parse(text, 1_000_000_000).map(Moment::unix_ms),
                expected,
                "{text}"
            );
        };
        check("1970-01-01T00:00:01Z", Some(1_000));
        check("90s", Some(999_910_000));
        check("2m", Some(999_880_000));
        check("1h", Some(996_400_000));
        check("1d", Some(913_600_000));
        check("99999999d", Some(0));
        for text in [
            "",
            "d",
            "1",
            "1w",
            "-1d",
            "1 d",
            "99999999999999999999d",
            "9223372036854775807d",
            "tomorrow",
        ] {
            check(text, None);
        }
    }
}
