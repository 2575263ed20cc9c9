//! Keywords that look at one value: type, enum, const, and the bounds of numbers, strings, lists and objects.

use super::checker::{Checker, Place, bad_schema};
use crate::pointer;
use mizzen_sdk::{Map, ToolError, Value};

/// Values in messages are cut to this many characters.
const SHOWN: usize = 60;

pub(super) fn check<'a>(
    checker: &mut Checker<'a>,
    keywords: &'a Map<String, Value>,
    place: Place<'_>,
) -> Result<(), ToolError> {
    for (keyword, stated) in keywords {
        let at = || pointer::field(place.schema_path, keyword);
        let problem = match (keyword.as_str(), place.value) {
            ("type", value) => type_problem(stated, value, &at())?,
            ("const", value) => (!equal(stated, value)).then(|| format!("expected {}", shown(stated))),
            ("enum", value) => {
                let allowed = stated
                    .as_array()
                    .ok_or_else(|| bad_schema(&at(), "expected a list"))?;
                let known = allowed.iter().any(|allowed| equal(allowed, value));
                (!known).then(|| format!("{} is none of {}", shown(value), shown(stated)))
            }
            ("minimum", Value::Number(_)) => {
                bound(stated, place.value, &at(), |value, limit| value < limit, "below")?
            }
            ("maximum", Value::Number(_)) => {
                bound(stated, place.value, &at(), |value, limit| value > limit, "above")?
            }
            ("exclusiveMinimum", Value::Number(_)) => bound(
                stated,
                place.value,
                &at(),
                |value, limit| value <= limit,
                "not above",
            )?,
            ("exclusiveMaximum", Value::Number(_)) => bound(
                stated,
                place.value,
                &at(),
                |value, limit| value >= limit,
                "not below",
            )?,
            ("multipleOf", Value::Number(_)) => {
                let step = number(stated, &at())?;
                if step <= 0.0 {
                    return Err(bad_schema(&at(), "expected a number above 0"));
                }
                (!is_multiple(place.value, stated, step))
                    .then(|| format!("{} is no multiple of {stated}", place.value))
            }
            ("minLength", Value::String(text)) => {
                at_least(text.chars().count(), count(stated, &at())?, "characters")
            }
            ("maxLength", Value::String(text)) => {
                at_most(text.chars().count(), count(stated, &at())?, "characters")
            }
            ("pattern", Value::String(text)) => {
                let pattern = stated
                    .as_str()
                    .ok_or_else(|| bad_schema(&at(), "expected a string"))?;
                (!checker.matches(pattern, text, &at())?).then(|| format!("does not match {}", shown(stated)))
            }
            ("minItems", Value::Array(items)) => at_least(items.len(), count(stated, &at())?, "items"),
            ("maxItems", Value::Array(items)) => at_most(items.len(), count(stated, &at())?, "items"),
            ("uniqueItems", Value::Array(items)) if stated == &Value::Bool(true) => duplicate(items),
            ("minProperties", Value::Object(fields)) => {
                at_least(fields.len(), count(stated, &at())?, "fields")
            }
            ("maxProperties", Value::Object(fields)) => {
                at_most(fields.len(), count(stated, &at())?, "fields")
            }
            ("required", Value::Object(fields)) => {
                for name in names(stated, &at())? {
                    if !fields.contains_key(name) {
                        checker.report(place.problem(keyword, format!("`{name}` is missing")));
                    }
                }
                None
            }
            ("dependentRequired", Value::Object(fields)) => {
                let rules = stated
                    .as_object()
                    .ok_or_else(|| bad_schema(&at(), "expected an object"))?;
                for (field, needed) in rules.iter().filter(|(field, _)| fields.contains_key(*field)) {
                    for name in names(needed, &at())? {
                        if !fields.contains_key(name) {
                            checker.report(
                                place.problem(keyword, format!("`{field}` needs `{name}`, which is missing")),
                            );
                        }
                    }
                }
                None
            }
            _ => None,
        };
        if let Some(message) = problem {
            checker.report(place.problem(keyword, message));
        }
    }
    Ok(())
}

fn type_problem(stated: &Value, value: &Value, at: &str) -> Result<Option<String>, ToolError> {
    let one = std::slice::from_ref(stated);
    let types = stated.as_array().map_or(one, Vec::as_slice);
    let mut wanted = Vec::new();
    for name in types {
        let name = name.as_str().unwrap_or_default();
        let fits = match name {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => is_integer(value),
            _ => {
                return Err(bad_schema(
                    at,
                    "expected null, boolean, object, array, string, number or integer",
                ));
            }
        };
        if fits {
            return Ok(None);
        }
        wanted.push(name);
    }
    Ok(Some(format!(
        "expected {}, found {}",
        wanted.join(" or "),
        type_name(value)
    )))
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) if is_integer(value) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn is_integer(value: &Value) -> bool {
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|number| number.fract() == 0.0)
}

