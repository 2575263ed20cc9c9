//! A record's table as JSON Schema (Draft 2020-12).

use super::{FieldKind, Presence, Record, Repetition};
use mizzen_json::{Json, Object};

/// Where the schemas of nested records are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum References {
    /// In `$defs` of the same document.
    Definitions,
    /// In `components/schemas` of an OpenAPI document.
    Components,
}

impl References {
    fn to(self, record: &Record) -> Json {
        let prefix = match self {
            References::Definitions => "#/$defs/",
            References::Components => "#/components/schemas/",
        };
        object([("$ref", Json::from(format!("{prefix}{}", record.name)))])
    }
}

fn object<const N: usize>(members: [(&str, Json); N]) -> Json {
    members
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value))
        .collect::<Object>()
        .into()
}

fn count(number: usize) -> Json {
    Json::from(i64::try_from(number).unwrap_or(i64::MAX))
}

/// The schema of one record; nested records are references.
pub fn schema(record: &Record, references: References) -> Json {
    let mut properties = Object::new();
    let mut required = Vec::new();
    for field in record.fields {
        let mut property = of_kind(&field.kind, references);
        if let Some(members) = property.as_object_mut() {
            members.insert("description", Json::from(field.about));
            if field.presence == Presence::ReadOnly {
                members.insert("readOnly", Json::from(true));
            }
        }
        properties.insert(field.name, property);
        if field.presence == Presence::Required {
            required.push(Json::from(field.name));
        }
    }
    object([
        ("title", Json::from(record.name)),
        ("description", Json::from(record.about)),
        ("type", Json::from("object")),
        ("properties", properties.into()),
        ("required", required.into()),
        ("additionalProperties", Json::from(false)),
    ])
}

fn of_kind(kind: &FieldKind, references: References) -> Json {
    let mut schema = Object::new();
    match kind {
        FieldKind::Text(text) => {
            schema.insert("type", Json::from("string"));
            if text.min > 0 {
                schema.insert("minLength", count(text.min));
            }
            schema.insert("maxLength", count(text.max));
            if let Some(pattern) = text.format.pattern() {
                schema.insert("pattern", Json::from(pattern));
            }
            if let Some(annotation) = text.format.annotation() {
                schema.insert("format", Json::from(annotation));
            }
        }
        FieldKind::Flag => {
            schema.insert("type", Json::from("boolean"));
        }
        FieldKind::Integer { min, max } => {
            schema.insert("type", Json::from("integer"));
            schema.insert("minimum", Json::from(*min));
            schema.insert("maximum", Json::from(*max));
        }
        FieldKind::Choice(choices) => {
            schema.insert("type", Json::from("string"));
            let choices: Vec<Json> = choices.iter().map(|choice| Json::from(*choice)).collect();
            schema.insert("enum", choices.into());
        }
        FieldKind::List(list) => {
            schema.insert("type", Json::from("array"));
            schema.insert("items", of_kind(list.item, references));
            if list.min > 0 {
                schema.insert("minItems", count(list.min));
            }
            schema.insert("maxItems", count(list.max));
            if list.repetition == Repetition::Refused {
                schema.insert("uniqueItems", Json::from(true));
            }
        }
        FieldKind::Record(record) => return references.to(record),
        FieldKind::Object { max } => {
            schema.insert("type", Json::from("object"));
            schema.insert("maxProperties", count(*max));
        }
        FieldKind::Any => {}
    }
    schema.into()
}

/// The schemas of `roots` and of every record they contain, by name, in the order in which they are met.
pub fn definitions(roots: &[&'static Record], references: References) -> Object {
    let mut found = Object::new();
    let mut pending: Vec<&'static Record> = roots.iter().rev().copied().collect();
    while let Some(record) = pending.pop() {
        if found.contains_key(record.name) {
            continue;
        }
        found.insert(record.name, schema(record, references));
        let nested = record
            .fields
            .iter()
            .rev()
            .filter_map(|field| nested_record(&field.kind));
        pending.extend(nested);
    }
    found
}

fn nested_record(kind: &FieldKind) -> Option<&'static Record> {
    match kind {
        FieldKind::Record(record) => Some(record),
        FieldKind::List(list) => nested_record(list.item),
        _ => None,
    }
}
