//! The owned value.

use super::{Array, Builder, Event, Integer, NotFinite, Object, Order, ParseError, ReadLimits, Walk};

/// An owned JSON value.
///
/// Equality ignores the order of object members, tells `1` from `1.0`, and tells `0.0` from `-0.0`.
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction and exponent, of any size.
    Int(Integer),
    /// A number with fraction or exponent; always finite when it came from [`Json::float`] or the parser.
    Float(f64),
    /// A string.
    String(String),
    /// An array.
    Array(Array),
    /// An object.
    Object(Object),
}

impl Json {
    /// Reads one JSON text with the default [`ReadLimits`].
    pub fn parse(text: &str) -> Result<Json, ParseError> {
        Ok(super::parse(text, ReadLimits::default())?.root().to_json())
    }

    /// A float, refused when JSON has no text for it.
    pub fn float(value: f64) -> Result<Json, NotFinite> {
        if value.is_finite() {
            Ok(Json::Float(value))
        } else {
            Err(NotFinite(value))
        }
    }

    /// What JSON calls this type: `null`, `boolean`, `integer`, `number`, `string`, `array` or `object`.
    pub fn type_name(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "boolean",
            Json::Int(_) => "integer",
            Json::Float(_) => "number",
            Json::String(_) => "string",
            Json::Array(_) => "array",
            Json::Object(_) => "object",
        }
    }

    /// The string, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Json::String(text) => Some(text),
            _ => None,
        }
    }

    /// The boolean, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Json::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The integer, if this is one and it fits.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Json::Int(value) => value.as_i64(),
            _ => None,
        }
    }

    /// The elements, if this is an array.
    pub fn as_array(&self) -> Option<&Array> {
        match self {
            Json::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members, if this is an object.
    pub fn as_object(&self) -> Option<&Object> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The members, for changing them, if this is an object.
    pub fn as_object_mut(&mut self) -> Option<&mut Object> {
        match self {
            Json::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The member with this key, if this is an object that has it.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.get(key)
    }

    pub(crate) fn is_container(&self) -> bool {
        matches!(self, Json::Array(_) | Json::Object(_))
    }
}

/// The compact text: a derived `Debug` would recurse.
impl std::fmt::Debug for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.to_compact())
    }
}

impl Clone for Json {
    fn clone(&self) -> Self {
        match self {
            Json::Null => Json::Null,
            Json::Bool(value) => Json::Bool(*value),
            Json::Int(value) => Json::Int(value.clone()),
            Json::Float(value) => Json::Float(*value),
            Json::String(text) => Json::String(text.clone()),
            Json::Array(_) | Json::Object(_) => {
                let mut builder = Builder::new();
                for event in Walk::new(self, Order::Insertion) {
                    match event {
                        Event::BeginArray(length) => builder.begin_array(length),
                        Event::BeginObject(length) => builder.begin_object(length),
                        Event::Key(key) => builder.key(key.to_owned()),
                        Event::Scalar(scalar) => builder.value(scalar.clone()),
                        Event::End => builder.end(),
                    }
                }
                builder.finish()
            }
        }
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = vec![(self, other)];
        while let Some((left, right)) = pairs.pop() {
            let same = match (left, right) {
                (Json::Null, Json::Null) => true,
                (Json::Bool(a), Json::Bool(b)) => a == b,
                (Json::Int(a), Json::Int(b)) => a == b,
                (Json::Float(a), Json::Float(b)) => a.to_bits() == b.to_bits(),
                (Json::String(a), Json::String(b)) => a == b,
                (Json::Array(a), Json::Array(b)) => {
                    pairs.extend(a.iter().zip(b.iter()));
                    a.len() == b.len()
                }
                (Json::Object(a), Json::Object(b)) => {
                    a.len() == b.len()
                        && a.iter().all(|(key, value)| match b.get(key) {
                            Some(twin) => {
                                pairs.push((value, twin));
                                true
                            }
                            None => false,
                        })
                }
                _ => false,
            };
            if !same {
                return false;
            }
        }
        true
    }
}

impl Eq for Json {}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Json::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Json::String(text)
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Json::Bool(value)
    }
}

impl From<i64> for Json {
    fn from(value: i64) -> Self {
        Json::Int(Integer::from(value))
    }
}

impl From<Object> for Json {
    fn from(members: Object) -> Self {
        Json::Object(members)
    }
}

impl From<Array> for Json {
    fn from(items: Array) -> Self {
        Json::Array(items)
    }
}

impl From<Vec<Json>> for Json {
    fn from(items: Vec<Json>) -> Self {
        Json::Array(items.into())
    }
}