/// JSON Schema's equality: 1 and 1.0 are the same number. Recursion is bounded by the reader's nesting limit.
fn equal(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Number(a), Value::Number(b)) => {
            a == b || (a.is_f64() != b.is_f64() && a.as_f64() == b.as_f64())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => left == right,
    }
}

fn number(value: &Value, at: &str) -> Result<f64, ToolError> {
    value.as_f64().ok_or_else(|| bad_schema(at, "expected a number"))
}

fn count(value: &Value, at: &str) -> Result<usize, ToolError> {
    let whole = value
        .as_f64()
        .filter(|count| count.fract() == 0.0 && *count >= 0.0 && *count < 9e15);
    // Bounded just above, so that the conversion is exact.
    whole
        .map(|count| count as usize)
        .ok_or_else(|| bad_schema(at, "expected a whole number, 0 or more"))
}

pub(super) fn names<'a>(value: &'a Value, at: &str) -> Result<Vec<&'a str>, ToolError> {
    let bad = || bad_schema(at, "expected a list of names");
    value
        .as_array()
        .ok_or_else(bad)?
        .iter()
        .map(|name| name.as_str().ok_or_else(bad))
        .collect()
}

fn bound(
    stated: &Value,
    value: &Value,
    at: &str,
    outside: fn(f64, f64) -> bool,
    word: &str,
) -> Result<Option<String>, ToolError> {
    let limit = number(stated, at)?;
    // Large whole numbers are compared as such: as doubles, neighbours above 2^53 look the same.
    let is_outside = match (value.as_i64().zip(stated.as_i64()), value.as_f64()) {
        (Some((value, limit)), _) => {
            let order = match value.cmp(&limit) {
                std::cmp::Ordering::Less => -1.0,
                std::cmp::Ordering::Equal => 0.0,
                std::cmp::Ordering::Greater => 1.0,
            };
            outside(order, 0.0)
        }
        (None, Some(value)) => outside(value, limit),
        (None, None) => false,
    };
    Ok(is_outside.then(|| format!("{value} is {word} {stated}")))
}

fn is_multiple(value: &Value, stated: &Value, step: f64) -> bool {
    if let Some((value, step)) = value.as_i64().zip(stated.as_i64()) {
        return value.checked_rem(step) == Some(0);
    }
    let Some(quotient) = value.as_f64().map(|value| value / step) else {
        return false;
    };
    // 0.3 / 0.1 is 2.9999999999999996.
    quotient.is_finite() && (quotient - quotient.round()).abs() <= 1e-9 * quotient.abs().max(1.0)
}

fn at_least(found: usize, least: usize, what: &str) -> Option<String> {
    (found < least).then(|| format!("{found} {what}, expected at least {least}"))
}

fn at_most(found: usize, most: usize, what: &str) -> Option<String> {
    (found > most).then(|| format!("{found} {what}, expected at most {most}"))
}

/// Sorted by their text first, so that a long list does not compare everything with everything. Numbers are written the same
/// way whichever way they were read.
fn duplicate(items: &[Value]) -> Option<String> {
    let mut texts: Vec<(String, usize)> = items
        .iter()
        .enumerate()
        .map(|(index, item)| (canonical(item), index))
        .collect();
    texts.sort();
    texts.windows(2).find_map(|pair| match pair {
        [(left, first), (right, second)] if left == right => {
            Some(format!("items {first} and {second} are equal"))
        }
        _ => None,
    })
}

fn canonical(value: &Value) -> String {
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            // Exact below 2^53, where whole doubles and integers can be equal.
            Some(double) if double.fract() == 0.0 && double.abs() < 9e15 => (double as i64).to_string(),
            _ => number.to_string(),
        },
        Value::Array(items) => format!("[{}]", items.iter().map(canonical).collect::<Vec<_>>().join(",")),
        Value::Object(fields) => {
            let mut fields: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}:{}", Value::from(name.as_str()), canonical(value)))
                .collect();
            fields.sort();
            format!("{{{}}}", fields.join(","))
        }
        other => other.to_string(),
    }
}

fn shown(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= SHOWN {
        text
    } else {
        text.chars().take(SHOWN).chain("…".chars()).collect()
    }
}
