//! Arithmetic, order, membership and indexing.

use super::ast::Binary;
use super::error::{EvalError, EvalErrorKind};
use super::eval::{Evaluated, no_overload};
use super::limits::Fuel;
use super::time;
use super::value::{Value, ValueKind};
use std::cmp::Ordering;
use std::rc::Rc;

/// Every binary operator but `==` and `!=`, which take any values.
pub(crate) fn binary<'a>(operator: Binary, a: &Value<'a>, b: &Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match operator {
        Binary::Less | Binary::LessEqual | Binary::Greater | Binary::GreaterEqual => {
            let order = a
                .compare(b, fuel)
                .ok_or_else(|| no_overload(operator.spelling(), &[a, b]))??;
            Ok(Value::Bool(order.is_some_and(|order| match operator {
                Binary::Less => order == Ordering::Less,
                Binary::LessEqual => order != Ordering::Greater,
                Binary::Greater => order == Ordering::Greater,
                _ => order != Ordering::Less,
            })))
        }
        Binary::In => member(a, b, fuel),
        Binary::Add | Binary::Subtract if is_time(a) || is_time(b) => {
            time::arithmetic(operator, a, b).unwrap_or_else(|| Err(no_overload(operator.spelling(), &[a, b])))
        }
        Binary::Add if !a.is_number() => concatenate(a, b, fuel),
        Binary::Equal => Ok(Value::Bool(a.equals(b, fuel)?)),
        Binary::NotEqual => Ok(Value::Bool(!a.equals(b, fuel)?)),
        _ => arithmetic(operator, a, b),
    }
}

fn is_time(value: &Value<'_>) -> bool {
    matches!(value, Value::Timestamp(_) | Value::Duration(_))
}

fn arithmetic<'a>(operator: Binary, a: &Value<'a>, b: &Value<'a>) -> Evaluated<'a> {
    let failed = || {
        let zero = matches!(b, Value::Int(0) | Value::Uint(0));
        let what = match operator {
            Binary::Divide | Binary::Remainder if zero => "division by zero".to_owned(),
            _ => format!("{a} {} {b} does not fit into 64 bits", operator.spelling()),
        };
        EvalError::new(EvalErrorKind::Arithmetic, what)
    };
    match (a, b) {
        (Value::Int(x), Value::Int(y)) => match operator {
            Binary::Add => x.checked_add(*y),
            Binary::Subtract => x.checked_sub(*y),
            Binary::Multiply => x.checked_mul(*y),
            Binary::Divide => x.checked_div(*y),
            _ => x.checked_rem(*y),
        }
        .map(Value::Int)
        .ok_or_else(failed),
        (Value::Uint(x), Value::Uint(y)) => match operator {
            Binary::Add => x.checked_add(*y),
            Binary::Subtract => x.checked_sub(*y),
            Binary::Multiply => x.checked_mul(*y),
            Binary::Divide => x.checked_div(*y),
            _ => x.checked_rem(*y),
        }
        .map(Value::Uint)
        .ok_or_else(failed),
        (Value::Double(x), Value::Double(y)) => match operator {
            Binary::Add => Some(x + y),
            Binary::Subtract => Some(x - y),
            Binary::Multiply => Some(x * y),
            Binary::Divide => Some(x / y),
            _ => None,
        }
        .map(Value::Double)
        .ok_or_else(|| no_overload("%", &[a, b])),
        _ => Err(no_overload(operator.spelling(), &[a, b])),
    }
}

/// `+` on texts, bytes and lists. Copies are paid for before they are made.
fn concatenate<'a>(a: &Value<'a>, b: &Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    if let (Some(x), Some(y)) = (a.as_text(), b.as_text()) {
        fuel.spend_bytes(x.len() + y.len())?;
        return Ok(Value::text([x, y].concat()));
    }
    match (a, b) {
        (Value::Bytes(x), Value::Bytes(y)) => {
            fuel.spend_bytes(x.len() + y.len())?;
            Ok(Value::Bytes([&**x, &**y].concat().into()))
        }
        _ if a.kind() == ValueKind::List && b.kind() == ValueKind::List => {
            fuel.spend_elements(a.count().unwrap_or(0) + b.count().unwrap_or(0))?;
            let items: Rc<[_]> = a
                .members()
                .into_iter()
                .flatten()
                .chain(b.members().into_iter().flatten())
                .collect();
            Ok(Value::OwnedList(items))
        }
        _ => Err(no_overload("+", &[a, b])),
    }
}

/// `-value`.
pub(crate) fn negate<'a>(value: &Value<'a>) -> Evaluated<'a> {
    match value {
        Value::Int(x) => x.checked_neg().map(Value::Int).ok_or_else(|| {
            EvalError::new(
                EvalErrorKind::Arithmetic,
                format!("-({x}) does not fit into 64 bits"),
            )
        }),
        Value::Double(x) => Ok(Value::Double(-x)),
        other => Err(no_overload("-", &[other])),
    }
}

/// `value in list` or `key in map`.
fn member<'a>(value: &Value<'a>, of: &Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match of.kind() {
        // A value that no map can have as a key is a mistake and not an absence: `!(input.a in {…})` must not allow by it.
        ValueKind::Map if !value.kind().can_be_looked_up() => Err(no_overload("in", &[value, of])),
        ValueKind::Map => Ok(Value::Bool(of.entry(value, fuel)?.is_some())),
        ValueKind::List => {
            for item in of.members().into_iter().flatten() {
                if value.equals(&item, fuel)? {
                    return Ok(Value::Bool(true));
                }
            }
            Ok(Value::Bool(false))
        }
        _ => Err(no_overload("in", &[value, of])),
    }
}

/// `of[at]`.
pub(crate) fn index<'a>(of: &Value<'a>, at: &Value<'a>, fuel: &mut Fuel) -> Evaluated<'a> {
    match of.kind() {
        ValueKind::List => {
            let position = match at {
                Value::Int(at) => usize::try_from(*at).ok(),
                Value::Uint(at) => usize::try_from(*at).ok(),
                // Numbers are one line for indexing, as for comparison: 1.0 is the second element, 1.5 is none.
                Value::Double(at) if at.trunc() == *at && (0.0..9e15).contains(at) => Some(*at as usize),
                Value::Double(_) => None,
                other => return Err(no_overload("[]", &[of, other])),
            };
            position.and_then(|position| of.element(position)).ok_or_else(|| {
                let count = of.count().unwrap_or(0);
                EvalError::new(
                    EvalErrorKind::OutOfRange,
                    format!("there is no element {at} in a list of {count}"),
                )
            })
        }
        ValueKind::Map => of
            .entry(at, fuel)?
            .ok_or_else(|| EvalError::new(EvalErrorKind::NoSuchKey, format!("there is no key {at}"))),
        _ => Err(no_overload("[]", &[of, at])),
    }
}
