//! Facts from JSON and to JSON.
//!
//! A document of facts is an array of facts, or an object, which is a state: every field becomes the ordered fact
//! `(field value)` (D13). A fact is `"(severity 5)"`, `{"name": "severity", "fields": [5]}` or
//! `{"template": "step", "slots": {"id": 1}}`.
//!
//! JSON keeps its types: a number stays an integer or a float, a text is a string, `true` and `false` are the symbols
//! `TRUE` and `FALSE`, `null` is `nil`. A symbol is `{"symbol": "halt"}`; in a slot that takes only symbols, or allows
//! exactly that one, a plain text is a symbol too.

mod quick;
mod read;

pub(crate) use quick::plain_length;
pub(crate) use read::read_facts;

use crate::reader::TextLimits;
use crate::{Exhausted, Fact, Program, RuleErrorKind, Slot, SlotType, Value};
use serde_json::{Map, Value as Json, json};

/// How deep the text of a fact may nest.
const NESTING: usize = TextLimits::WHEN.nesting;

/// Most facts that a document may list; a session's own budget is usually smaller.
const MOST: usize = 100_000;

/// Why a document has no facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactsError {
    /// There is too much of them.
    Exhausted(Exhausted),
    /// They are not what facts are.
    Refused(String),
}

impl FactsError {
    /// Says which fact it is about.
    fn at(self, place: usize) -> Self {
        match self {
            Self::Refused(problem) => Self::Refused(format!("fact {place}: {problem}")),
            exhausted @ Self::Exhausted(_) => exhausted,
        }
    }
}

impl std::fmt::Display for FactsError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exhausted(exhausted) => write!(f, "{exhausted}"),
            Self::Refused(problem) => f.write_str(problem),
        }
    }
}

impl std::error::Error for FactsError {}

impl From<String> for FactsError {
    fn from(problem: String) -> Self {
        Self::Refused(problem)
    }
}

/// Reads a document of facts.
pub fn facts(document: &Json, program: &Program) -> Result<Vec<Fact>, FactsError> {
    match document {
        Json::Array(items) if items.len() > MOST => Err(FactsError::Exhausted(Exhausted::Facts(MOST))),
        Json::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, item)| fact(item, program).map_err(|error| error.at(at)))
            .collect(),
        Json::Object(state) => Ok(state_facts(state)?),
        _ => Err(FactsError::Refused(
            "facts are an array of facts, or an object with the fields of a state".to_owned(),
        )),
    }
}

/// The facts of a state: `(field value)`, a list as several fields, `(field.inner value)` for objects.
pub fn state_facts(state: &Map<String, Json>) -> Result<Vec<Fact>, String> {
    let mut facts = Vec::new();
    // Paths are walked with a stack; a document is at most as deep as its parser allows.
    let mut open: Vec<(String, &Json)> = state
        .iter()
        .rev()
        .map(|(name, value)| (name.clone(), value))
        .collect();
    while let Some((name, value)) = open.pop() {
        if facts.len() >= MOST {
            return Err(format!("the state has more than {MOST} fields"));
        }
        match value {
            Json::Object(inner) => {
                open.extend(
                    inner
                        .iter()
                        .rev()
                        .map(|(key, value)| (format!("{name}.{key}"), value)),
                );
            }
            Json::Array(items) => {
                let fields: Result<Vec<_>, _> = items.iter().map(nested).collect();
                facts.push(Fact::ordered(&name, fields?));
            }
            other => facts.push(Fact::ordered(&name, vec![value_of(other)?])),
        }
    }
    Ok(facts)
}

/// What is too deep for a field is its JSON text.
fn nested(item: &Json) -> Result<Value, String> {
    match item {
        Json::Array(_) | Json::Object(_) => Ok(Value::string(&item.to_string())),
        other => value_of(other),
    }
}

/// Reads one fact.
pub fn fact(item: &Json, program: &Program) -> Result<Fact, FactsError> {
    match item {
        Json::String(text) => Fact::parse_with(text, program).map_err(|error| match error.kind {
            RuleErrorKind::Budget => FactsError::Exhausted(Exhausted::Nesting(NESTING)),
            RuleErrorKind::Refused => FactsError::Refused(error.to_string()),
        }),
        Json::Object(object) => Ok(object_fact(object, program)?),
        _ => Err(FactsError::Refused("a fact is a text or an object".to_owned())),
    }
}

