//! The state of a graph (D29): a typed map, and how the changes of branches are merged.

use serde_json::{Map, Value};

/// Bytes of JSON text that the state of a run may have.
const STATE_BYTES: u64 = 1 << 20;

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StateType {
    Str,
    Int,
    Float,
    Bool,
    /// A text of standard base64: JSON has no bytes.
    Bytes,
    List,
    Dict,
    Any,
}

const TYPES: [(&str, StateType); 8] = [
    ("str", StateType::Str),
    ("int", StateType::Int),
    ("float", StateType::Float),
    ("bool", StateType::Bool),
    ("bytes", StateType::Bytes),
    ("list", StateType::List),
    ("dict", StateType::Dict),
    ("any", StateType::Any),
];

impl StateType {
    fn parse(text: &str) -> Option<Self> {
        TYPES
            .iter()
            .find(|(name, _)| *name == text)
            .map(|(_, found)| *found)
    }

    fn name(self) -> &'static str {
        TYPES
            .iter()
            .find(|(_, known)| *known == self)
            .map_or("", |(name, _)| name)
    }

    fn holds(self, value: &Value) -> bool {
        match self {
            Self::Str => value.is_string(),
            Self::Int => value.is_i64() || value.is_u64(),
            Self::Float => value.is_number(),
            Self::Bool => value.is_boolean(),
            Self::Bytes => value.as_str().is_some_and(is_base64),
            Self::List => value.is_array(),
            Self::Dict => value.is_object(),
            Self::Any => true,
        }
    }
}

fn is_base64(text: &str) -> bool {
    let body = text.trim_end_matches('=');
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && text.len() - body.len() <= 2 && body.bytes().all(letter)
}

/// A field that cannot be set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct StateProblem {
    /// The field; empty for the whole.
    pub field: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// Two branches that set one field to different values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Conflict {
    pub(crate) field: String,
    pub(crate) values: [Value; 2],
}

/// The fields of a state, with their types.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateSchema {
    fields: Vec<(String, StateType)>,
}

impl StateSchema {
    /// Reads `state_schema`; the fields whose types are none are returned.
    pub fn parse<'a>(schema: impl Iterator<Item = (&'a str, &'a str)>) -> (Self, Vec<(String, String)>) {
        let (mut fields, mut wrong) = (Vec::new(), Vec::new());
        for (name, text) in schema {
            match StateType::parse(text) {
                Some(found) => fields.push((name.to_owned(), found)),
                None => wrong.push((name.to_owned(), text.to_owned())),
            }
        }
        (Self { fields }, wrong)
    }

    /// The names of all types.
    pub fn type_names() -> impl Iterator<Item = &'static str> {
        TYPES.iter().map(|(name, _)| *name)
    }

    /// The fields, each with the name of its type.
    pub fn fields(&self) -> impl Iterator<Item = (&str, &'static str)> {
        self.fields
            .iter()
            .map(|(name, found)| (name.as_str(), found.name()))
    }

    fn find(&self, field: &str) -> Option<StateType> {
        self.fields
            .iter()
            .find(|(name, _)| name == field)
            .map(|(_, found)| *found)
    }

    /// Whether there is such a field.
    pub fn has(&self, field: &str) -> bool {
        self.find(field).is_some()
    }

    /// Whether fields may be set so. Nothing is set when one may not.
    ///
    /// # Errors
    /// With the first field that there is not, or whose type is another one.
    pub fn check(&self, changes: &Map<String, Value>) -> Result<(), StateProblem> {
        for (field, value) in changes {
            let Some(found) = self.find(field) else {
                let known: Vec<&str> = self.fields.iter().map(|(name, _)| name.as_str()).collect();
                return Err(StateProblem {
                    field: field.clone(),
                    message: match known.is_empty() {
                        true => format!("the state has no field {field:?}: the graph has no state_schema"),
                        false => format!("the state has no field {field:?}; it has {}", known.join(", ")),
                    },
                });
            };
            if !found.holds(value) {
                return Err(StateProblem {
                    field: field.clone(),
                    message: format!(
                        "the field {field:?} is {}, and {} is not",
                        found.name(),
                        describe(value)
                    ),
                });
            }
        }
        Ok(())
    }

    /// Whether a run may begin with these fields.
    ///
    /// # Errors
    /// With the first field that does not fit, or when they are too large together.
    pub fn check_start(&self, params: &Map<String, Value>) -> Result<(), StateProblem> {
        self.check(params)?;
        self.check_size(&Map::new(), params)
    }

    /// Whether a state is small enough with these changes.
    pub(crate) fn check_size(
        &self,
        state: &Map<String, Value>,
        changes: &Map<String, Value>,
    ) -> Result<(), StateProblem> {
        let kept = state.iter().filter(|(field, _)| !changes.contains_key(*field));
        let bytes = |(field, value): (&String, &Value)| {
            crate::run::size_of(value)
                .saturating_add(field.len() as u64)
                .saturating_add(4)
        };
        let total: u64 = kept.chain(changes).map(bytes).fold(0, u64::saturating_add);
        if total <= STATE_BYTES {
            return Ok(());
        }
        Err(StateProblem {
            field: String::new(),
            message: format!(
                "the state would have {total} bytes, and {STATE_BYTES} are allowed; keep large values in a store"
            ),
        })
    }

    /// What the changes of branches come to together, in their order: one value for each field, lists one after the other.
    pub(crate) fn merge(
        &self,
        base: &Map<String, Value>,
        branches: Vec<Map<String, Value>>,
    ) -> Result<Map<String, Value>, Box<Conflict>> {
        let mut merged: Map<String, Value> = Map::new();
        for changes in branches {
            for (field, value) in changes {
                let is_list = self.find(&field) == Some(StateType::List);
                match merged.get_mut(&field) {
                    None => drop(merged.insert(field, value)),
                    Some(Value::Array(before)) if is_list => {
                        let more = value.as_array().map(Vec::as_slice).unwrap_or_default();
                        // A branch that returns the list as it was with more behind it adds what is new.
                        let old = base.get(&field).and_then(Value::as_array).map(Vec::as_slice);
                        let new = old.and_then(|old| more.strip_prefix(old)).unwrap_or(more);
                        before.extend_from_slice(new);
                    }
                    Some(before) if *before == value => {}
                    Some(before) => {
                        return Err(Box::new(Conflict {
                            field,
                            values: [before.clone(), value],
                        }));
                    }
                }
            }
        }
        Ok(merged)
    }
}

