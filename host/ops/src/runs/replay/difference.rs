//! Where a recorded run and its replay part.

use serde_json::Value;
use std::fmt;

/// How much of a value is shown to a person.
const SHOWN: usize = 200;

/// The first thing that came out differently.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Difference {
    /// The journal's entry; none when it is in the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    /// Where in the entry or result: a field, and a pointer into it.
    pub field: String,
    /// What was recorded; none when it is not there.
    pub recorded: Option<Value>,
    /// What came out now, or would have been there; none when nothing did.
    pub replayed: Option<Value>,
}

impl Difference {
    pub(super) fn at(seq: u64, field: &str, recorded: Option<Value>, replayed: Option<Value>) -> Self {
        Self {
            seq: Some(seq),
            field: field.to_owned(),
            recorded,
            replayed,
        }
    }

    /// Two results that are not the same text.
    pub(super) fn of_result(recorded: Option<Value>, replayed: Option<Value>) -> Self {
        let (path, recorded, replayed) = parting(recorded, replayed);
        Self {
            seq: None,
            field: format!("result{path}"),
            recorded,
            replayed,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.seq {
            Some(seq) => write!(f, "entry {seq}, {}", self.field)?,
            None => f.write_str(&self.field)?,
        }
        let (recorded, replayed) = (shown(self.recorded.as_ref()), shown(self.replayed.as_ref()));
        write!(f, ": recorded {recorded}, replayed {replayed}")
    }
}

fn shown(value: Option<&Value>) -> String {
    let Some(value) = value else {
        return "nothing".to_owned();
    };
    let mut text = match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}

/// Compares one field of an entry.
pub(super) fn compared(
    seq: u64,
    field: &str,
    recorded: Option<&Value>,
    replayed: Option<&Value>,
) -> Result<(), Difference> {
    if recorded == replayed {
        return Ok(());
    }
    let (path, recorded, replayed) = parting(recorded.cloned(), replayed.cloned());
    Err(Difference::at(seq, &format!("{field}{path}"), recorded, replayed))
}

/// The deepest place at which everything before it is the same, and what is there on both sides.
fn parting(
    mut recorded: Option<Value>,
    mut replayed: Option<Value>,
) -> (String, Option<Value>, Option<Value>) {
    let mut path = String::new();
    loop {
        let step = match (&mut recorded, &mut replayed) {
            (Some(Value::Object(one)), Some(Value::Object(other))) => {
                let names = other.keys().chain(one.keys());
                let name = names
                    .clone()
                    .find(|name| one.get(*name) != other.get(*name))
                    .cloned();
                name.map(|name| (format!("/{name}"), one.remove(&name), other.remove(&name)))
            }
            (Some(Value::Array(one)), Some(Value::Array(other))) => {
                let places = 0..one.len().max(other.len());
                let place = places
                    .into_iter()
                    .find(|place| one.get(*place) != other.get(*place));
                place.map(|place| {
                    let taken = |list: &mut Vec<Value>| (place < list.len()).then(|| list.swap_remove(place));
                    (format!("/{place}"), taken(one), taken(other))
                })
            }
            _ => None,
        };
        let Some((deeper, one, other)) = step else {
            return (path, recorded, replayed);
        };
        path.push_str(&deeper);
        (recorded, replayed) = (one, other);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_difference_is_named_where_it_is() {
        for (recorded, replayed, said) in [
            (
                json!({"a": [{"b": 1}, {"b": 2}]}),
                json!({"a": [{"b": 1}, {"b": 3}]}),
                "result/a/1/b: recorded 2, replayed 3",
            ),
            (
                json!({"a": 1}),
                json!({"a": 1, "c": null}),
                "result/c: recorded nothing, replayed null",
            ),
            (
                json!({"a": 1, "x": "y"}),
                json!({"a": 1}),
                "result/x: recorded y, replayed nothing",
            ),
            (
                json!([1, 2]),
                json!([1]),
                "result/1: recorded 2, replayed nothing",
            ),
            (json!("é".repeat(300)), json!(1), "…, replayed 1"),
        ] {
            let found = Difference::of_result(Some(recorded), Some(replayed)).to_string();
            assert!(found.ends_with(said), "{found}");
        }
        assert_eq!(compared(1, "x", Some(&json!(1)), Some(&json!(1))), Ok(()));
        let entry = compared(7, "gates", None, Some(&json!([]))).unwrap_err();
        assert_eq!(entry.to_string(), "entry 7, gates: recorded nothing, replayed []");
    }
}
