//! Points in time as documents write them: RFC 3339.

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use std::fmt;

const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// RFC 3339 as a regular expression, days of months and leap years included, so that the JSON Schema refuses
/// what the types refuse. A leap second is only possible at 23:59:60 UTC.
pub const TIMESTAMP_PATTERN: &str = concat!(
    "^(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
    "|02-(?:0[1-9]|1[0-9]|2[0-8]))|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)",
    "[Tt](?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])",
    "|23:59:60(?:\\.[0-9]+)?[Zz])$"
);
/// The longest timestamp, in characters: nanoseconds and an offset fit with room to spare.
pub const TIMESTAMP_MAX: usize = 64;

/// A text that is not a timestamp.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a timestamp: expected RFC 3339 with an offset, such as 2026-04-27T10:00:00Z")]
pub struct NotATimestamp;

/// A point in time. It keeps its spelling: `metadata.updated` is part of a sprite's fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Timestamp {
    text: String,
    unix_ms: i64,
}

impl Timestamp {
    /// Reads an RFC 3339 timestamp.
    ///
    /// # Errors
    /// [`NotATimestamp`] for any other text.
    pub fn parse(text: &str) -> Result<Self, NotATimestamp> {
        if text.len() > TIMESTAMP_MAX {
            return Err(NotATimestamp);
        }
        let unix_ms = read(text).ok_or(NotATimestamp)?;
        Ok(Self {
            text: text.to_owned(),
            unix_ms,
        })
    }

