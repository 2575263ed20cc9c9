//! The functions of the language: pure, total, bounded. To add one: a row in [`TABLE`] and an arm in [`call`].

mod number;
mod pattern;
#[cfg(test)]
mod tests;

pub(crate) use pattern::Pattern;

use crate::budget::{Exhausted, Meter};
use crate::shared::Text;
use crate::value::{Value, float_text, push_integer};
use number::{Number, compared, finite, fold, number, overflow, power, remainder};
use pattern::luhn;

/// Why an expression has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Failure {
    /// A budget is spent: the evaluation as a whole ends.
    Exhausted(Exhausted),
    /// A wrong type, an overflow and the like.
    Error(String),
}

impl From<Exhausted> for Failure {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Function {
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Same,
    Different,
    /// What a constraint of a field says, `red` or `?x`. It means the same as `eq`; the network does not take one for the other,
    /// as CLIPS does not, so that what they share is the same.
    Is,
    IsNot,
    And,
    Or,
    Not,
    Add,
    Subtract,
    Multiply,
    Divide,
    Quotient,
    Remainder,
    Power,
    Absolute,
    Minimum,
    Maximum,
    IsNumber,
    IsInteger,
    IsFloat,
    IsSymbol,
    IsString,
    IsLexeme,
    Concatenate,
    Length,
    Index,
    Part,
    Upper,
    Lower,
    Member,
    Count,
    Nth,
    Matches,
    Luhn,
    LuhnMatches,
}

/// Name, function, fewest and most arguments.
const TABLE: [(&str, Function, usize, usize); 40] = [
    ("=", Function::Equal, 2, MANY),
    ("<>", Function::Unequal, 2, MANY),
    ("<", Function::Less, 2, MANY),
    ("<=", Function::LessEqual, 2, MANY),
    (">", Function::Greater, 2, MANY),
    (">=", Function::GreaterEqual, 2, MANY),
    ("eq", Function::Same, 2, MANY),
    ("neq", Function::Different, 2, MANY),
    ("and", Function::And, 2, MANY),
    ("or", Function::Or, 2, MANY),
    ("not", Function::Not, 1, 1),
    ("+", Function::Add, 2, MANY),
    ("-", Function::Subtract, 2, MANY),
    ("*", Function::Multiply, 2, MANY),
    ("/", Function::Divide, 2, MANY),
    ("div", Function::Quotient, 2, MANY),
    ("mod", Function::Remainder, 2, 2),
    ("**", Function::Power, 2, 2),
    ("abs", Function::Absolute, 1, 1),
    ("min", Function::Minimum, 1, MANY),
    ("max", Function::Maximum, 1, MANY),
    ("numberp", Function::IsNumber, 1, 1),
    ("integerp", Function::IsInteger, 1, 1),
    ("floatp", Function::IsFloat, 1, 1),
    ("symbolp", Function::IsSymbol, 1, 1),
    ("stringp", Function::IsString, 1, 1),
    ("lexemep", Function::IsLexeme, 1, 1),
    ("str-cat", Function::Concatenate, 1, MANY),
    ("str-length", Function::Length, 1, 1),
    ("str-index", Function::Index, 2, 2),
    ("sub-string", Function::Part, 3, 3),
    ("upcase", Function::Upper, 1, 1),
    ("lowcase", Function::Lower, 1, 1),
    ("member$", Function::Member, 2, 2),
    ("length$", Function::Count, 1, 1),
    ("nth$", Function::Nth, 2, 2),
    // The text first, then the pattern.
    ("matches", Function::Matches, 2, 2),
    ("fathom-matches", Function::Matches, 2, 2),
    // Whether the digits of a text end in the right check digit, as those of payment cards do.
    ("luhn", Function::Luhn, 1, 1),
    // Whether any match of the pattern in the text does.
    ("luhn-matches", Function::LuhnMatches, 2, 2),
];

const MANY: usize = 64;

/// Longest text that a function makes.
const LONGEST: usize = 64 * 1024;

impl Function {
    pub(crate) fn parse(name: &str) -> Option<(Self, usize, usize)> {
        TABLE
            .iter()
            .find(|row| row.0 == name)
            .map(|row| (row.1, row.2, row.3))
    }

