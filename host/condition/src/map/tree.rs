//! The values that maps are applied to: the exact [`Json`] of documents, and `serde_json` for what is already parsed by it.

use mizzen_json::{Event, Json, Object, Order, TooDeep, Walk};
use serde_json::Value;

/// A JSON value, as far as a map needs it.
pub trait Tree: Sized {
    /// The field of an object.
    fn field(&self, name: &str) -> Option<&Self>;
    /// The item of a list.
    fn item(&self, index: usize) -> Option<&Self>;
    /// What JSON calls its type.
    fn shape(&self) -> &'static str;
    /// Its size, about as many bytes as its JSON text has; none when that is more than `limit`. Stops there.
    fn size(&self, limit: usize) -> Option<usize>;
    /// A copy.
    fn copy(&self) -> Self;
    /// `null`.
    fn null() -> Self;
    /// An object.
    fn object(members: Vec<(String, Self)>) -> Self;
    /// A literal of a document.
    ///
    /// # Errors
    /// When the type cannot hold so deep a value.
    fn from_json(value: &Json) -> Result<Self, TooDeep>;
}

/// What a number, a word or a bracket counts for.
const SCALAR_SIZE: usize = 4;
/// What quotes, a colon or a comma add.
const PUNCTUATION: usize = 3;

impl Tree for Json {
    fn field(&self, name: &str) -> Option<&Self> {
        self.get(name)
    }

    fn item(&self, index: usize) -> Option<&Self> {
        self.as_array()?.get(index)
    }

    fn shape(&self) -> &'static str {
        self.type_name()
    }

    fn size(&self, limit: usize) -> Option<usize> {
        let mut size = 0usize;
        for event in Walk::new(self, Order::Insertion) {
            size += match event {
                Event::Key(text) => text.len() + PUNCTUATION,
                Event::Scalar(Json::String(text)) => text.len() + PUNCTUATION,
                // Integers can have any number of digits.
                Event::Scalar(Json::Int(integer)) if integer.as_i64().is_none() => integer.to_string().len(),
                Event::Scalar(_) | Event::BeginArray(_) | Event::BeginObject(_) => SCALAR_SIZE,
                Event::End => 0,
            };
            if size > limit {
                return None;
            }
        }
        Some(size)
    }

    fn copy(&self) -> Self {
        self.clone()
    }

    fn null() -> Self {
        Json::Null
    }

    fn object(members: Vec<(String, Self)>) -> Self {
        members.into_iter().collect::<Object>().into()
    }

    fn from_json(value: &Json) -> Result<Self, TooDeep> {
        Ok(value.clone())
    }
}

impl Tree for Value {
    fn field(&self, name: &str) -> Option<&Self> {
        self.as_object()?.get(name)
    }

    fn item(&self, index: usize) -> Option<&Self> {
        self.as_array()?.get(index)
    }

    fn shape(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_f64() => "number",
            Value::Number(_) => "integer",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        }
    }

    fn size(&self, limit: usize) -> Option<usize> {
        let mut size = 0usize;
        let mut pending = vec![self];
        while let Some(value) = pending.pop() {
            size += match value {
                Value::String(text) => text.len() + PUNCTUATION,
                Value::Array(items) => {
                    pending.extend(items);
                    SCALAR_SIZE
                }
                Value::Object(members) => {
                    pending.extend(members.values());
                    SCALAR_SIZE + members.keys().map(|key| key.len() + PUNCTUATION).sum::<usize>()
                }
                _ => SCALAR_SIZE,
            };
            if size > limit {
                return None;
            }
        }
        Some(size)
    }

    fn copy(&self) -> Self {
        self.clone()
    }

    fn null() -> Self {
        Value::Null
    }

    fn object(members: Vec<(String, Self)>) -> Self {
        Value::Object(members.into_iter().collect())
    }

    fn from_json(value: &Json) -> Result<Self, TooDeep> {
        value.to_serde()
    }
}
