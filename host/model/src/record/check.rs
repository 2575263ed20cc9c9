//! Judges a JSON value by a record's table. Finds everything, stops at nothing, recurses only as deep as the tables
//! nest: free-form values are not entered.

use super::format::Format;
use super::{Field, FieldKind, List, Presence, Record, Repetition, Text};
use crate::problem::{Code, Problems};
use mizzen_json::quote;
use mizzen_json::{Event, Json, Object, Order, Walk, escape_token};
use std::collections::HashSet;
use std::fmt::{self, Write as _};

/// Where the check stands. Paths are written out only for problems: most documents have none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Path<'a> {
    Root,
    Field(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Field(parent, field) => write!(f, "{parent}/{}", escape_token(field)),
            Path::Item(parent, index) => write!(f, "{parent}/{index}"),
        }
    }
}

impl Record {
    /// Everything that is wrong with `value` as this record, in table order; unknown fields last.
    pub fn problems(&self, value: &Json) -> Problems {
        let mut problems = Problems::new();
        self.check(value, Path::Root, &mut problems);
        problems
    }

    pub(super) fn check(&self, value: &Json, path: Path<'_>, problems: &mut Problems) {
        let Some(object) = value.as_object() else {
            wrong_type(value, "an object", path, problems);
            return;
        };
        for field in self.fields {
            match object.get(field.name) {
                Some(value) => field.kind.check(value, Path::Field(&path, field.name), problems),
                None if field.presence == Presence::Required => {
                    let message = format!("{} is required: {}", field.name, field.about);
                    problems.push(Path::Field(&path, field.name).to_string(), Code::Missing, message);
                }
                None => {}
            }
        }
        self.check_unknown(object, path, problems);
    }

    fn check_unknown(&self, object: &Object, path: Path<'_>, problems: &mut Problems) {
        for key in object.keys() {
            if !self.fields.iter().any(|field| field.name == key) {
                let message = format!(
                    "{} is not a field of {}{}",
                    quote(key),
                    self.name,
                    self.suggest(key)
                );
                problems.push(Path::Field(&path, key).to_string(), Code::UnknownField, message);
            }
        }
    }

    /// The nearest field, for a key that differs from it in spelling only.
    fn suggest(&self, key: &str) -> String {
        let folded = |text: &str| -> String {
            text.chars()
                .filter(char::is_ascii_alphanumeric)
                .map(|c| c.to_ascii_lowercase())
                .take(64)
                .collect()
        };
        let wanted = folded(key);
        let near = self
            .fields
            .iter()
            .map(|field: &Field| field.name)
            .find(|name| folded(name) == wanted);
        near.map(|name| format!("; write {name}")).unwrap_or_default()
    }
}

impl FieldKind {
    fn check(&self, value: &Json, path: Path<'_>, problems: &mut Problems) {
        match self {
            FieldKind::Text(text) => match value.as_str() {
                Some(found) => text.check(found, path, problems),
                None if matches!(text.format, Format::Free | Format::NotBlank) => {
                    wrong_type(value, "a string", path, problems)
                }
                // Of which form is what the caller needs to know: an id where a whole document is given, for one.
                None => {
                    let expected = format!("a string: {}", text.format.expected());
                    wrong_type(value, &expected, path, problems);
                }
            },
            FieldKind::Flag => {
                if value.as_bool().is_none() {
                    wrong_type(value, "true or false", path, problems);
                }
            }
            FieldKind::Integer { min, max } => check_integer(value, *min, *max, path, problems),
            FieldKind::Choice(choices) => match value.as_str() {
                Some(found) if choices.contains(&found) => {}
                Some(found) => {
                    let message = format!("{} is not one of {}", quote(found), choices.join(", "));
                    problems.push(path.to_string(), Code::NotInEnum, message);
                }
                None => wrong_type(value, &format!("one of {}", choices.join(", ")), path, problems),
            },
            FieldKind::List(list) => list.check(value, path, problems),
            FieldKind::Record(record) => record.check(value, path, problems),
            FieldKind::Object { max } => match value.as_object() {
                Some(object) if object.len() > *max => {
                    let message = format!("has {} fields, at most {max} are allowed", object.len());
                    problems.push(path.to_string(), Code::TooLong, message);
                }
                Some(_) => {}
                None => wrong_type(value, "an object", path, problems),
            },
            FieldKind::Any => {}
        }
    }
}

