//! The schema of the events of an execution, from the table of the journal's entries in `ops`.

use super::component;
use mizzen_ops::{EntryKind, EntryMember, EntryShape};
use serde_json::{Map, Value, json};

/// `JournalEvent`, one schema for each kind, and what they refer to.
pub(super) fn all(known: &Map<String, Value>) -> Vec<(String, Value)> {
    let mut schemas = vec![("PackAnswer".to_owned(), pack_answer(known))];
    let (mut kinds, mut mapping) = (Vec::new(), Map::new());
    for kind in EntryKind::ALL {
        let name = name(kind);
        kinds.push(component(&name));
        mapping.insert(
            kind.as_str().to_owned(),
            format!("#/components/schemas/{name}").into(),
        );
        schemas.push((name, event(kind)));
    }
    let union = json!({
        "description": "An event of an execution: an entry of its journal.",
        "oneOf": kinds,
        "discriminator": {"propertyName": "kind", "mapping": mapping},
    });
    schemas.push(("JournalEvent".to_owned(), union));
    schemas
}

/// `call_ended` is `CallEndedEvent`.
fn name(kind: EntryKind) -> String {
    let capital = |word: &str| {
        let mut letters = word.chars();
        let first = letters
            .next()
            .into_iter()
            .map(|letter| letter.to_ascii_uppercase());
        first.chain(letters).collect::<String>()
    };
    let words: String = kind.as_str().split('_').map(capital).collect();
    format!("{words}Event")
}

/// A finding, with its pack's index among the packs that the execution was started with.
fn pack_answer(known: &Map<String, Value>) -> Value {
    let mut schema = known.get("PackEvaluation").cloned().unwrap_or_default();
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("mount".to_owned(), json!({"type": "integer", "minimum": 0}));
    }
    schema
}

fn event(kind: EntryKind) -> Value {
    let mut schema = record(kind.members());
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert(
            "kind".to_owned(),
            json!({"type": "string", "const": kind.as_str()}),
        );
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.insert(0, "kind".into());
    }
    if let Some(members) = schema.as_object_mut() {
        members.insert("description".to_owned(), kind.about().into());
    }
    schema
}

/// Open: a later host may write more, and a client of today must read it.
fn record<'a>(members: impl Iterator<Item = &'a EntryMember> + Clone) -> Value {
    let required: Vec<&str> = members
        .clone()
        .filter(|member| member.required)
        .map(|member| member.name)
        .collect();
    let properties: Map<String, Value> = members
        .map(|member| (member.name.to_owned(), shape(&member.shape)))
        .collect();
    json!({"type": "object", "properties": properties, "required": required})
}

/// As deep as the table.
fn shape(member: &EntryShape) -> Value {
    match member {
        EntryShape::Text => json!({"type": "string"}),
        EntryShape::Id => json!({"type": "string", "format": "uuid"}),
        EntryShape::Number => json!({"type": "integer", "minimum": 0}),
        EntryShape::Time => {
            json!({"type": "integer", "minimum": 0, "description": "Milliseconds since 1970."})
        }
        EntryShape::Flag => json!({"type": "boolean"}),
        EntryShape::Any => json!({}),
        EntryShape::Choice(names) => json!({"type": "string", "enum": names}),
        EntryShape::List(item) => json!({"type": "array", "items": shape(item)}),
        EntryShape::Record(members) => record(members.iter()),
        EntryShape::Model(name, _) => component(name),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_event_is_documented() {
        let documented = include_str!("../../../../../docs/api.md");
        for kind in EntryKind::ALL {
            let row = format!("| `{}` |", kind.as_str());
            assert!(
                documented.contains(&row),
                "docs/api.md has no row that begins with {row}"
            );
        }
    }
}