    pub(crate) fn name(self) -> &'static str {
        TABLE.iter().find(|row| row.1 == self).map_or("", |row| row.0)
    }

    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.0)
    }
}

/// Applies a function to its arguments.
pub(crate) fn call(function: Function, arguments: &[&Value], meter: &mut Meter) -> Result<Value, Failure> {
    // A call takes as long as about four steps of a join.
    meter.spend(4)?;
    let error = |message: String| Failure::Error(message);
    let boolean = |value: bool| Ok(Value::boolean(value));
    match (function, arguments) {
        (
            Function::Equal
            | Function::Unequal
            | Function::Less
            | Function::LessEqual
            | Function::Greater
            | Function::GreaterEqual,
            _,
        ) => boolean(compared(function, arguments)?),
        (Function::Is | Function::Same, [first, rest @ ..]) => {
            boolean(rest.iter().all(|value| value == first))
        }
        (Function::IsNot | Function::Different, [first, rest @ ..]) => {
            boolean(rest.iter().all(|value| value != first))
        }
        (Function::And, _) => boolean(arguments.iter().all(|value| value.is_true())),
        (Function::Or, _) => boolean(arguments.iter().any(|value| value.is_true())),
        (Function::Not, [value]) => boolean(!value.is_true()),
        (
            Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Quotient,
            _,
        ) => fold(function, arguments),
        (Function::Remainder, [a, b]) => remainder(a, b),
        (Function::Power, [a, b]) => power(a, b),
        (Function::Absolute, [value]) => match number(function, value)? {
            Number::Integer(value) => value
                .checked_abs()
                .map(Value::Integer)
                .ok_or_else(|| overflow(function)),
            // Minus zero is not less than zero.
            Number::Float(float) if float < 0.0 => finite(function, -float),
            Number::Float(_) => Ok((*value).clone()),
        },
        (Function::Minimum | Function::Maximum, [first, rest @ ..]) => {
            let mut best = (number(function, first)?, *first);
            for value in rest {
                let value = *value;
                let candidate = number(function, value)?;
                let better = match function {
                    Function::Minimum => candidate.order(best.0).is_lt(),
                    _ => candidate.order(best.0).is_gt(),
                };
                if better {
                    best = (candidate, value);
                }
            }
            Ok(best.1.clone())
        }
        (Function::IsNumber, [value]) => boolean(matches!(value, Value::Integer(_) | Value::Float(_))),
        (Function::IsInteger, [value]) => boolean(matches!(value, Value::Integer(_))),
        (Function::IsFloat, [value]) => boolean(matches!(value, Value::Float(_))),
        (Function::IsSymbol, [value]) => boolean(matches!(value, Value::Symbol(_))),
        (Function::IsString, [value]) => boolean(matches!(value, Value::String(_))),
        (Function::IsLexeme, [value]) => boolean(value.lexeme().is_some()),
        (Function::Concatenate, _) => concatenate(arguments, meter),
        (Function::Length, [text]) => {
            let text = lexeme(function, text)?;
            meter.spend_bytes(text.len())?;
            Ok(Value::Integer(
                i64::try_from(text.chars().count()).unwrap_or(i64::MAX),
            ))
        }
        (Function::Index, [part, text]) => {
            let (part, text) = (lexeme(function, part)?, lexeme(function, text)?);
            meter.spend_bytes(part.len() + text.len())?;
            Ok(match text.find(part) {
                Some(at) => position(text.get(..at).unwrap_or("").chars().count() + 1),
                None => Value::boolean(false),
            })
        }
        (Function::Part, [from, to, text]) => {
            let (from, to) = (integer(function, from)?.max(1), integer(function, to)?);
            let text = lexeme(function, text)?;
            meter.spend_bytes(text.len())?;
            let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
            let count = usize::try_from(to.saturating_sub(from).saturating_add(1)).unwrap_or(0);
            Ok(Value::string(
                &text.chars().skip(skip).take(count).collect::<String>(),
            ))
        }
        (Function::Upper | Function::Lower, [value]) => {
            let text = lexeme(function, value)?;
            meter.spend_bytes(text.len())?;
            let changed: Text = match function {
                Function::Upper => text.to_ascii_uppercase().into(),
                _ => text.to_ascii_lowercase().into(),
            };
            Ok(if matches!(value, Value::Symbol(_)) {
                Value::Symbol(changed)
            } else {
                Value::String(changed)
            })
        }
        (Function::Member, [value, values]) => {
            let values = several(function, values)?;
            meter.spend(u64::try_from(values.len()).unwrap_or(u64::MAX))?;
            Ok(match values.iter().position(|candidate| candidate == *value) {
                Some(at) => position(at + 1),
                None => Value::boolean(false),
            })
        }
        (Function::Count, [values]) => Ok(position(several(function, values)?.len())),
        (Function::Nth, [at, values]) => {
            let at = integer(function, at)?;
            let found = usize::try_from(at).ok().and_then(|at| at.checked_sub(1));
            let values = several(function, values)?;
            Ok(found
                .and_then(|at| values.get(at))
                .cloned()
                .unwrap_or_else(|| Value::symbol("nil")))
        }
        (Function::Luhn, [text]) => {
            let text = lexeme(function, text)?;
            meter.spend_bytes(text.len())?;
            boolean(luhn(text))
        }
        (Function::LuhnMatches, [text, pattern]) => {
            let (text, pattern) = (lexeme(function, text)?, lexeme(function, pattern)?);
            meter.spend(2000 + u64::try_from(pattern.len()).unwrap_or(u64::MAX))?;
            boolean(Pattern::compile(pattern)?.is_luhn_match(text, meter)?)
        }
        (Function::Matches, [text, pattern]) => {
            let (text, pattern) = (lexeme(function, text)?, lexeme(function, pattern)?);
            meter.spend(2000 + u64::try_from(pattern.len()).unwrap_or(u64::MAX))?;
            Ok(Value::boolean(Pattern::compile(pattern)?.is_match(text, meter)?))
        }
        _ => Err(error(format!(
            "`{}` does not take {} arguments",
            function.name(),
            arguments.len()
        ))),
    }
}

