//! Durations: ISO 8601 text or seconds in, ISO 8601 out.

use super::record::{Emit, Reader, SchemaBook, Value, Writer};
use mizzen_json::{Json, Node, View};
use std::fmt;

/// A signed duration to the microsecond, at most 999,999,999 days either way (what the wire format's other readers hold).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct IsoDuration {
    // Invariant: not negative when zero; seconds below a day; microseconds below a second.
    negative: bool,
    days: u32,
    seconds: u32,
    microseconds: u32,
}

/// Why a duration was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum IsoDurationError {
    /// Not one of the accepted forms.
    #[error("not a duration: write ISO 8601 such as PT1H30M, or a number of seconds")]
    Malformed,
    /// More than 999,999,999 days.
    #[error("the duration exceeds 999,999,999 days")]
    TooLarge,
}

const DAY: u64 = 86_400;
const MAX_DAYS: u64 = 999_999_999;

impl IsoDuration {
    /// Reads `PnYnMnWnDTnHnMnS` (a year is 365 days, a month 30; the last quantity may have a fraction), `HH:MM[:SS[.f]]`, or
    /// `n days[, HH:MM[:SS]]`, each with an optional sign.
    pub fn parse(text: &str) -> Result<Self, IsoDurationError> {
        let (negative, body) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..)),
            Some(b'+') => (false, text.get(1..)),
            _ => (false, Some(text)),
        };
        let body = body.ok_or(IsoDurationError::Malformed)?;
        let total = match body.strip_prefix('P') {
            Some(iso) => parse_iso(iso)?,
            None => parse_clock(body)?,
        };
        IsoDuration::normalised(negative, total)
    }

    /// From whole seconds.
    pub fn from_seconds(seconds: i64) -> Result<Self, IsoDurationError> {
        let total = Total {
            days: 0,
            seconds: seconds.unsigned_abs(),
            microseconds: 0,
        };
        IsoDuration::normalised(seconds < 0, total)
    }

    /// From seconds with a fraction, rounded to the microsecond.
    pub fn from_float_seconds(seconds: f64) -> Result<Self, IsoDurationError> {
        let size = seconds.abs();
        if !size.is_finite() || size >= (MAX_DAYS + 1) as f64 * DAY as f64 {
            return Err(IsoDurationError::TooLarge);
        }
        // Whole and fractional part apart: multiplying the whole would lose digits that the input had.
        let microseconds = (size.fract() * 1e6).round() as u64;
        let total = Total {
            days: 0,
            seconds: size.trunc() as u64,
            microseconds,
        };
        IsoDuration::normalised(seconds < 0.0, total)
    }

    /// Whether it is below zero.
    pub fn is_negative(self) -> bool {
        self.negative
    }

    /// The length in microseconds, with its sign.
    pub fn as_microseconds(self) -> i128 {
        let seconds = u64::from(self.days) * DAY + u64::from(self.seconds);
        let size = i128::from(seconds) * 1_000_000 + i128::from(self.microseconds);
        if self.negative { -size } else { size }
    }

    fn normalised(negative: bool, total: Total) -> Result<Self, IsoDurationError> {
        let seconds = total.seconds + total.microseconds / 1_000_000;
        let microseconds = (total.microseconds % 1_000_000) as u32;
        let days = total.days + seconds / DAY;
        let seconds = (seconds % DAY) as u32;
        let rest = seconds > 0 || microseconds > 0;
        // The range is not symmetric: a negative duration ends at exactly that many days.
        if days > MAX_DAYS || (negative && days == MAX_DAYS && rest) {
            return Err(IsoDurationError::TooLarge);
        }
        Ok(IsoDuration {
            negative: negative && (days > 0 || rest),
            days: days as u32,
            seconds,
            microseconds,
        })
    }
}

/// A length before it is normalised. Parts are bounded when they are added, so that nothing overflows later.
#[derive(Default)]
struct Total {
    days: u64,
    seconds: u64,
    microseconds: u64,
}