fn object_fact(object: &Map<String, Json>, program: &Program) -> Result<Fact, String> {
    let known = ["name", "fields", "template", "slots"];
    if let Some(unknown) = object.keys().find(|key| !known.contains(&key.as_str())) {
        return Err(format!(
            "unknown key {unknown:?}; a fact has name and fields, or template and slots"
        ));
    }
    match (object.get("name"), object.get("template")) {
        (Some(Json::String(name)), None) => {
            let fields = match object.get("fields") {
                None => Vec::new(),
                Some(Json::Array(fields)) => fields.iter().map(value_of).collect::<Result<_, _>>()?,
                Some(_) => return Err("`fields` is an array".to_owned()),
            };
            Ok(Fact::ordered(name, fields))
        }
        (None, Some(Json::String(name))) => {
            let template = program
                .template(name)
                .ok_or_else(|| format!("there is no template {name}"))?;
            let empty = Map::new();
            let slots = match object.get("slots") {
                None => &empty,
                Some(Json::Object(slots)) => slots,
                Some(_) => return Err("`slots` is an object".to_owned()),
            };
            let given: Result<Vec<_>, String> = slots
                .iter()
                .map(|(slot, value)| {
                    let known = template.slots().iter().find(|known| known.name() == slot);
                    let value = match known {
                        Some(known) => slot_value(known, value),
                        None => Err(format!("template {name} has no slot {slot}")),
                    };
                    Ok((
                        slot.as_str(),
                        value.map_err(|message| format!("slot {slot}: {message}"))?,
                    ))
                })
                .collect();
            Fact::of_template(template, &given?)
        }
        _ => Err("a fact has a name and fields, or a template and slots".to_owned()),
    }
}

fn slot_value(slot: &Slot, value: &Json) -> Result<Value, String> {
    if slot.is_multislot() {
        let items = match value {
            Json::Array(items) => items
                .iter()
                .map(|item| one(slot, item))
                .collect::<Result<Vec<_>, _>>()?,
            other => vec![one(slot, other)?],
        };
        return Ok(Value::Multifield(items.into()));
    }
    one(slot, value)
}

fn one(slot: &Slot, value: &Json) -> Result<Value, String> {
    match value {
        Json::String(text) => {
            let symbol = Value::symbol(text);
            let only_symbols = slot.types() == [SlotType::Symbol];
            Ok(if only_symbols || slot.allowed().contains(&symbol) {
                symbol
            } else {
                Value::string(text)
            })
        }
        // A whole number fits a slot of floats.
        Json::Number(number) if slot.types() == [SlotType::Float] => number
            .as_f64()
            .and_then(Value::float)
            .ok_or_else(|| format!("{number} is no float")),
        other => value_of(other),
    }
}

fn value_of(value: &Json) -> Result<Value, String> {
    Ok(match value {
        Json::Null => Value::symbol("nil"),
        Json::Bool(value) => Value::symbol(if *value { "TRUE" } else { "FALSE" }),
        Json::Number(number) => match number.as_i64() {
            Some(value) => Value::Integer(value),
            None => number
                .as_f64()
                .and_then(Value::float)
                .ok_or_else(|| format!("{number} does not fit"))?,
        },
        Json::String(text) => Value::string(text),
        Json::Object(object) => match (object.len(), object.get("symbol")) {
            (1, Some(Json::String(name))) => Value::symbol(name),
            _ => return Err("an object as a value is {\"symbol\": \"name\"}".to_owned()),
        },
        Json::Array(_) => return Err("a list is no value of one field".to_owned()),
    })
}

/// A value as JSON; a symbol other than `TRUE`, `FALSE` and `nil` is `{"symbol": …}`.
#[must_use]
pub fn value_to_json(value: &Value) -> Json {
    match value {
        Value::Symbol(name) => match &**name {
            "TRUE" => Json::Bool(true),
            "FALSE" => Json::Bool(false),
            "nil" => Json::Null,
            name => json!({"symbol": name}),
        },
        Value::String(text) => Json::String(text.to_string()),
        Value::Integer(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Multifield(values) => Json::Array(values.iter().map(value_to_json).collect()),
        Value::Fact(id) => json!({"fact": id.to_string()}),
    }
}

/// A fact as JSON, in the form that [`facts`] reads.
#[must_use]
pub fn fact_to_json(fact: &Fact) -> Json {
    match fact.template() {
        None => {
            let fields: Vec<_> = fact
                .fields()
                .unwrap_or_default()
                .iter()
                .map(value_to_json)
                .collect();
            json!({"name": fact.name(), "fields": fields})
        }
        Some(template) => {
            let slots: Map<String, Json> = template
                .slots()
                .iter()
                .filter_map(|slot| Some((slot.name().to_owned(), value_to_json(fact.slot(slot.name())?))))
                .collect();
            json!({"template": fact.name(), "slots": slots})
        }
    }
}