impl Text {
    fn check(&self, found: &str, path: Path<'_>, problems: &mut Problems) {
        let length = found.chars().count();
        // The length of a UUID says nothing that its form does not: a name in its place is no short UUID.
        if self.format == Format::Uuid && !found.is_empty() && length <= self.max.saturating_mul(2) {
            if !self.format.accepts(found) {
                let message = format!("{} is not {}", quote(found), self.format.expected());
                problems.push(path.to_string(), Code::Pattern, message);
            }
            return;
        }
        if length > self.max {
            let message = format!("has {length} characters, at most {} are allowed", self.max);
            problems.push(path.to_string(), Code::TooLong, message);
        } else if length < self.min && found.is_empty() {
            problems.push(
                path.to_string(),
                Code::TooShort,
                format!("must not be empty: expected {}", self.format.expected()),
            );
        } else if length < self.min {
            let message = format!(
                "{} has {length} characters, at least {} are needed: expected {}",
                quote(found),
                self.min,
                self.format.expected()
            );
            problems.push(path.to_string(), Code::TooShort, message);
        } else if !self.format.accepts(found) {
            let message = format!("{} is not {}", quote(found), self.format.expected());
            problems.push(path.to_string(), Code::Pattern, message);
        }
    }
}

impl List {
    fn check(&self, value: &Json, path: Path<'_>, problems: &mut Problems) {
        let Some(items) = value.as_array() else {
            wrong_type(value, "a list", path, problems);
            return;
        };
        if items.is_empty() && self.min > 0 {
            problems.push(path.to_string(), Code::TooShort, "must not be empty");
        } else if items.len() < self.min {
            let message = format!("has {} items, at least {} are needed", items.len(), self.min);
            problems.push(path.to_string(), Code::TooShort, message);
        }
        if items.len() > self.max {
            // The items of a list that is too long are not judged: that would be work without bound.
            let message = format!("has {} items, at most {} are allowed", items.len(), self.max);
            problems.push(path.to_string(), Code::TooLong, message);
            return;
        }
        let mut seen = HashSet::new();
        for (index, item) in items.iter().enumerate() {
            let path = Path::Item(&path, index);
            self.item.check(item, path, problems);
            if self.repetition == Repetition::Refused && !seen.insert(equality_key(item)) {
                problems.push(path.to_string(), Code::Duplicate, "equals an earlier item");
            }
        }
    }
}

/// The whole number that a JSON number is, if it is one in the range of `i64`: JSON Schema counts `1.0` as an integer.
pub(super) fn whole_number(value: &Json) -> Option<i64> {
    match value {
        Json::Int(integer) => integer.as_i64(),
        // Beyond 2^53 a float no longer says which integer it is; no field's range goes there.
        Json::Float(float) if float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0 => {
            Some(*float as i64)
        }
        _ => None,
    }
}

fn check_integer(value: &Json, min: i64, max: i64, path: Path<'_>, problems: &mut Problems) {
    match (value, whole_number(value)) {
        (_, Some(number)) if (min..=max).contains(&number) => {}
        (Json::Int(_), _) | (_, Some(_)) => {
            let message = format!("is not between {min} and {max}");
            problems.push(path.to_string(), Code::OutOfRange, message);
        }
        _ => wrong_type(value, "a whole number", path, problems),
    }
}

fn wrong_type(value: &Json, expected: &str, path: Path<'_>, problems: &mut Problems) {
    let message = format!("is {}, expected {expected}", article(value.type_name()));
    problems.push(path.to_string(), Code::WrongType, message);
}

fn article(type_name: &str) -> String {
    match type_name {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {type_name}"),
        other => format!("a {other}"),
    }
}

/// A text that two values share exactly when JSON Schema calls them equal: members in any order, `1` equal to `1.0`.
/// A set of these keeps `uniqueItems` linear.
fn equality_key(value: &Json) -> String {
    let mut key = String::new();
    for event in Walk::new(value, Order::CodePoint) {
        // Lengths and debug-quoting make the text unambiguous. Writing to a string cannot fail.
        let _ = match event {
            Event::BeginArray(length) => write!(key, "[{length} "),
            Event::BeginObject(length) => write!(key, "{{{length} "),
            Event::Key(name) => write!(key, "{name:?}:"),
            Event::Scalar(Json::String(text)) => write!(key, "{text:?} "),
            Event::Scalar(Json::Float(float)) => match whole_number(&Json::Float(*float)) {
                Some(number) => write!(key, "{number} "),
                None => write!(key, "{float:e} "),
            },
            Event::Scalar(Json::Int(integer)) => write!(key, "{integer} "),
            Event::Scalar(Json::Bool(flag)) => write!(key, "{flag} "),
            Event::Scalar(_) => write!(key, "null "),
            Event::End => write!(key, "] "),
        };
    }
    key
}