/// Digits as a number; the wire format's other readers hold 32 bits here.
fn number(digits: &str) -> Result<u64, IsoDurationError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(IsoDurationError::Malformed);
    }
    digits
        .parse::<u32>()
        .map(u64::from)
        .map_err(|_| IsoDurationError::TooLarge)
}

/// What follows the `P`.
fn parse_iso(mut rest: &str) -> Result<Total, IsoDurationError> {
    if rest.is_empty() || rest == "T" {
        return Err(IsoDurationError::Malformed);
    }
    let mut total = Total::default();
    let mut in_time = false;
    let mut had_fraction = false;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            if in_time {
                return Err(IsoDurationError::Malformed);
            }
            in_time = true;
            rest = time;
            continue;
        }
        let end = rest
            .find(|c: char| !c.is_ascii_digit())
            .ok_or(IsoDurationError::Malformed)?;
        let (digits, after) = rest.split_at(end);
        let value = number(digits)?;
        let (fraction, after) = split_fraction(after)?;
        // A fraction is allowed in the last quantity only.
        if had_fraction {
            return Err(IsoDurationError::Malformed);
        }
        had_fraction = fraction.is_some();
        let mut characters = after.chars();
        let unit = characters.next();
        rest = characters.as_str();
        let fraction = fraction.unwrap_or(0.0);
        if in_time {
            let scale = match unit {
                Some('H') => 3_600,
                Some('M') => 60,
                Some('S') => 1,
                _ => return Err(IsoDurationError::Malformed),
            };
            total.seconds += value * scale;
            add_seconds(&mut total, fraction * scale as f64);
        } else {
            let scale = match unit {
                Some('Y') => 365,
                Some('M') => 30,
                Some('W') => 7,
                Some('D') => 1,
                _ => return Err(IsoDurationError::Malformed),
            };
            total.days += value * scale;
            let days = fraction * scale as f64;
            total.days += days.trunc() as u64;
            add_seconds(&mut total, days.fract() * DAY as f64);
        }
        if total.days > u64::from(u32::MAX) || total.seconds > u64::from(u32::MAX) {
            return Err(IsoDurationError::TooLarge);
        }
    }
    Ok(total)
}

fn add_seconds(total: &mut Total, seconds: f64) {
    total.seconds += seconds.trunc() as u64;
    total.microseconds += (seconds.fract() * 1e6).round() as u64;
}

/// A fraction with point or comma, if one follows.
fn split_fraction(text: &str) -> Result<(Option<f64>, &str), IsoDurationError> {
    let Some(rest) = text.strip_prefix(['.', ',']) else {
        return Ok((None, text));
    };
    let end = rest
        .find(|c: char| !c.is_ascii_digit())
        .ok_or(IsoDurationError::Malformed)?;
    let (digits, after) = rest.split_at(end);
    let fraction = format!("0.{digits}")
        .parse::<f64>()
        .map_err(|_| IsoDurationError::Malformed)?;
    Ok((Some(fraction), after))
}

/// `HH:MM…`, or days with or without a time.
fn parse_clock(text: &str) -> Result<Total, IsoDurationError> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .ok_or(IsoDurationError::Malformed)?;
    let (digits, rest) = text.split_at(end);
    if rest.starts_with(':') {
        return parse_time(text);
    }
    let days = number(digits)?;
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let lower = rest.to_ascii_lowercase();
    let word = ["days", "day", "d"]
        .into_iter()
        .find(|word| lower.starts_with(word))
        .ok_or(IsoDurationError::Malformed)?;
    let rest = rest.get(word.len()..).unwrap_or_default();
    let rest = rest.strip_prefix(',').unwrap_or(rest);
    let rest = rest.strip_prefix(' ').unwrap_or(rest);
    let time = if rest.is_empty() {
        Total::default()
    } else {
        parse_time(rest)?
    };
    if time.seconds >= DAY {
        return Err(IsoDurationError::Malformed);
    }
    Ok(Total { days, ..time })
}

