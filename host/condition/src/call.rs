//! Functions and conversions.

use super::error::{EvalError, EvalErrorKind};
use super::eval::{Evaluated, Evaluator, no_overload};
use super::function::Function;
use super::limits::Fuel;
use super::time;
use super::value::Value;

/// A function of one argument.
pub(crate) fn unary<'a>(function: Function, value: Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match function {
        Function::Size => size(&value, fuel),
        Function::Int => to_int(value),
        Function::Uint => to_uint(value),
        Function::Double => to_double(value),
        Function::String => to_text(value, fuel),
        Function::Bytes => match value.as_text() {
            Some(text) => {
                fuel.spend_bytes(text.len())?;
                Ok(Value::Bytes(text.as_bytes().into()))
            }
            None if matches!(value, Value::Bytes(_)) => Ok(value),
            None => Err(no_overload("bytes", &[&value])),
        },
        Function::Bool => to_bool(value),
        Function::Type => Ok(Value::Type(value.kind())),
        Function::Dyn => Ok(value),
        Function::Timestamp => time::timestamp(&value),
        Function::Duration => time::duration(&value),
        Function::GetFullYear
        | Function::GetMonth
        | Function::GetDate
        | Function::GetDayOfMonth
        | Function::GetDayOfYear
        | Function::GetDayOfWeek
        | Function::GetHours
        | Function::GetMinutes
        | Function::GetSeconds
        | Function::GetMilliseconds => time::part(function, &value),
        Function::Contains | Function::StartsWith | Function::EndsWith | Function::Matches => {
            Err(no_overload(function.name(), &[&value]))
        }
    }
}

/// A function of two arguments, all of them on texts.
pub(crate) fn binary<'a>(
    evaluator: &mut Evaluator<'a, '_>,
    function: Function,
    a: &Value<'a>,
    b: &Value<'a>,
) -> Evaluated<'a> {
    let (Some(text), Some(part)) = (a.as_text(), b.as_text()) else {
        return Err(no_overload(function.name(), &[a, b]));
    };
    if function == Function::Matches {
        let pattern = evaluator.pattern(part)?;
        return Ok(Value::Bool(pattern.is_match(text, evaluator.fuel)?));
    }
    evaluator.fuel.spend_bytes(match function {
        Function::Contains => text.len() + part.len(),
        _ => part.len(),
    })?;
    Ok(Value::Bool(match function {
        Function::Contains => text.contains(part),
        Function::StartsWith => text.starts_with(part),
        Function::EndsWith => text.ends_with(part),
        other => return Err(no_overload(other.name(), &[a, b])),
    }))
}

fn size<'a>(value: &Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    let size = match (value.as_text(), value) {
        (Some(text), _) => {
            fuel.spend_bytes(text.len())?;
            text.chars().count()
        }
        (None, Value::Bytes(bytes)) => bytes.len(),
        (None, other) => other.count().ok_or_else(|| no_overload("size", &[other]))?,
    };
    Ok(Value::Int(i64::try_from(size).unwrap_or(i64::MAX)))
}

fn unfit(value: &Value<'_>, kind: &str) -> EvalError {
    EvalError::new(
        EvalErrorKind::Arithmetic,
        format!("{value} does not fit into {kind}"),
    )
}

fn no_such(value: &Value<'_>, kind: &str) -> EvalError {
    EvalError::new(
        EvalErrorKind::BadConversion,
        format!("{value} does not say {kind}"),
    )
}

/// The bounds are exclusive: at ±2^63 a double no longer says which integer was meant.
const INT_BOUND: f64 = 9_223_372_036_854_775_808.0;
const UINT_BOUND: f64 = 18_446_744_073_709_551_616.0;

fn to_int(value: Value<'_>) -> Evaluated<'_> {
    match &value {
        Value::Int(_) => return Ok(value),
        Value::Uint(x) => i64::try_from(*x).ok(),
        Value::Double(x) => (*x > -INT_BOUND && *x < INT_BOUND).then_some(*x as i64),
        Value::Timestamp(nanos) => time::unix_seconds(*nanos),
        other => {
            let text = other.as_text().ok_or_else(|| no_overload("int", &[other]))?;
            return text.parse().map(Value::Int).map_err(|_| no_such(other, "an int"));
        }
    }
    .map(Value::Int)
    .ok_or_else(|| unfit(&value, "an int"))
}

fn to_uint(value: Value<'_>) -> Evaluated<'_> {
    match &value {
        Value::Uint(_) => return Ok(value),
        Value::Int(x) => u64::try_from(*x).ok(),
        Value::Double(x) => (*x >= 0.0 && *x < UINT_BOUND).then_some(*x as u64),
        other => {
            let text = other.as_text().ok_or_else(|| no_overload("uint", &[other]))?;
            return text
                .parse()
                .map(Value::Uint)
                .map_err(|_| no_such(other, "a uint"));
        }
    }
    .map(Value::Uint)
    .ok_or_else(|| unfit(&value, "a uint"))
}

fn to_double(value: Value<'_>) -> Evaluated<'_> {
    match &value {
        Value::Double(_) => Ok(value),
        Value::Int(x) => Ok(Value::Double(*x as f64)),
        Value::Uint(x) => Ok(Value::Double(*x as f64)),
        other => {
            let text = other.as_text().ok_or_else(|| no_overload("double", &[other]))?;
            text.parse()
                .map(Value::Double)
                .map_err(|_| no_such(other, "a double"))
        }
    }
}

fn to_text<'a>(value: Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match &value {
        Value::Text(_) | Value::OwnedText(_) => Ok(value),
        Value::Bool(x) => Ok(Value::text(x.to_string())),
        Value::Int(x) => Ok(Value::text(x.to_string())),
        Value::Uint(x) => Ok(Value::text(x.to_string())),
        Value::Double(x) => Ok(Value::text(x.to_string())),
        Value::Timestamp(nanos) => Ok(Value::text(time::timestamp_text(*nanos))),
        Value::Duration(nanos) => Ok(Value::text(time::duration_text(*nanos))),
        Value::Bytes(bytes) => {
            fuel.spend_bytes(bytes.len())?;
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Value::text(text)),
                Err(_) => Err(no_such(&value, "a string: they are not UTF-8")),
            }
        }
        other => Err(no_overload("string", &[other])),
    }
}

fn to_bool(value: Value<'_>) -> Evaluated<'_> {
    match (value.as_text(), &value) {
        (_, Value::Bool(_)) => Ok(value),
        (Some("true" | "True" | "TRUE" | "t" | "1"), _) => Ok(Value::Bool(true)),
        (Some("false" | "False" | "FALSE" | "f" | "0"), _) => Ok(Value::Bool(false)),
        (Some(_), _) => Err(no_such(&value, "a bool")),
        (None, other) => Err(no_overload("bool", &[other])),
    }
}
