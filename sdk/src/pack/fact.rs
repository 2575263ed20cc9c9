//! Facts as a pack in Rust sees them.

use crate::ToolError;
use serde::Deserialize;
use serde_json::{Map, Value};

/// What a pack is asked about.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    facts: Vec<Fact>,
    budget: u64,
}

/// One fact: of a template, with slots, or ordered, with fields.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(try_from = "Written")]
pub struct Fact {
    name: String,
    is_ordered: bool,
    slots: Map<String, Value>,
    fields: Vec<Value>,
    place: usize,
}

/// A fact as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    template: Option<String>,
    name: Option<String>,
    #[serde(default)]
    slots: Map<String, Value>,
    #[serde(default)]
    fields: Vec<Value>,
}

impl TryFrom<Written> for Fact {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Self, Self::Error> {
        let (name, is_ordered) = match (written.template, written.name) {
            (Some(template), None) if written.fields.is_empty() => (template, false),
            (None, Some(name)) if written.slots.is_empty() => (name, true),
            _ => return Err("a fact has a name and fields, or a template and slots"),
        };
        Ok(Self {
            name,
            is_ordered,
            slots: written.slots,
            fields: written.fields,
            place: 0,
        })
    }
}

impl Evaluation {
    pub(crate) fn read(facts: &str, budget: u64) -> Result<Self, ToolError> {
        let mut facts: Vec<Fact> = serde_json::from_str(facts).map_err(|error| {
            ToolError::invalid_input("", format!("the facts are not a JSON array of facts: {error}"))
        })?;
        for (place, fact) in facts.iter_mut().enumerate() {
            fact.place = place;
        }
        Ok(Self { facts, budget })
    }

    /// Every fact, in order.
    pub fn all(&self) -> &[Fact] {
        &self.facts
    }

    /// The facts of a template, or the ordered facts of a name.
    pub fn facts<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Fact> {
        self.facts.iter().filter(move |fact| fact.name == name)
    }

    /// The operator's setting of this name, from `[config.PLUGIN]` of `mizzen.toml`.
    pub fn setting(&self, key: &str) -> Option<&Value> {
        self.facts("setting")
            .find(|fact| fact.text("key") == Some(key))?
            .slots
            .get("value")
    }

    /// Match operations that the host allows. Rust has no counter for them: what bounds a pack in Rust is its time.
    pub fn budget(&self) -> u64 {
        self.budget
    }
}

impl Fact {
    /// Its template, or the name of an ordered fact.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A slot. One that the host leaves out has its default, which `docs/facts.md` names: `step` is -1 and `attempt` 1, for two.
    pub fn slot(&self, name: &str) -> Option<&Value> {
        self.slots.get(name)
    }

    /// A slot that holds a text.
    pub fn text(&self, slot: &str) -> Option<&str> {
        self.slots.get(slot)?.as_str()
    }

    /// A slot that holds a whole number.
    pub fn integer(&self, slot: &str) -> Option<i64> {
        self.slots.get(slot)?.as_i64()
    }

    /// A slot that holds a number.
    pub fn number(&self, slot: &str) -> Option<f64> {
        self.slots.get(slot)?.as_f64()
    }

    /// The fields of an ordered fact.
    pub fn fields(&self) -> &[Value] {
        &self.fields
    }

    /// As a decision names it, and as those of rules do: its place in what was given, and its fields, or its slots without the text of
    /// evidence. Decisions are journaled, and what one is about may be just what must not be kept.
    pub(crate) fn reference(&self) -> Value {
        if self.is_ordered {
            return serde_json::json!({ "index": self.place, "name": self.name, "fields": self.fields });
        }
        let kept: Map<String, Value> = self
            .slots
            .iter()
            .filter(|(name, _)| !matches!(name.as_str(), "text" | "time" | "run-id"))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        serde_json::json!({ "index": self.place, "template": self.name, "slots": kept })
    }
}