fn parse_time(text: &str) -> Result<Total, IsoDurationError> {
    // "1:00" could be minutes and seconds; the wire format's other readers refuse it too.
    if text.len() < "00:00".len() {
        return Err(IsoDurationError::Malformed);
    }
    let (hours, rest) = text.split_once(':').ok_or(IsoDurationError::Malformed)?;
    let hours = number(hours)?;
    if hours > MAX_DAYS {
        return Err(IsoDurationError::TooLarge);
    }
    let (minutes, seconds) = match rest.split_once(':') {
        Some((minutes, seconds)) => (minutes, Some(seconds)),
        None => (rest, None),
    };
    let minutes = two_digits(minutes)?;
    let (seconds, microseconds) = match seconds {
        None => (0, 0),
        Some(text) => match text.split_once(['.', ',']) {
            None => (two_digits(text)?, 0),
            Some((whole, fraction)) => (two_digits(whole)?, fraction_microseconds(fraction)?),
        },
    };
    Ok(Total {
        days: 0,
        seconds: hours * 3_600 + minutes * 60 + seconds,
        microseconds,
    })
}

fn two_digits(text: &str) -> Result<u64, IsoDurationError> {
    match number(text) {
        Ok(value) if text.len() == 2 && value < 60 => Ok(value),
        _ => Err(IsoDurationError::Malformed),
    }
}

fn fraction_microseconds(digits: &str) -> Result<u64, IsoDurationError> {
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(IsoDurationError::Malformed);
    }
    // Digits beyond the microsecond are dropped, as in the wire format's other readers.
    let six: String = digits.chars().chain("000000".chars()).take(6).collect();
    number(&six)
}

impl fmt::Display for IsoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.negative { "-P" } else { "P" })?;
        let mut part = |value: u32, unit: char| {
            if value > 0 {
                write!(f, "{value}{unit}")
            } else {
                Ok(())
            }
        };
        part(self.days / 365, 'Y')?;
        part(self.days % 365, 'D')?;
        if self.seconds == 0 && self.microseconds == 0 {
            return if self.days == 0 {
                f.write_str("T0S")
            } else {
                Ok(())
            };
        }
        f.write_str("T")?;
        let mut part = |value: u32, unit: char| {
            if value > 0 {
                write!(f, "{value}{unit}")
            } else {
                Ok(())
            }
        };
        part(self.seconds / 3_600, 'H')?;
        part(self.seconds / 60 % 60, 'M')?;
        let seconds = self.seconds % 60;
        if self.microseconds > 0 {
            let fraction = format!("{:06}", self.microseconds);
            write!(f, "{seconds}.{}S", fraction.trim_end_matches('0'))
        } else {
            part(seconds, 'S')
        }
    }
}

impl Emit for IsoDuration {
    fn emit(&self, out: &mut Writer) {
        out.string(&self.to_string());
    }
}