fn concatenate(values: &[&Value], meter: &mut Meter) -> Result<Value, Failure> {
    let mut text = String::with_capacity(64);
    for value in values {
        match value {
            Value::Symbol(part) | Value::String(part) => {
                meter.spend_bytes(part.len())?;
                text.push_str(part);
            }
            Value::Integer(value) => push_integer(&mut text, *value),
            Value::Float(value) => text.push_str(&float_text(*value)),
            other => {
                return Err(Failure::Error(format!(
                    "`str-cat` does not take {}",
                    other.kind()
                )));
            }
        }
        if text.len() > LONGEST {
            return Err(Exhausted::Text(LONGEST).into());
        }
    }
    Ok(Value::String(text.into()))
}

fn position(at: usize) -> Value {
    Value::Integer(i64::try_from(at).unwrap_or(i64::MAX))
}

fn lexeme(function: Function, value: &Value) -> Result<&str, Failure> {
    value.lexeme().ok_or_else(|| {
        Failure::Error(format!(
            "`{}` takes a text, not {} {}",
            function.name(),
            value.kind(),
            shown(value)
        ))
    })
}

fn integer(function: Function, value: &Value) -> Result<i64, Failure> {
    match value {
        Value::Integer(value) => Ok(*value),
        other => Err(Failure::Error(format!(
            "`{}` takes an integer, not {} {}",
            function.name(),
            other.kind(),
            shown(other)
        ))),
    }
}

fn several(function: Function, value: &Value) -> Result<&[Value], Failure> {
    match value {
        Value::Multifield(values) => Ok(values),
        other => Err(Failure::Error(format!(
            "`{}` takes several values ($?x), not {}",
            function.name(),
            other.kind()
        ))),
    }
}

fn shown(value: &Value) -> String {
    shortened(&value.to_string())
}

fn shortened(text: &str) -> String {
    if text.chars().nth(60).is_some() {
        text.chars().take(60).chain(['…']).collect()
    } else {
        text.to_owned()
    }
}