    /// The timestamp of a clock reading, in UTC; milliseconds are written only when there are any. Readings
    /// outside of the years 1970 to 9999 are moved to the nearest end.
    pub fn from_unix_ms(unix_ms: u64) -> Self {
        const LAST: u64 = 253_402_300_799_999;
        let unix_ms = unix_ms.min(LAST);
        let at = EPOCH.saturating_add(SignedDuration::from_millis(unix_ms as i64));
        let mut text = format!(
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}",
            at.year(),
            at.month(),
            at.day(),
            at.hour(),
            at.minute(),
            at.second()
        );
        if at.millisecond() > 0 {
            text.push_str(&format!(".{:03}", at.millisecond()));
        }
        text.push('Z');
        Self {
            text,
            unix_ms: unix_ms as i64,
        }
    }

    /// The spelling in the document.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Milliseconds since 1970, rounded down; a leap second counts as the second after it.
    pub fn unix_ms(&self) -> i64 {
        self.unix_ms
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a text is an RFC 3339 timestamp; the length is judged separately.
pub(crate) fn is_timestamp(text: &str) -> bool {
    read(text).is_some()
}

fn read(text: &str) -> Option<i64> {
    let mut rest = Cursor(text.as_bytes());
    let year = rest.digits(4)?;
    rest.one_of(b"-")?;
    let month = rest.digits(2)?;
    rest.one_of(b"-")?;
    let day = rest.digits(2)?;
    rest.one_of(b"Tt")?;
    let hour = rest.digits(2)?;
    rest.one_of(b":")?;
    let minute = rest.digits(2)?;
    rest.one_of(b":")?;
    let second = rest.digits(2)?;
    let millis = rest.fraction()?;
    let zone = rest.one_of(b"Zz+-")?;
    let offset_minutes = match zone {
        b'Z' | b'z' => 0,
        sign => {
            let hours = rest.digits(2)?;
            rest.one_of(b":")?;
            let minutes = rest.digits(2)?;
            if hours > 23 || minutes > 59 {
                return None;
            }
            let offset = hours * 60 + minutes;
            if sign == b'-' { -offset } else { offset }
        }
    };
    let leap_second = second == 60 && hour == 23 && minute == 59 && matches!(zone, b'Z' | b'z');
    let (year, month, day) = (i16::try_from(year), i8::try_from(month), i8::try_from(day));
    let date = Date::new(year.ok()?, month.ok()?, day.ok()?).ok()?;
    let valid = rest.0.is_empty() && hour <= 23 && minute <= 59 && (second <= 59 || leap_second);
    if !valid {
        return None;
    }
    // By hand, because a leap second is no time of `jiff`.
    let seconds = date.duration_since(EPOCH.date()).as_secs() + hour * 3600 + minute * 60 + second;
    Some((seconds - offset_minutes * 60) * 1000 + millis)
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn digits(&mut self, count: usize) -> Option<i64> {
        let (head, tail) = self.0.split_at_checked(count)?;
        if !head.iter().all(u8::is_ascii_digit) {
            return None;
        }
        self.0 = tail;
        Some(
            head.iter()
                .fold(0, |value, digit| value * 10 + i64::from(digit - b'0')),
        )
    }

    fn one_of(&mut self, allowed: &[u8]) -> Option<u8> {
        let (&first, tail) = self.0.split_first()?;
        if !allowed.contains(&first) {
            return None;
        }
        self.0 = tail;
        Some(first)
    }

    /// The milliseconds of an optional fraction; digits after the third are cut.
    fn fraction(&mut self) -> Option<i64> {
        if self.one_of(b".").is_none() {
            return Some(0);
        }
        let count = self.0.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, tail) = self.0.split_at_checked(count)?;
        if digits.is_empty() {
            return None;
        }
        self.0 = tail;
        let padded = digits.iter().copied().chain([b'0', b'0']).take(3);
        Some(padded.fold(0, |value, digit| value * 10 + i64::from(digit - b'0')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_to_the_millisecond() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", 0),
            ("2026-04-27T10:00:00Z", 1_777_284_000_000),
            ("2026-04-27t10:00:00z", 1_777_284_000_000),
            ("2026-04-27T12:00:00.5+02:00", 1_777_284_000_500),
            ("2026-04-27T12:00:00.123456789+02:00", 1_777_284_000_123),
            ("2024-02-29T00:00:00Z", 1_709_164_800_000),
            ("2000-02-29T00:00:00-00:00", 951_782_400_000),
            ("2016-12-31T23:59:60Z", 1_483_228_800_000),
        ] {
            assert_eq!(
                Timestamp::parse(text).map(|t| t.unix_ms()),
                Ok(expected),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_rfc_3339_is_refused() {
        for bad in [
            "",
            "2026-04-27",
            "2026-04-27T10:00:00",
            "2026-04-27 10:00:00Z",
            "2026-13-01T00:00:00Z",
            "2026-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "2026-04-31T00:00:00Z",
            "2026-04-27T24:00:00Z",
            "2026-04-27T10:60:00Z",
            "2026-04-27T10:00:60Z",
            "2026-04-27T10:00:00.Z",
            "2026-04-27T10:00:00+24:00",
            "2026-04-27T10:00:00+0200",
            "26-04-27T10:00:00Z",
            "2026-04-27T10:00:00Z\n",
            "2026-00-10T10:00:00Z",
            "2026-04-00T10:00:00Z",
            "２026-04-27T10:00:00Z",
        ] {
            assert_eq!(Timestamp::parse(bad), Err(NotATimestamp), "{bad:?}");
        }
    }

    #[test]
    fn a_clock_reading_is_written_and_read_back() {
        assert_eq!(
            Timestamp::from_unix_ms(1_777_284_000_000).as_str(),
            "2026-04-27T10:00:00Z"
        );
        for unix_ms in [0, 1, 951_782_400_000, 1_709_164_799_999, 253_402_300_799_999] {
            let text = Timestamp::from_unix_ms(unix_ms);
            assert_eq!(
                Timestamp::parse(text.as_str()).unwrap().unix_ms(),
                unix_ms as i64,
                "{text}"
            );
        }
        assert_eq!(
            Timestamp::from_unix_ms(u64::MAX).as_str(),
            "9999-12-31T23:59:59.999Z"
        );
    }
}
