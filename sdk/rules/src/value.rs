//! Values of facts: symbols, strings, integers, floats and sequences of them.

use crate::shared::Text;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, LazyLock};

/// The two symbols that predicates answer with: every test of every pattern makes one, so they are made once.
static TRUE: LazyLock<Value> = LazyLock::new(|| Value::Symbol(Text::lasting("TRUE")));
static FALSE: LazyLock<Value> = LazyLock::new(|| Value::Symbol(Text::lasting("FALSE")));

/// A value. A symbol `halt` is not the string `"halt"`, and the float `1.0` is not the integer `1`.
#[derive(Debug, Clone)]
pub enum Value {
    /// A symbol, such as `halt` or `TRUE`.
    Symbol(Text),
    /// A string.
    String(Text),
    /// A 64-bit integer.
    Integer(i64),
    /// A finite float; [`Value::float`] refuses others.
    Float(f64),
    /// Several values, of a multislot or of `$?x`.
    Multifield(Arc<[Value]>),
    /// A fact, as bound by `?f <- (pattern)`.
    Fact(crate::FactId),
}

impl Value {
    /// A symbol.
    #[must_use]
    pub fn symbol(text: &str) -> Self {
        Self::Symbol(text.into())
    }

    /// A string.
    #[must_use]
    pub fn string(text: &str) -> Self {
        Self::String(text.into())
    }

    /// A float, if it is finite. Minus zero is a value of its own, as in CLIPS: `(= 0.0 -0.0)` holds, `(eq 0.0 -0.0)` does not.
    #[must_use]
    pub fn float(value: f64) -> Option<Self> {
        value.is_finite().then_some(Self::Float(value))
    }

    pub(crate) fn boolean(value: bool) -> Self {
        Self::clone(if value { &TRUE } else { &FALSE })
    }

    /// Everything but the symbol `FALSE` is true.
    pub(crate) fn is_true(&self) -> bool {
        !matches!(self, Self::Symbol(name) if &**name == "FALSE")
    }

    /// The text of a symbol or string.
    #[must_use]
    pub fn lexeme(&self) -> Option<&str> {
        match self {
            Self::Symbol(text) | Self::String(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Symbol(_) => "a symbol",
            Self::String(_) => "a string",
            Self::Integer(_) => "an integer",
            Self::Float(_) => "a float",
            Self::Multifield(_) => "several values",
            Self::Fact(_) => "a fact",
        }
    }

    /// Roughly the memory behind it, for budgets.
    pub(crate) fn weight(&self) -> usize {
        match self {
            Self::Symbol(text) | Self::String(text) => text.len(),
            Self::Multifield(values) => values.iter().map(|value| 32 + value.weight()).sum(),
            _ => 0,
        }
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Symbol(a), Self::Symbol(b)) | (Self::String(a), Self::String(b)) => a == b,
            (Self::Integer(a), Self::Integer(b)) => a == b,
            (Self::Float(a), Self::Float(b)) => a.to_bits() == b.to_bits(),
            (Self::Multifield(a), Self::Multifield(b)) => a == b,
            (Self::Fact(a), Self::Fact(b)) => a == b,
            _ => false,
        }
    }
}

impl Eq for Value {}

impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // Symbols and strings of the same text are rare side by side; that they are not equal is enough.
            Self::Symbol(text) | Self::String(text) => state.write(text.as_bytes()),
            Self::Integer(value) => value.hash(state),
            Self::Float(value) => value.to_bits().hash(state),
            Self::Multifield(values) => values.hash(state),
            Self::Fact(id) => id.hash(state),
        }
    }
}

/// As CLIPS prints it: strings in quotes, floats with 15 digits and always a point or an exponent.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Symbol(text) => f.write_str(text),
            Self::String(text) => {
                f.write_str("\"")?;
                for c in text.chars() {
                    match c {
                        '"' | '\\' => write!(f, "\\{c}")?,
                        c => write!(f, "{c}")?,
                    }
                }
                f.write_str("\"")
            }
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => f.write_str(&float_text(*value)),
            Self::Multifield(values) => {
                f.write_str("(")?;
                for (at, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if at == 0 { "" } else { " " })?;
                }
                f.write_str(")")
            }
            Self::Fact(id) => write!(f, "<Fact-{id}>"),
        }
    }
}

/// Most integers that are written are short, and then this is much cheaper than a formatter.
pub(crate) fn push_integer(text: &mut String, value: i64) {
    let Ok(mut rest) = u16::try_from(value) else {
        text.push_str(&value.to_string());
        return;
    };
    let mut unit = [10_000, 1_000, 100, 10].into_iter().find(|unit| rest >= *unit);
    while let Some(size) = unit {
        text.push(char::from(b'0' + (rest / size) as u8));
        rest %= size;
        unit = (size > 10).then_some(size / 10);
    }
    text.push(char::from(b'0' + rest as u8));
}

/// C's `%.15g`, with `.0` where it would look like an integer.
pub(crate) fn float_text(value: f64) -> String {
    let scientific = format!("{value:.14e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| {
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text.to_owned()
        }
    };
    if (-4..15).contains(&exponent) {
        let decimals = usize::try_from(14 - exponent).unwrap_or(0);
        let text = trimmed(&format!("{value:.decimals$}"));
        if text.contains('.') {
            text
        } else {
            format!("{text}.0")
        }
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", trimmed(mantissa), exponent.unsigned_abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_printed_as_clips_prints_them() {
        for (value, text) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (1e20, "1e+20"),
            (1e-7, "1e-07"),
            (123_456_789.123, "123456789.123"),
            (1e17, "1e+17"),
            (1.0 / 3.0, "0.333333333333333"),
            (-2.5, "-2.5"),
            (0.0001, "0.0001"),
            (-0.0, "-0.0"),
        ] {
            assert_eq!(float_text(value), text);
        }
    }

    #[test]
    fn integers_are_written_as_they_are() {
        let around = |value: i64| value.saturating_sub(2)..=value.saturating_add(2);
        let values = [0, 10, 100, 1_000, 10_000, 65_535, 100_000, -9, i64::MAX, i64::MIN];
        for value in values.into_iter().flat_map(around) {
            let mut text = String::new();
            push_integer(&mut text, value);
            assert_eq!(text, value.to_string());
        }
    }

    #[test]
    fn kinds_are_never_equal_to_each_other() {
        assert_ne!(Value::symbol("halt"), Value::string("halt"));
        assert_ne!(Value::Integer(1), Value::float(1.0).unwrap());
        assert_ne!(Value::symbol("TRUE"), Value::symbol("true"));
        assert_ne!(Value::float(0.0), Value::float(-0.0));
        assert_eq!(Value::float(f64::NAN), None);
    }
}
