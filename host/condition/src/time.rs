//! Timestamps and durations: read from texts, compared, added and taken apart. There is no clock here: a time is a value of the
//! document, so a decision stays reproducible from the journal.

use super::ast::Binary;
use super::error::{EvalError, EvalErrorKind};
use super::eval::{Evaluated, no_overload};
use super::function::Function;
use super::value::Value;
use jiff::SignedDuration;
use jiff::civil::DateTime;
use mizzen_model::timestamp::Timestamp;

const SECOND: i128 = 1_000_000_000;
const MINUTE: i128 = 60 * SECOND;
const HOUR: i128 = 60 * MINUTE;

/// The first and the last moment that a timestamp can be: the years 1 to 9999.
const FIRST: i128 = -62_135_596_800 * SECOND;
const LAST: i128 = 253_402_300_800 * SECOND - 1;

/// Units of a duration's text, the longer spelling of two that begin alike first.
const UNITS: [(&str, i128); 6] = [
    ("ns", 1),
    ("us", 1_000),
    ("ms", 1_000_000),
    ("s", SECOND),
    ("m", MINUTE),
    ("h", HOUR),
];

/// `timestamp(text)`: RFC 3339, to the nanosecond.
pub(crate) fn timestamp<'a>(value: &Value<'a>) -> Evaluated<'a> {
    if let Value::Timestamp(_) = value {
        return Ok(value.clone());
    }
    let text = value
        .as_text()
        .ok_or_else(|| no_overload("timestamp", &[value]))?;
    read_timestamp(text)
        .filter(|nanos| (FIRST..=LAST).contains(nanos))
        .map(Value::Timestamp)
        .ok_or_else(|| {
            EvalError::new(
                EvalErrorKind::BadConversion,
                format!("{value} is no timestamp; write one as in 2026-04-27T10:00:00Z"),
            )
        })
}

/// `duration(text)`: numbers with units, as in `1h30m` and `-1.5s`.
pub(crate) fn duration<'a>(value: &Value<'a>) -> Evaluated<'a> {
    if let Value::Duration(_) = value {
        return Ok(value.clone());
    }
    let text = value.as_text().ok_or_else(|| no_overload("duration", &[value]))?;
    read_duration(text).map(Value::Duration).ok_or_else(|| {
        EvalError::new(
            EvalErrorKind::BadConversion,
            format!("{value} is no duration; write one as in 90s, 1h30m or 1.5ms"),
        )
    })
}

/// The model reads the text; it keeps milliseconds, so the fraction is read here again.
fn read_timestamp(text: &str) -> Option<i128> {
    let whole = i128::from(Timestamp::parse(text).ok()?.unix_ms()).div_euclid(1_000) * SECOND;
    let Some((_, rest)) = text.split_once('.') else {
        return Some(whole);
    };
    let digits = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some(whole + fraction(digits, SECOND)?)
}

/// Decimal digits behind a point, in parts of a unit. More digits than nanoseconds have are no mistake of ours to round.
fn fraction(digits: &str, unit: i128) -> Option<i128> {
    if digits.is_empty() || digits.len() > 9 {
        return None;
    }
    let value: i128 = digits.parse().ok()?;
    let scale = 10_i128.checked_pow(u32::try_from(digits.len()).ok()?)?;
    Some(value * unit / scale)
}

fn read_duration(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Some(0);
    }
    let mut total = 0_i128;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, after) = rest.split_at_checked(end)?;
        let (unit, nanos) = UNITS.iter().find(|(unit, _)| {
            let after_unit = after.strip_prefix(unit);
            after_unit.is_some_and(|next| {
                next.is_empty() || next.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            })
        })?;
        total = total.checked_add(amount(number, *nanos)?)?;
        rest = after.strip_prefix(unit)?;
    }
    i64::try_from(sign * total).ok()
}

