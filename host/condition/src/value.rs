//! Values while a condition runs. JSON from the run is borrowed, never copied; only what the condition itself makes is
//! owned. JSON numbers: one without fraction or exponent is an `int` (a `uint` above the largest `int`), any other is
//! a `double`; so `3` is an int and `3.0` and `0.9` are doubles, and comparisons look at the value alone.

use super::error::{EvalError, EvalErrorKind};
use super::limits::Fuel;
use super::time;
use serde_json::Value as Json;
use std::cmp::Ordering;
use std::fmt::{self, Write as _};
use std::rc::Rc;

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    String,
    Bytes,
    List,
    Map,
    Type,
    Timestamp,
    Duration,
}

impl ValueKind {
    const ALL: [Self; 10] = [
        Self::Null,
        Self::Bool,
        Self::Int,
        Self::Uint,
        Self::Double,
        Self::String,
        Self::Bytes,
        Self::List,
        Self::Map,
        Self::Type,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::String => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Map => "map",
            Self::Type => "type",
            Self::Timestamp => "google.protobuf.Timestamp",
            Self::Duration => "google.protobuf.Duration",
        }
    }

    /// Whether a map can have such a key. Doubles are looked up by their value and stand in no literal.
    pub(crate) fn can_be_looked_up(self) -> bool {
        matches!(
            self,
            Self::Bool | Self::Int | Self::Uint | Self::Double | Self::String
        )
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A value.
#[derive(Debug, Clone)]
pub(crate) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    Text(&'a str),
    OwnedText(Rc<str>),
    Bytes(Rc<[u8]>),
    List(&'a [Json]),
    OwnedList(Rc<[Value<'a>]>),
    Map(&'a serde_json::Map<String, Json>),
    OwnedMap(Rc<[(Value<'a>, Value<'a>)]>),
    Type(ValueKind),
    /// Nanoseconds since 1970.
    Timestamp(i128),
    /// Nanoseconds.
    Duration(i64),
}

impl<'a> From<&'a Json> for Value<'a> {
    fn from(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(value) => Self::Bool(*value),
            Json::Number(number) => match (number.as_i64(), number.as_u64()) {
                (Some(value), _) => Self::Int(value),
                (None, Some(value)) => Self::Uint(value),
                (None, None) => Self::Double(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::Text(text),
            Json::Array(items) => Self::List(items),
            Json::Object(map) => Self::Map(map),
        }
    }
}

/// Values nested deeper than this are not compared; documents are never that deep, they are refused where they come in.
const DEPTH: u32 = 256;

impl<'a> Value<'a> {
    pub(crate) fn text(text: impl Into<Rc<str>>) -> Self {
        Self::OwnedText(text.into())
    }

    pub(crate) fn kind(&self) -> ValueKind {
        match self {
            Self::Null => ValueKind::Null,
            Self::Bool(_) => ValueKind::Bool,
            Self::Int(_) => ValueKind::Int,
            Self::Uint(_) => ValueKind::Uint,
            Self::Double(_) => ValueKind::Double,
            Self::Text(_) | Self::OwnedText(_) => ValueKind::String,
            Self::Bytes(_) => ValueKind::Bytes,
            Self::List(_) | Self::OwnedList(_) => ValueKind::List,
            Self::Map(_) | Self::OwnedMap(_) => ValueKind::Map,
            Self::Type(_) => ValueKind::Type,
            Self::Timestamp(_) => ValueKind::Timestamp,
            Self::Duration(_) => ValueKind::Duration,
        }
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::OwnedText(text) => Some(text),
            _ => None,
        }
    }

    /// The number of elements of a list or entries of a map.
    pub(crate) fn count(&self) -> Option<usize> {
        match self {
            Self::List(items) => Some(items.len()),
            Self::OwnedList(items) => Some(items.len()),
            Self::Map(entries) => Some(entries.len()),
            Self::OwnedMap(entries) => Some(entries.len()),
            _ => None,
        }
    }

    /// An element of a list.
    pub(crate) fn element(&self, at: usize) -> Option<Self> {
        match self {
            Self::List(items) => items.get(at).map(Self::from),
            Self::OwnedList(items) => items.get(at).cloned(),
            _ => None,
        }
    }

    /// The value of a text key; `None` where the key is not there or this is no map.
    pub(crate) fn field(&self, name: &str, fuel: &mut Fuel) -> Result<Option<Self>, EvalError> {
        match self {
            Self::Map(map) => Ok(map.get(name).map(Self::from)),
            Self::OwnedMap(entries) => {
                fuel.spend_elements(entries.len())?;
                let found = entries.iter().find(|(key, _)| key.as_text() == Some(name));
                Ok(found.map(|(_, value)| value.clone()))
            }
            _ => Ok(None),
        }
    }

    /// The value of any key.
    pub(crate) fn entry(&self, key: &Value<'a>, fuel: &mut Fuel) -> Result<Option<Self>, EvalError> {
        if let Some(text) = key.as_text() {
            return self.field(text, fuel);
        }
        if let Self::OwnedMap(entries) = self {
            for (candidate, value) in entries.iter() {
                if candidate.equals(key, fuel)? {
                    return Ok(Some(value.clone()));
                }
            }
        }
        Ok(None)
    }

    /// What a comprehension goes over: the elements of a list or the keys of a map.
    pub(crate) fn members(&self) -> Option<Box<dyn Iterator<Item = Value<'a>> + 'a>> {
        match self {
            Self::List(items) => Some(Box::new(items.iter().map(Self::from))),
            Self::OwnedList(items) => {
                let items = Rc::clone(items);
                Some(Box::new(
                    (0..items.len()).filter_map(move |at| items.get(at).cloned()),
                ))
            }
            Self::Map(map) => Some(Box::new(map.keys().map(|key| Self::Text(key)))),
            Self::OwnedMap(entries) => {
                let entries = Rc::clone(entries);
                Some(Box::new(
                    (0..entries.len()).filter_map(move |at| entries.get(at).map(|(key, _)| key.clone())),
                ))
            }
            _ => None,
        }
    }

    /// `==`: numbers by value whatever their type, values of different kinds are just different.
    pub(crate) fn equals(&self, other: &Value<'a>, fuel: &mut Fuel) -> Result<bool, EvalError> {
        self.equals_within(other, fuel, DEPTH)
    }

    fn equals_within(&self, other: &Value<'a>, fuel: &mut Fuel, depth: u32) -> Result<bool, EvalError> {
        let depth = depth.checked_sub(1).ok_or_else(|| {
            EvalError::new(
                EvalErrorKind::OutOfRange,
                "values are nested too deeply to be compared",
            )
        })?;
        fuel.spend(1)?;
        if let (Some(a), Some(b)) = (self.as_text(), other.as_text()) {
            if a.len() == b.len() {
                fuel.spend_bytes(a.len())?;
            }
            return Ok(a == b);
        }
        match (self, other) {
            (Self::Null, Self::Null) => Ok(true),
            (Self::Bool(a), Self::Bool(b)) => Ok(a == b),
            (Self::Bytes(a), Self::Bytes(b)) => {
                fuel.spend_bytes(a.len())?;
                Ok(a == b)
            }
            (Self::Type(a), Self::Type(b)) => Ok(a == b),
            (Self::Timestamp(a), Self::Timestamp(b)) => Ok(a == b),
            (Self::Duration(a), Self::Duration(b)) => Ok(a == b),
            (Self::List(_) | Self::OwnedList(_), Self::List(_) | Self::OwnedList(_)) => {
                if self.count() != other.count() {
                    return Ok(false);
                }
                for at in 0..self.count().unwrap_or(0) {
                    let (Some(a), Some(b)) = (self.element(at), other.element(at)) else {
                        return Ok(false);
                    };
                    if !a.equals_within(&b, fuel, depth)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            (Self::Map(_) | Self::OwnedMap(_), Self::Map(_) | Self::OwnedMap(_)) => {
                if self.count() != other.count() {
                    return Ok(false);
                }
                for key in self.members().into_iter().flatten() {
                    let (Some(a), Some(b)) = (self.entry(&key, fuel)?, other.entry(&key, fuel)?) else {
                        return Ok(false);
                    };
                    if !a.equals_within(&b, fuel, depth)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(compare_numbers(self, other) == Some(Ordering::Equal)),
        }
    }

    /// `<` and its relatives. `None` within `Ok` is a comparison with NaN, which is always false.
    pub(crate) fn compare(
        &self,
        other: &Value<'a>,
        fuel: &mut Fuel,
    ) -> Option<Result<Option<Ordering>, EvalError>> {
        if let (Some(a), Some(b)) = (self.as_text(), other.as_text()) {
            return Some(fuel.spend_bytes(a.len().min(b.len())).map(|()| Some(a.cmp(b))));
        }
        match (self, other) {
            (Self::Bool(a), Self::Bool(b)) => Some(Ok(Some(a.cmp(b)))),
            (Self::Timestamp(a), Self::Timestamp(b)) => Some(Ok(Some(a.cmp(b)))),
            (Self::Duration(a), Self::Duration(b)) => Some(Ok(Some(a.cmp(b)))),
            (Self::Bytes(a), Self::Bytes(b)) => {
                Some(fuel.spend_bytes(a.len().min(b.len())).map(|()| Some(a.cmp(b))))
            }
            _ if self.is_number() && other.is_number() => Some(Ok(compare_numbers(self, other))),
            _ => None,
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        matches!(self, Self::Int(_) | Self::Uint(_) | Self::Double(_))
    }
}

/// Compares numbers of any types exactly: an integer is never rounded to a double first.
fn compare_numbers(a: &Value<'_>, b: &Value<'_>) -> Option<Ordering> {
    let integer = |value: &Value<'_>| match value {
        Value::Int(value) => Some(i128::from(*value)),
        Value::Uint(value) => Some(i128::from(*value)),
        _ => None,
    };
    match (a, b) {
        (Value::Double(a), Value::Double(b)) => a.partial_cmp(b),
        (Value::Double(a), b) => compare_mixed(integer(b)?, *a).map(Ordering::reverse),
        (a, Value::Double(b)) => compare_mixed(integer(a)?, *b),
        (a, b) => Some(integer(a)?.cmp(&integer(b)?)),
    }
}

fn compare_mixed(integer: i128, double: f64) -> Option<Ordering> {
    if double.is_nan() {
        return None;
    }
    // Every 64-bit integer lies strictly between these, and within them truncation is exact.
    if double >= 2e19 {
        return Some(Ordering::Less);
    }
    if double <= -2e19 {
        return Some(Ordering::Greater);
    }
    let whole = double.trunc();
    let by_whole = integer.cmp(&(whole as i128));
    Some(by_whole.then_with(|| 0.0_f64.total_cmp(&(double - whole + 0.0))))
}

/// For error messages: short, whatever the value.
impl fmt::Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Int(value) => write!(f, "{value}"),
            Self::Uint(value) => write!(f, "{value}u"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(_) | Self::OwnedText(_) => {
                let text = self.as_text().unwrap_or_default();
                f.write_char('"')?;
                for c in text.chars().take(40) {
                    write!(f, "{}", c.escape_debug())?;
                }
                f.write_str(if text.chars().nth(40).is_some() {
                    "…\""
                } else {
                    "\""
                })
            }
            Self::Bytes(bytes) => write!(f, "{} bytes", bytes.len()),
            Self::List(_) | Self::OwnedList(_) => write!(f, "a list of {}", self.count().unwrap_or(0)),
            Self::Map(_) | Self::OwnedMap(_) => write!(f, "a map of {}", self.count().unwrap_or(0)),
            Self::Type(kind) => f.write_str(kind.name()),
            Self::Timestamp(nanos) => f.write_str(&time::timestamp_text(*nanos)),
            Self::Duration(nanos) => f.write_str(&time::duration_text(*nanos)),
        }
    }
}
