//! Numbers: integers of any size, floats as Python prints them.

use std::fmt;

/// An integer of any size. Beyond 64 bits its decimal text is kept; nothing here computes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Integer(Repr);

// Invariant: `Big` holds only what does not fit `Small`, without leading zeros, so equality is equality of value.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Repr {
    Small(i64),
    Big(Box<str>),
}

impl Integer {
    /// Reads an optional minus and decimal digits. Leading zeros and `-0` are normalised away.
    pub fn parse(text: &str) -> Option<Self> {
        let (sign, digits) = match text.strip_prefix('-') {
            Some(digits) => ("-", digits),
            None => ("", text),
        };
        if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        if let Ok(small) = text.parse::<i64>() {
            return Some(Integer(Repr::Small(small)));
        }
        // What fits has been read above, leading zeros and all, so this is neither zero nor small.
        let significant = digits.trim_start_matches('0');
        Some(Integer(Repr::Big(
            format!("{sign}{significant}").into_boxed_str(),
        )))
    }

    /// The value, if it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self.0 {
            Repr::Small(value) => Some(value),
            Repr::Big(_) => None,
        }
    }

    /// Whether it is below zero.
    pub fn is_negative(&self) -> bool {
        match &self.0 {
            Repr::Small(value) => *value < 0,
            Repr::Big(text) => text.starts_with('-'),
        }
    }
}

impl From<i64> for Integer {
    fn from(value: i64) -> Self {
        Integer(Repr::Small(value))
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => write!(f, "{value}"),
            Repr::Big(text) => f.write_str(text),
        }
    }
}

/// A float that JSON has no text for.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("{0} has no JSON text: use a finite number or null")]
pub struct NotFinite(pub f64);

/// The shortest text that reads back as `value`, laid out as Python's `repr`: `1.0`, `1e-07`, `1e+16`, `-0.0`.
pub fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "Infinity".to_owned()
        } else {
            "-Infinity".to_owned()
        };
    }
    let scientific = shortest(value);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let (sign, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", mantissa),
    };
    if !(-4..16).contains(&exponent) {
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{mantissa}e{direction}{:02}", exponent.unsigned_abs());
    }
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    if exponent < 0 {
        let zeros = "0".repeat(exponent.unsigned_abs() as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let whole = exponent as usize + 1;
    if digits.len() <= whole {
        return format!("{sign}{digits:0<whole$}.0");
    }
    let (before, after) = digits.split_at(whole);
    format!("{sign}{before}.{after}")
}

/// The fewest digits that read back as `value`, and among those the nearest; of two equally near, the even one. Rust's own
/// shortest form takes the upper of the two, so it only says how many digits it takes.
fn shortest(value: f64) -> String {
    let short = format!("{value:e}");
    let mantissa = short.split('e').next().unwrap_or_default();
    let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
    let nearest = format!("{value:.*e}", digits.saturating_sub(1));
    match nearest.parse::<f64>() {
        Ok(same) if same.to_bits() == value.to_bits() => nearest,
        _ => short,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn floats_print_as_python_prints_them() {
        let check = |value: f64, text: &str| assert_eq!(python_float(value), text);
        check(1.0, "1.0");
        check(0.0, "0.0");
        check(-0.0, "-0.0");
        check(1e-7, "1e-07");
        check(1e16, "1e+16");
        check(1e21, "1e+21");
        check(1e15, "1000000000000000.0");
        check(9999999999999998.0, "9999999999999998.0");
        check(123456789012345680.0, "1.2345678901234568e+17");
        check(0.0001, "0.0001");
        check(0.00001, "1e-05");
        check(1.5, "1.5");
        check(-123.456, "-123.456");
        check(5e-324, "5e-324");
        check(f64::MAX, "1.7976931348623157e+308");
        check(f64::MIN_POSITIVE, "2.2250738585072014e-308");
        check(0.1 + 0.2, "0.30000000000000004");
        check(1e100, "1e+100");
        check(1.25e-10, "1.25e-10");
        check(100.0, "100.0");
        check(1.0 / 3.0, "0.3333333333333333");
    }

    /// Both neighbours of the last digit are equally near: Python prints the even one.
    #[test]
    fn a_tie_of_the_last_digit_goes_to_the_even_one() {
        // As text: these values have more digits than a literal is allowed.
        let check =
            |exact: &str, text: &str| assert_eq!(python_float(exact.parse().unwrap()), text, "{exact}");
        check("257337329402448.125", "257337329402448.12");
        check("2251361548800390.25", "2251361548800390.2");
        check("231922557291801.125", "231922557291801.12");
        check("257337329402448.375", "257337329402448.38");
        check("-257337329402448.125", "-257337329402448.12");
        check("9007199254740993", "9007199254740992.0");
        check("9.5367431640625e-7", "9.5367431640625e-07");
        check("4503599627370495.5", "4503599627370495.5");
    }

    #[test]
    fn integers_are_normalised() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                Integer::parse(text).map(|integer| integer.to_string()).as_deref(),
                expected,
                "{text}"
            );
        };
        check("0", Some("0"));
        check("-0", Some("0"));
        check("007", Some("7"));
        check("-9223372036854775808", Some("-9223372036854775808"));
        check("9223372036854775808", Some("9223372036854775808"));
        check("-00000000000000000000000000000000012", Some("-12"));
        check(
            "12345678901234567890123456789",
            Some("12345678901234567890123456789"),
        );
        check("", None);
        check("-", None);
        check("+1", None);
        check("1e3", None);
        check("١", None);
    }

    proptest! {
        #[test]
        fn a_printed_float_reads_back_as_itself(bits in any::<u64>()) {
            let value = f64::from_bits(bits);
            prop_assume!(value.is_finite());
            prop_assert_eq!(python_float(value).parse::<f64>().unwrap().to_bits(), bits);
        }
    }
}