impl Value for IsoDuration {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let found = match node.view() {
            View::String(text) => IsoDuration::parse(text),
            View::Int(text) => match text.parse::<i64>() {
                Ok(seconds) => IsoDuration::from_seconds(seconds),
                Err(_) => Err(IsoDurationError::TooLarge),
            },
            View::Float(seconds) => IsoDuration::from_float_seconds(seconds),
            _ => {
                return reader.refuse(
                    node,
                    "time_delta_type",
                    "a duration (ISO 8601 text or seconds)",
                    "write ISO 8601 such as \"PT1H30M\", or a number of seconds",
                );
            }
        };
        match found {
            Ok(duration) => Some(duration),
            Err(error) => reader.refuse(
                node,
                "time_delta_parsing",
                "a duration (ISO 8601 text or seconds)",
                error.to_string(),
            ),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        super::record::duration_schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn durations_are_read_in_every_form_and_printed_as_iso_8601() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                IsoDuration::parse(text)
                    .ok()
                    .map(|duration| duration.to_string())
                    .as_deref(),
                expected,
                "{text:?}"
            );
        };
        check("PT1.5S", Some("PT1.5S"));
        check("P1Y2M3DT4H5M6S", Some("P1Y63DT4H5M6S"));
        check("P1W2D", Some("P9D"));
        check("-PT36H", Some("-P1DT12H"));
        check("+P1D", Some("P1D"));
        check("P1.5D", Some("P1DT12H"));
        check("PT1,5S", Some("PT1.5S"));
        check("PT1.1234567S", Some("PT1.123457S"));
        check("P1DT", Some("P1D"));
        check("PT0S", Some("PT0S"));
        check("-PT0S", Some("PT0S"));
        check("P999999999D", Some("P2739726Y9D"));
        check("-P999999999D", Some("-P2739726Y9D"));
        check("00:01:30", Some("PT1M30S"));
        check("100:00", Some("P4DT4H"));
        check("1:00:00", Some("PT1H"));
        check("12:34:56.789123", Some("PT12H34M56.789123S"));
        check("1 day, 01:00:00", Some("P1DT1H"));
        check("1d 01:00:00.5", Some("P1DT1H0.5S"));
        check("3 DAYS", Some("P3D"));
        for bad in [
            "",
            "P",
            "PT",
            "p1d",
            "1",
            "1.5",
            "90",
            "P1",
            "P-1D",
            "P1S",
            "PT1D",
            " P1D",
            "P1D ",
            "PT1H30",
            "PT.5S",
            "P1.5Y1D",
            "PTT1S",
            "1:00",
            "1:2:3",
            "00:60",
            "00:00:60",
            "01:00:00.",
            "1 day 24:00",
            "1 dayx",
            "-",
            "+",
            "--PT1H",
            "P1000000000D",
            "-P999999999DT1S",
            "PT4294967296S",
            "1000000000:00",
            "P٣D",
        ] {
            check(bad, None);
        }
    }

    #[test]
    fn seconds_are_rounded_to_the_microsecond() {
        let check = |seconds: f64, expected: &str| {
            assert_eq!(
                IsoDuration::from_float_seconds(seconds).unwrap().to_string(),
                expected,
                "{seconds}"
            );
        };
        check(1.5, "PT1.5S");
        check(-1.5, "-PT1.5S");
        check(1e-7, "PT0S");
        check(-0.0, "PT0S");
        check(2.5e-6, "PT0.000003S");
        check(59.9999999, "PT1M");
        check(1e9, "P31Y259DT1H46M40S");
        assert_eq!(
            IsoDuration::from_float_seconds(1e18),
            Err(IsoDurationError::TooLarge)
        );
        assert_eq!(
            IsoDuration::from_float_seconds(f64::NAN),
            Err(IsoDurationError::TooLarge)
        );
        assert_eq!(
            IsoDuration::from_seconds(i64::MIN),
            Err(IsoDurationError::TooLarge)
        );
        assert_eq!(
            IsoDuration::from_seconds(86_399_999_999_999).unwrap().to_string(),
            "P2739726Y9DT23H59M59S"
        );
    }

    proptest! {
        #[test]
        fn a_printed_duration_reads_back_as_itself(seconds in -86_399_999_913_600i64..86_399_999_999_999, micro in 0.0f64..1.0) {
            for duration in [IsoDuration::from_seconds(seconds), IsoDuration::from_float_seconds(seconds as f64 / 1e6 + micro)] {
                let duration = duration.unwrap();
                prop_assert_eq!(IsoDuration::parse(&duration.to_string()), Ok(duration));
            }
        }

        #[test]
        fn no_text_makes_the_reader_panic(text in "[-+PpTtYMWDHS0-9:., day]{0,24}") {
            let _ = IsoDuration::parse(&text);
        }
    }
}
