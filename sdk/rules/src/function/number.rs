//! Numbers: comparing them, and arithmetic as CLIPS does it.

use super::{Failure, Function, shown};
use crate::value::Value;

#[derive(Debug, Clone, Copy)]
pub(super) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    pub(super) fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Floats are finite, so there always is an order. Both zeros are the same number.
    pub(super) fn order(self, other: Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (a, b) => {
                let order = a.float().partial_cmp(&b.float());
                order.unwrap_or(std::cmp::Ordering::Equal)
            }
        }
    }
}

pub(super) fn number(function: Function, value: &Value) -> Result<Number, Failure> {
    match value {
        Value::Integer(value) => Ok(Number::Integer(*value)),
        Value::Float(value) => Ok(Number::Float(*value)),
        other => Err(Failure::Error(format!(
            "`{}` takes numbers, not {} {}",
            function.name(),
            other.kind(),
            shown(other)
        ))),
    }
}

/// Whether the numbers stand to each other as the function says: each to the next, or for `=` and `<>` the first to each. As in
/// CLIPS, what stands behind the pair that decides is not looked at.
pub(super) fn compared(function: Function, values: &[&Value]) -> Result<bool, Failure> {
    let holds = |a: &Value, b: &Value| -> Result<bool, Failure> {
        let order = number(function, a)?.order(number(function, b)?);
        Ok(match function {
            Function::Equal => order.is_eq(),
            Function::Unequal => order.is_ne(),
            Function::Less => order.is_lt(),
            Function::LessEqual => order.is_le(),
            Function::Greater => order.is_gt(),
            _ => order.is_ge(),
        })
    };
    let [first, rest @ ..] = values else {
        return Ok(true);
    };
    let mut before = first;
    for value in rest {
        if !holds(before, value)? {
            return Ok(false);
        }
        if !matches!(function, Function::Equal | Function::Unequal) {
            before = value;
        }
    }
    Ok(true)
}

pub(super) fn overflow(function: Function) -> Failure {
    Failure::Error(format!(
        "the result of `{}` does not fit into a number",
        function.name()
    ))
}

pub(super) fn finite(function: Function, value: f64) -> Result<Value, Failure> {
    Value::float(value).ok_or_else(|| overflow(function))
}

fn zero(function: Function) -> Failure {
    Failure::Error(format!("`{}` divides by zero", function.name()))
}

/// From left to right; integers stay integers until a float comes, and `/` always makes floats, as in CLIPS.
pub(super) fn fold(function: Function, values: &[&Value]) -> Result<Value, Failure> {
    // A wrong type is an error before any overflow is.
    for value in values {
        number(function, value)?;
    }
    let [first, rest @ ..] = values else {
        return Ok(Value::Integer(0));
    };
    let mut total = number(function, first)?;
    if function == Function::Divide {
        total = Number::Float(total.float());
    }
    for next in rest {
        total = match (function, total, number(function, next)?) {
            (Function::Quotient, a, b) => {
                let whole = |number: Number| match number {
                    Number::Integer(value) => Some(value),
                    Number::Float(value) => (value.abs() < 9.2e18).then_some(value.trunc() as i64),
                };
                let (a, b) = (
                    whole(a).ok_or_else(|| overflow(function))?,
                    whole(b).ok_or_else(|| overflow(function))?,
                );
                if b == 0 {
                    return Err(zero(function));
                }
                Number::Integer(a.checked_div(b).ok_or_else(|| overflow(function))?)
            }
            (Function::Divide, a, b) => {
                if b.float() == 0.0 {
                    return Err(zero(function));
                }
                Number::Float(a.float() / b.float())
            }
            (_, Number::Integer(a), Number::Integer(b)) => Number::Integer(
                match function {
                    Function::Add => a.checked_add(b),
                    Function::Subtract => a.checked_sub(b),
                    _ => a.checked_mul(b),
                }
                .ok_or_else(|| overflow(function))?,
            ),
            (_, a, b) => Number::Float(match function {
                Function::Add => a.float() + b.float(),
                Function::Subtract => a.float() - b.float(),
                _ => a.float() * b.float(),
            }),
        };
    }
    match total {
        Number::Integer(value) => Ok(Value::Integer(value)),
        Number::Float(value) => finite(function, value),
    }
}

pub(super) fn remainder(a: &Value, b: &Value) -> Result<Value, Failure> {
    let function = Function::Remainder;
    match (number(function, a)?, number(function, b)?) {
        (_, Number::Integer(0)) => Err(zero(function)),
        (_, Number::Float(0.0)) => Err(zero(function)),
        (Number::Integer(a), Number::Integer(b)) => a
            .checked_rem(b)
            .map(Value::Integer)
            .ok_or_else(|| overflow(function)),
        // Not `%`, which is exact: CLIPS divides and rounds.
        (a, b) => {
            let (a, b) = (a.float(), b.float());
            finite(function, a - (a / b).trunc() * b)
        }
    }
}

/// A power is a float. What has none in CLIPS is an error: nothing to the power of nothing or less, and roots of what is negative.
pub(super) fn power(a: &Value, b: &Value) -> Result<Value, Failure> {
    let function = Function::Power;
    let (base, exponent) = (number(function, a)?.float(), number(function, b)?.float());
    if (base == 0.0 && exponent <= 0.0) || (base < 0.0 && exponent.trunc() != exponent) {
        return Err(Failure::Error(format!(
            "`{}` has no value for {base} and {exponent}",
            function.name()
        )));
    }
    finite(function, base.powf(exponent))
}