/// A value as an error shows it.
fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(_) => "a text".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> StateSchema {
        let types = TYPES.iter().map(|(name, _)| (*name, *name));
        let (schema, wrong) = StateSchema::parse(types);
        assert!(wrong.is_empty());
        schema
    }

    fn map(value: Value) -> Map<String, Value> {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn a_field_holds_values_of_its_type_only() {
        let schema = schema();
        let good = [
            ("str", json!("x")),
            ("int", json!(-3)),
            ("float", json!(1)),
            ("float", json!(1.5)),
            ("bool", json!(true)),
            ("bytes", json!("aGk=")),
            ("bytes", json!("")),
            ("list", json!([1])),
            ("dict", json!({})),
            ("any", json!(null)),
        ];
        for (field, value) in good {
            assert_eq!(
                schema.check(&map(json!({field: value}))),
                Ok(()),
                "{field} {value}"
            );
        }
        let bad = [
            ("str", json!(1)),
            ("int", json!(1.5)),
            ("int", json!("1")),
            ("float", json!("1")),
            ("bool", json!(0)),
            ("bytes", json!("a")),
            ("bytes", json!("====")),
            ("bytes", json!([1])),
            ("list", json!({})),
            ("dict", json!([])),
            ("str", json!(null)),
            ("other", json!(1)),
        ];
        for (field, value) in bad {
            let problem = schema.check(&map(json!({field: value}))).unwrap_err();
            assert_eq!(problem.field, field, "{value}");
        }
        let (_, wrong) = StateSchema::parse([("a", "string"), ("b", "int")].into_iter());
        assert_eq!(wrong, [("a".to_owned(), "string".to_owned())]);
    }

    #[test]
    fn branches_are_merged_by_field_and_lists_are_appended() {
        let schema = schema();
        let base = map(json!({"list": [1], "int": 1}));
        let merged = schema.merge(
            &base,
            vec![
                map(json!({"list": [1, 2], "int": 5})),
                map(json!({"list": [1, 3], "int": 5})),
                map(json!({"list": [4]})),
            ],
        );
        assert_eq!(merged.unwrap(), map(json!({"list": [1, 2, 3, 4], "int": 5})));
        let conflict = schema.merge(&base, vec![map(json!({"int": 5})), map(json!({"int": 6}))]);
        assert_eq!(conflict.unwrap_err().values, [json!(5), json!(6)]);
    }

    #[test]
    fn a_state_has_a_megabyte() {
        let schema = schema();
        let large = map(json!({"str": "x".repeat(1 << 20)}));
        assert!(schema.check_size(&Map::new(), &large).is_err());
        assert!(schema.check_size(&large, &map(json!({"str": "x"}))).is_ok());
    }
}
