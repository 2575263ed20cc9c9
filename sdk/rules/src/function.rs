//! The functions of the language: pure, total, bounded. To add one: a row in [`TABLE`] and an arm in [`call`].

use crate::budget::{Exhausted, Meter};
use crate::value::{Value, float_text};
use regex_lite::{Regex, RegexBuilder};
use std::sync::Arc;

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

/// A compiled regular expression and what it costs per byte of text.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Arc<Regex>,
    weight: u64,
}

impl Pattern {
    /// Compiles with the smallest of three sizes that suffices: the size says what a byte of text can cost.
    pub(crate) fn compile(text: &str) -> Result<Self, String> {
        let mut last = String::new();
        for (size, weight) in [(2 * 1024, 4), (8 * 1024, 16), (32 * 1024, 64)] {
            match RegexBuilder::new(text).size_limit(size).build() {
                Ok(regex) => {
                    return Ok(Self {
                        regex: Arc::new(regex),
                        weight,
                    });
                }
                Err(error) => last = error.to_string(),
            }
        }
        Err(format!(
            "{:?} is no regular expression that can be used: {last}",
            shortened(text)
        ))
    }

    pub(crate) fn is_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        meter.spend(
            u64::try_from(text.len())
                .unwrap_or(u64::MAX)
                .saturating_mul(self.weight),
        )?;
        Ok(self.regex.is_match(text))
    }

    pub(crate) fn is_luhn_match(&self, text: &str, meter: &mut Meter) -> Result<bool, Failure> {
        // Every match is looked at; matches do not overlap, so that is the price of one pass, and of another for the digits.
        meter.spend(
            u64::try_from(text.len())
                .unwrap_or(u64::MAX)
                .saturating_mul(self.weight + 1),
        )?;
        Ok(self.regex.find_iter(text).any(|found| luhn(found.as_str())))
    }
}

/// The check digit of ISO/IEC 7812: from the right, every second digit counts double. What is not a digit is not looked at.
fn luhn(text: &str) -> bool {
    let digits = text.bytes().rev().filter(u8::is_ascii_digit);
    let mut count = 0_u64;
    let mut sum = 0_u64;
    for digit in digits {
        let value = u64::from(digit - b'0') * if count % 2 == 1 { 2 } else { 1 };
        sum += if value > 9 { value - 9 } else { value };
        count += 1;
    }
    count > 1 && sum.is_multiple_of(10)
}