fn amount(number: &str, unit: i128) -> Option<i128> {
    let (whole, part) = match number.split_once('.') {
        Some((whole, part)) => (whole, fraction(part, unit)?),
        None => (number, 0),
    };
    let whole: i128 = if whole.is_empty() && number.starts_with('.') {
        0
    } else {
        // Nineteen digits are more than any duration has.
        (whole.len() <= 19).then(|| whole.parse().ok())??
    };
    whole.checked_mul(unit)?.checked_add(part)
}

/// `+` and `-` where one of the operands is a time; none where neither is.
pub(crate) fn arithmetic<'a>(operator: Binary, a: &Value<'a>, b: &Value<'a>) -> Option<Evaluated<'a>> {
    use Value::{Duration, Timestamp};
    let moment = |nanos: i128| {
        (FIRST..=LAST)
            .contains(&nanos)
            .then_some(Timestamp(nanos))
            .ok_or_else(|| out_of_range("the years 1 to 9999"))
    };
    let length = |nanos: i128| {
        i64::try_from(nanos)
            .map(Duration)
            .map_err(|_| out_of_range("what a duration can be"))
    };
    let wide = |nanos: &i64| i128::from(*nanos);
    Some(match (operator, a, b) {
        (Binary::Add, Timestamp(at), Duration(by)) | (Binary::Add, Duration(by), Timestamp(at)) => {
            moment(at + wide(by))
        }
        (Binary::Subtract, Timestamp(at), Duration(by)) => moment(at - wide(by)),
        (Binary::Subtract, Timestamp(end), Timestamp(begin)) => length(end - begin),
        (Binary::Add, Duration(a), Duration(b)) => length(wide(a) + wide(b)),
        (Binary::Subtract, Duration(a), Duration(b)) => length(wide(a) - wide(b)),
        (_, Timestamp(_) | Duration(_), _) | (_, _, Timestamp(_) | Duration(_)) => {
            Err(no_overload(operator.spelling(), &[a, b]))
        }
        _ => return None,
    })
}

fn out_of_range(range: &str) -> EvalError {
    EvalError::new(
        EvalErrorKind::Arithmetic,
        format!("the result is outside of {range}"),
    )
}

/// A part of a timestamp, in UTC, or a duration as a whole number of units.
pub(crate) fn part<'a>(function: Function, value: &Value<'a>) -> Evaluated<'a> {
    let number = match value {
        Value::Timestamp(nanos) => of_timestamp(function, *nanos),
        Value::Duration(nanos) => of_duration(function, i128::from(*nanos)),
        _ => None,
    };
    number
        .and_then(|number| i64::try_from(number).ok())
        .map(Value::Int)
        .ok_or_else(|| no_overload(function.name(), &[value]))
}

fn of_timestamp(function: Function, nanos: i128) -> Option<i128> {
    let at = civil(nanos);
    Some(match function {
        Function::GetFullYear => at.year().into(),
        Function::GetMonth => i128::from(at.month()) - 1,
        Function::GetDate => at.day().into(),
        Function::GetDayOfMonth => i128::from(at.day()) - 1,
        Function::GetDayOfYear => i128::from(at.date().day_of_year()) - 1,
        Function::GetDayOfWeek => at.date().weekday().to_sunday_zero_offset().into(),
        Function::GetHours => at.hour().into(),
        Function::GetMinutes => at.minute().into(),
        Function::GetSeconds => at.second().into(),
        Function::GetMilliseconds => at.millisecond().into(),
        _ => return None,
    })
}

fn of_duration(function: Function, nanos: i128) -> Option<i128> {
    Some(match function {
        Function::GetHours => nanos / HOUR,
        Function::GetMinutes => nanos / MINUTE,
        Function::GetSeconds => nanos / SECOND,
        Function::GetMilliseconds => nanos % SECOND / 1_000_000,
        _ => return None,
    })
}

