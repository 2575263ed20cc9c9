//! Money: decimal digits, never a float.

use super::record::{Emit, Reader, SchemaBook, Value, Writer};
use mizzen_json::{Json, Node, View, python_float};
use std::fmt;

/// More digits than any price needs; a bound on what one field of a hostile record costs.
const MAX_DIGITS: usize = 1_000;

/// An exact decimal number. `1.50` keeps its zero; equality is by digits and exponent.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Decimal {
    negative: bool,
    // Invariant: at least one digit, no leading zero unless it is the only digit.
    digits: String,
    exponent: i64,
}

/// Why a decimal was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DecimalError {
    /// Not a decimal number.
    #[error("not a decimal number: write digits such as 0.0125")]
    Malformed,
    /// More digits or a larger exponent than allowed.
    #[error("a decimal has at most {MAX_DIGITS} digits and an exponent within ±999999")]
    TooLarge,
}

impl Decimal {
    /// Reads `[+-]digits[.digits][e[+-]digits]`.
    pub fn parse(text: &str) -> Result<Self, DecimalError> {
        let (negative, rest) = match text.as_bytes().first() {
            Some(b'-') => (true, text.get(1..).unwrap_or_default()),
            Some(b'+') => (false, text.get(1..).unwrap_or_default()),
            _ => (false, text),
        };
        let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, Some(exponent)),
            None => (rest, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if (whole.is_empty() && fraction.is_empty()) || !all_digits(whole) || !all_digits(fraction) {
            return Err(DecimalError::Malformed);
        }
        if whole.len() + fraction.len() > MAX_DIGITS {
            return Err(DecimalError::TooLarge);
        }
        let stated = match exponent {
            None => 0,
            Some(text) => {
                let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
                if digits.is_empty() || !all_digits(digits) {
                    return Err(DecimalError::Malformed);
                }
                text.parse::<i64>()
                    .ok()
                    .filter(|value| value.abs() <= 999_999)
                    .ok_or(DecimalError::TooLarge)?
            }
        };
        let all = format!("{whole}{fraction}");
        let significant = all.trim_start_matches('0');
        let digits = if significant.is_empty() { "0" } else { significant }.to_owned();
        Ok(Decimal {
            negative,
            digits,
            exponent: stated - fraction.len() as i64,
        })
    }
}

/// As Python prints it: plain unless the exponent is positive or very negative.
impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.negative {
            f.write_str("-")?;
        }
        let length = self.digits.len() as i64;
        let left = self.exponent + length;
        if self.exponent > 0 || left <= -6 {
            let (first, rest) = self.digits.split_at(1);
            f.write_str(first)?;
            if !rest.is_empty() {
                write!(f, ".{rest}")?;
            }
            return write!(f, "E{:+}", left - 1);
        }
        if self.exponent == 0 {
            return f.write_str(&self.digits);
        }
        if left > 0 {
            let (whole, fraction) = self.digits.split_at(left as usize);
            return write!(f, "{whole}.{fraction}");
        }
        write!(f, "0.{}{}", "0".repeat(left.unsigned_abs() as usize), self.digits)
    }
}

impl Emit for Decimal {
    fn emit(&self, out: &mut Writer) {
        out.string(&self.to_string());
    }
}

impl Value for Decimal {
    fn read<'t>(node: Node<'t>, reader: &mut Reader<'t>) -> Option<Self> {
        let found = match node.view() {
            View::String(text) => Decimal::parse(text),
            // An integer has no minus zero; a decimal text does.
            View::Int("-0") => Decimal::parse("0"),
            View::Int(text) => Decimal::parse(text),
            View::Float(value) => Decimal::parse(&python_float(value)),
            _ => {
                return reader.refuse(
                    node,
                    "decimal_type",
                    "a decimal number",
                    "write the digits as a string, as \"0.0125\"",
                );
            }
        };
        match found {
            Ok(decimal) => Some(decimal),
            Err(error) => reader.refuse(node, "decimal_parsing", "a decimal number", error.to_string()),
        }
    }

    fn schema(_: &mut SchemaBook) -> Json {
        super::record::decimal_schema()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_keep_their_digits_and_print_as_python_prints_them() {
        let check = |text: &str, expected: Option<&str>| {
            assert_eq!(
                Decimal::parse(text)
                    .ok()
                    .map(|decimal| decimal.to_string())
                    .as_deref(),
                expected,
                "{text}"
            );
        };
        check("1.50", Some("1.50"));
        check("0.0125", Some("0.0125"));
        check("-0", Some("-0"));
        check("0.00", Some("0.00"));
        check("1e3", Some("1E+3"));
        check("12e3", Some("1.2E+4"));
        check("1e-7", Some("1E-7"));
        check("0.0000001", Some("1E-7"));
        check("0.000001", Some("0.000001"));
        check("+007.10", Some("7.10"));
        check(".5", Some("0.5"));
        check("5.", Some("5"));
        check("1.23e1", Some("12.3"));
        check("", None);
        check(".", None);
        check("1e", None);
        check("NaN", None);
        check("Infinity", None);
        check("1,5", None);
        check("1 ", None);
        check("1e9999999", None);
    }
}