/// Applies a function to its arguments.
pub(crate) fn call(function: Function, arguments: &[Value], meter: &mut Meter) -> Result<Value, Failure> {
    // A call takes as long as about four steps of a join.
    meter.spend(4)?;
    let error = |message: String| Failure::Error(message);
    let boolean = |value: bool| Ok(Value::boolean(value));
    match (function, arguments) {
        (Function::Equal, _) => boolean(against_first(function, arguments)?.all(|order| order.is_eq())),
        (Function::Unequal, _) => boolean(against_first(function, arguments)?.all(|order| order.is_ne())),
        (Function::Less, _) => boolean(neighbours(function, arguments)?.all(|order| order.is_lt())),
        (Function::LessEqual, _) => boolean(neighbours(function, arguments)?.all(|order| order.is_le())),
        (Function::Greater, _) => boolean(neighbours(function, arguments)?.all(|order| order.is_gt())),
        (Function::GreaterEqual, _) => boolean(neighbours(function, arguments)?.all(|order| order.is_ge())),
        (Function::Same, [first, rest @ ..]) => boolean(rest.iter().all(|value| value == first)),
        (Function::Different, [first, rest @ ..]) => boolean(rest.iter().all(|value| value != first)),
        (Function::And, _) => boolean(arguments.iter().all(Value::is_true)),
        (Function::Or, _) => boolean(arguments.iter().any(Value::is_true)),
        (Function::Not, [value]) => boolean(!value.is_true()),
        (
            Function::Add | Function::Subtract | Function::Multiply | Function::Divide | Function::Quotient,
            _,
        ) => fold(function, arguments),
        (Function::Remainder, [a, b]) => remainder(a, b),
        (Function::Power, [a, b]) => finite(
            function,
            number(function, a)?.float().powf(number(function, b)?.float()),
        ),
        (Function::Absolute, [value]) => match number(function, value)? {
            Number::Integer(value) => value
                .checked_abs()
                .map(Value::Integer)
                .ok_or_else(|| overflow(function)),
            Number::Float(value) => finite(function, value.abs()),
        },
        (Function::Minimum | Function::Maximum, [first, rest @ ..]) => {
            let mut best = (number(function, first)?, first);
            for value in rest {
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
            let changed: Arc<str> = match function {
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
            Ok(match values.iter().position(|candidate| candidate == value) {
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
            boolean(
                Pattern::compile(pattern)
                    .map_err(error)?
                    .is_luhn_match(text, meter)?,
            )
        }
        (Function::Matches, [text, pattern]) => {
            let (text, pattern) = (lexeme(function, text)?, lexeme(function, pattern)?);
            meter.spend(2000 + u64::try_from(pattern.len()).unwrap_or(u64::MAX))?;
            Ok(Value::boolean(
                Pattern::compile(pattern).map_err(error)?.is_match(text, meter)?,
            ))
        }
        _ => Err(error(format!(
            "`{}` does not take {} arguments",
            function.name(),
            arguments.len()
        ))),
    }
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            Self::Integer(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    /// Floats are finite, so there always is an order.
    fn order(self, other: Self) -> std::cmp::Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (a, b) => a.float().total_cmp(&b.float()),
        }
    }
}

fn number(function: Function, value: &Value) -> Result<Number, Failure> {
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

fn numbers(function: Function, values: &[Value]) -> Result<Vec<Number>, Failure> {
    values.iter().map(|value| number(function, value)).collect()
}

fn neighbours(
    function: Function,
    values: &[Value],
) -> Result<impl Iterator<Item = std::cmp::Ordering>, Failure> {
    let numbers = numbers(function, values)?;
    let next = numbers.clone().into_iter().skip(1);
    Ok(numbers.into_iter().zip(next).map(|(a, b)| a.order(b)))
}

fn against_first(
    function: Function,
    values: &[Value],
) -> Result<impl Iterator<Item = std::cmp::Ordering>, Failure> {
    let numbers = numbers(function, values)?;
    let first = numbers.first().copied().unwrap_or(Number::Integer(0));
    Ok(numbers.into_iter().skip(1).map(move |value| first.order(value)))
}

fn overflow(function: Function) -> Failure {
    Failure::Error(format!(
        "the result of `{}` does not fit into a number",
        function.name()
    ))
}

fn finite(function: Function, value: f64) -> Result<Value, Failure> {
    Value::float(value).ok_or_else(|| overflow(function))
}

fn zero(function: Function) -> Failure {
    Failure::Error(format!("`{}` divides by zero", function.name()))
}

/// From left to right; integers stay integers until a float comes, and `/` always makes floats, as in CLIPS.
fn fold(function: Function, values: &[Value]) -> Result<Value, Failure> {
    let numbers = numbers(function, values)?;
    let mut numbers = numbers.into_iter();
    let mut total = numbers.next().unwrap_or(Number::Integer(0));
    if function == Function::Divide {
        total = Number::Float(total.float());
    }
    for next in numbers {
        total = match (function, total, next) {
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

fn remainder(a: &Value, b: &Value) -> Result<Value, Failure> {
    let function = Function::Remainder;
    match (number(function, a)?, number(function, b)?) {
        (_, Number::Integer(0)) => Err(zero(function)),
        (_, Number::Float(0.0)) => Err(zero(function)),
        (Number::Integer(a), Number::Integer(b)) => Ok(Value::Integer(a.checked_rem(b).unwrap_or(0))),
        (a, b) => finite(function, a.float() % b.float()),
    }
}

fn concatenate(values: &[Value], meter: &mut Meter) -> Result<Value, Failure> {
    let mut text = String::new();
    for value in values {
        match value {
            Value::Symbol(part) | Value::String(part) => {
                meter.spend_bytes(part.len())?;
                text.push_str(part);
            }
            Value::Integer(value) => text.push_str(&value.to_string()),
            Value::Float(value) => text.push_str(&float_text(*value)),
            other => {
                return Err(Failure::Error(format!(
                    "`str-cat` does not take {}",
                    other.kind()
                )));
            }
        }
        if text.len() > LONGEST {
            return Err(Failure::Error(format!("`str-cat` makes {LONGEST} bytes at most")));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::expression::{self, Scope};
    use crate::reader::{TextLimits, read};

    fn evaluate(text: &str) -> Result<Value, Failure> {
        let forms = read(text, TextLimits::WHEN).unwrap();
        let expression = expression::compile(&forms[0], &Scope::default()).unwrap();
        expression.evaluate(&[], &mut Meter::new(Budget::default()))
    }

    /// The results are those of CLIPS 6.40.
    #[test]
    fn functions_answer_as_clips_does() {
        for (text, wanted) in [
            ("(/ 4 2)", "2.0"),
            ("(/ 7 2)", "3.5"),
            ("(div 7 2)", "3"),
            ("(div 7.5 2)", "3"),
            ("(div -7 2)", "-3"),
            ("(div 7 2 2)", "1"),
            ("(mod -7 2)", "-1"),
            ("(mod 7.5 2)", "1.5"),
            ("(** 2 3)", "8.0"),
            ("(+ 1 2.0)", "3.0"),
            ("(+ 1 2 3)", "6"),
            ("(- 5 1)", "4"),
            ("(* 2 3)", "6"),
            ("(abs -3)", "3"),
            ("(min 1 2.0)", "1"),
            ("(max 1 1.0)", "1"),
            ("(= 1 1.0)", "TRUE"),
            ("(= 1 1 2)", "FALSE"),
            ("(<> 1 2 1)", "FALSE"),
            ("(< 1 2 3)", "TRUE"),
            ("(> 3 2 2)", "FALSE"),
            ("(eq 1 1.0)", "FALSE"),
            ("(eq a a a)", "TRUE"),
            ("(eq a \"a\")", "FALSE"),
            ("(neq a b a)", "FALSE"),
            ("(str-cat a \"b\" 1 2.5 1.0 1e20)", "\"ab12.51.01e+20\""),
            ("(str-length \"héé\")", "3"),
            ("(str-index \"b\" \"abc\")", "2"),
            ("(str-index \"z\" \"abc\")", "FALSE"),
            ("(str-index \"\" \"abc\")", "1"),
            ("(sub-string 2 3 \"abcd\")", "\"bc\""),
            ("(sub-string 3 2 \"abcd\")", "\"\""),
            ("(sub-string 0 9 \"abcd\")", "\"abcd\""),
            ("(upcase abc)", "ABC"),
            ("(lowcase \"ABC\")", "\"abc\""),
            ("(not a)", "FALSE"),
            ("(and a b)", "TRUE"),
            ("(or FALSE a)", "TRUE"),
            ("(numberp 1)", "TRUE"),
            ("(lexemep \"a\")", "TRUE"),
            ("(symbolp TRUE)", "TRUE"),
            ("(integerp 1.0)", "FALSE"),
            (
                "(matches \"123-45-6789\" \"^\\\\d{3}-\\\\d{2}-\\\\d{4}$\")",
                "TRUE",
            ),
            ("(fathom-matches abc \"^b\")", "FALSE"),
        ] {
            assert_eq!(
                evaluate(text).map(|value| value.to_string()),
                Ok(wanted.to_owned()),
                "{text}"
            );
        }
    }

    #[test]
    fn wrong_types_and_overflows_are_errors() {
        for text in [
            "(+ 1 a)",
            "(< \"1\" 2)",
            "(/ 1 0)",
            "(mod 5 0)",
            "(div 5 0)",
            "(** 0 -1)",
            "(+ 9223372036854775807 1)",
            "(abs -9223372036854775808)",
            "(** 10 400)",
            "(length$ abc)",
            "(str-length 5)",
            "(matches 5 \"a\")",
        ] {
            assert!(
                matches!(evaluate(text), Err(Failure::Error(_))),
                "{text}: {:?}",
                evaluate(text)
            );
        }
    }
}