/// The date and time of a moment, in UTC.
fn civil(nanos: i128) -> DateTime {
    let seconds = i64::try_from(nanos.div_euclid(SECOND)).unwrap_or(i64::MAX);
    let part = i32::try_from(nanos.rem_euclid(SECOND)).unwrap_or(0);
    DateTime::constant(1970, 1, 1, 0, 0, 0, 0).saturating_add(SignedDuration::new(seconds, part))
}

/// The text that `timestamp` reads.
pub(crate) fn timestamp_text(nanos: i128) -> String {
    let at = civil(nanos);
    format!(
        "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}{}Z",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second(),
        decimals(at.subsec_nanosecond().into())
    )
}

/// The text of a duration: seconds, as CEL writes them.
pub(crate) fn duration_text(nanos: i64) -> String {
    let nanos = i128::from(nanos);
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.abs();
    format!("{sign}{}{}s", nanos / SECOND, decimals(nanos % SECOND))
}

fn decimals(nanos: i128) -> String {
    if nanos == 0 {
        return String::new();
    }
    let digits = format!("{nanos:09}");
    format!(".{}", digits.trim_end_matches('0'))
}

/// `int(timestamp)`: seconds since 1970.
pub(crate) fn unix_seconds(nanos: i128) -> Option<i64> {
    i64::try_from(nanos.div_euclid(SECOND)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_cel_writes_them() {
        let check = |text: &str, expected: Option<i64>| assert_eq!(read_duration(text), expected, "{text}");
        check("90s", Some(90_000_000_000));
        check("1h30m", Some(5_400_000_000_000));
        check("-1.5s", Some(-1_500_000_000));
        check("1h1m1s1ms1us1ns", Some(3_661_001_001_001));
        check("0", Some(0));
        check(".5s", Some(500_000_000));
        check("2562047h", Some(9_223_369_200_000_000_000));
        for text in [
            "",
            "-",
            "s",
            "1",
            "1d",
            "1x",
            "1 s",
            "1s ",
            "s1",
            "--1s",
            "1..5s",
            "1.s",
            ".s",
            "2562048h",
            "1e3s",
            "9999999999999999999999h",
            "1.0000000001s",
        ] {
            check(text, None);
        }
    }

    #[test]
    fn timestamps_keep_nanoseconds_and_offsets() {
        let check = |text: &str, expected: Option<&str>| {
            let read = read_timestamp(text).map(timestamp_text);
            assert_eq!(read.as_deref(), expected, "{text}");
        };
        check("2026-04-27T10:00:00Z", Some("2026-04-27T10:00:00Z"));
        check(
            "2026-04-27T10:00:00.123456789Z",
            Some("2026-04-27T10:00:00.123456789Z"),
        );
        check("2026-04-27T12:00:00.5+02:00", Some("2026-04-27T10:00:00.5Z"));
        check("1969-12-31T23:59:59.25Z", Some("1969-12-31T23:59:59.25Z"));
        check("2026-04-27T10:00:00.1234567891Z", None);
        check("2026-13-01T00:00:00Z", None);
        check("tomorrow", None);
    }

    #[test]
    fn days_are_counted_as_the_calendar_does() {
        let parts = |text: &str| {
            let nanos = read_timestamp(text).unwrap();
            [
                Function::GetFullYear,
                Function::GetMonth,
                Function::GetDate,
                Function::GetDayOfYear,
                Function::GetDayOfWeek,
            ]
            .map(|function| of_timestamp(function, nanos).unwrap())
        };
        assert_eq!(parts("1970-01-01T00:00:00Z"), [1970, 0, 1, 0, 4]);
        assert_eq!(parts("2024-12-31T23:59:59Z"), [2024, 11, 31, 365, 2]);
        assert_eq!(parts("2026-03-01T00:00:00Z"), [2026, 2, 1, 59, 0]);
        assert_eq!(parts("1900-03-01T00:00:00Z"), [1900, 2, 1, 59, 4]);
    }
}
