//! To and from `serde_json::Value`, for the crates that speak it.

use super::{Builder, Event, Form, Integer, Json, Order, Walk, python_float, write_string};
use serde_json::{Map, Number, Value};
use std::fmt::Write as _;

/// A value is nested deeper than the other side can hold without risking its stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the value is nested deeper than {limit} levels: flatten it")]
pub struct TooDeep {
    /// The deepest nesting allowed.
    pub limit: usize,
}

/// `serde_json` drops, clones and compares by recursion; its own parser stops at this depth for the same reason.
const SERDE_DEPTH: usize = 128;

impl Json {
    /// As a `serde_json::Value`. Integers beyond 64 bits become the nearest float there, which is that library's own reading.
    pub fn to_serde(&self) -> Result<Value, TooDeep> {
        enum Frame {
            Array(Vec<Value>),
            Object(Map<String, Value>, String),
        }
        let mut open: Vec<Frame> = Vec::new();
        for event in Walk::new(self, Order::Insertion) {
            let value = match event {
                Event::BeginArray(_) | Event::BeginObject(_) if open.len() >= SERDE_DEPTH => {
                    return Err(TooDeep { limit: SERDE_DEPTH });
                }
                Event::BeginArray(_) => {
                    open.push(Frame::Array(Vec::new()));
                    continue;
                }
                Event::BeginObject(_) => {
                    open.push(Frame::Object(Map::new(), String::new()));
                    continue;
                }
                Event::Key(name) => {
                    if let Some(Frame::Object(_, key)) = open.last_mut() {
                        name.clone_into(key);
                    }
                    continue;
                }
                Event::Scalar(scalar) => scalar_to_serde(scalar),
                Event::End => match open.pop() {
                    Some(Frame::Array(items)) => Value::Array(items),
                    Some(Frame::Object(members, _)) => Value::Object(members),
                    None => Value::Null,
                },
            };
            match open.last_mut() {
                Some(Frame::Array(items)) => items.push(value),
                Some(Frame::Object(members, key)) => {
                    members.insert(std::mem::take(key), value);
                }
                None => return Ok(value),
            }
        }
        Ok(Value::Null)
    }

    /// From a `serde_json::Value`.
    pub fn from_serde(value: &Value) -> Json {
        enum Step<'v> {
            Value(&'v Value),
            Key(&'v str),
            End,
        }
        let mut builder = Builder::new();
        let mut steps = vec![Step::Value(value)];
        while let Some(step) = steps.pop() {
            match step {
                Step::End => builder.end(),
                Step::Key(key) => builder.key(key.to_owned()),
                Step::Value(Value::Null) => builder.value(Json::Null),
                Step::Value(Value::Bool(value)) => builder.value(Json::Bool(*value)),
                Step::Value(Value::String(text)) => builder.value(Json::String(text.clone())),
                Step::Value(Value::Number(number)) => builder.value(number_from_serde(number)),
                Step::Value(Value::Array(items)) => {
                    builder.begin_array(items.len());
                    steps.push(Step::End);
                    steps.extend(items.iter().rev().map(Step::Value));
                }
                Step::Value(Value::Object(members)) => {
                    builder.begin_object(members.len());
                    steps.push(Step::End);
                    for (key, value) in members.iter().rev() {
                        steps.push(Step::Value(value));
                        steps.push(Step::Key(key));
                    }
                }
            }
        }
        builder.finish()
    }
}

/// The canonical text of a `serde_json::Value`: the same bytes as [`Json::from_serde`] and [`Json::to_canonical`] give, without
/// the copy in between. Journals are written with it.
pub fn serde_to_canonical(value: &Value) -> String {
    let mut out = String::with_capacity(256);
    serde_write_canonical(value, &mut out);
    out
}

/// Appends that text to `out`.
pub fn serde_write_canonical(value: &Value, out: &mut String) {
    enum Step<'v> {
        Value(&'v Value),
        Member(&'v str, &'v Value),
        Comma,
        Text(&'static str),
    }
    // Most values are plain, and need no list of what is left to do.
    let mut first = Some(Step::Value(value));
    let mut steps = Vec::new();
    while let Some(step) = first.take().or_else(|| steps.pop()) {
        let value = match step {
            Step::Comma => {
                out.push(',');
                continue;
            }
            Step::Text(text) => {
                out.push_str(text);
                continue;
            }
            Step::Member(key, value) => {
                write_string(key, Form::Canonical, out);
                out.push(':');
                value
            }
            Step::Value(value) => value,
        };
        match value {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::String(text) => write_string(text, Form::Canonical, out),
            Value::Number(number) => write_number(number, out),
            Value::Array(items) => {
                out.push('[');
                steps.push(Step::Text("]"));
                for (place, item) in items.iter().enumerate().rev() {
                    steps.push(Step::Value(item));
                    if place > 0 {
                        steps.push(Step::Comma);
                    }
                }
            }
            Value::Object(members) => {
                out.push('{');
                steps.push(Step::Text("}"));
                let mut sorted: Vec<(&String, &Value)> = members.iter().collect();
                // Bytes of UTF-8 sort as code points do.
                sorted.sort_unstable_by_key(|(key, _)| *key);
                for (place, (key, value)) in sorted.into_iter().enumerate().rev() {
                    steps.push(Step::Member(key, value));
                    if place > 0 {
                        steps.push(Step::Comma);
                    }
                }
            }
        }
    }
}

fn scalar_to_serde(scalar: &Json) -> Value {
    match scalar {
        Json::Bool(value) => Value::Bool(*value),
        Json::String(text) => Value::String(text.clone()),
        Json::Float(value) => Number::from_f64(*value).map_or(Value::Null, Value::Number),
        Json::Int(integer) => match integer.as_i64() {
            Some(small) => Value::Number(small.into()),
            None => {
                let text = integer.to_string();
                match text.parse::<u64>() {
                    Ok(large) => Value::Number(large.into()),
                    Err(_) => text
                        .parse::<f64>()
                        .ok()
                        .and_then(Number::from_f64)
                        .map_or(Value::Null, Value::Number),
                }
            }
        },
        Json::Null | Json::Array(_) | Json::Object(_) => Value::Null,
    }
}

fn write_number(number: &Number, out: &mut String) {
    match number_from_serde(number) {
        Json::Int(integer) => {
            // Writing to a String cannot fail.
            let _ = write!(out, "{integer}");
        }
        Json::Float(value) => out.push_str(&python_float(value)),
        _ => out.push_str("null"),
    }
}

fn number_from_serde(number: &Number) -> Json {
    if let Some(small) = number.as_i64() {
        return Json::Int(Integer::from(small));
    }
    let text = number.to_string();
    match Integer::parse(&text) {
        Some(integer) => Json::Int(integer),
        None => number.as_f64().map_or(Json::Null, Json::Float),
    }
}
