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
#[serde(deny_unknown_fields)]
pub struct Fact {
    #[serde(alias = "template")]
    name: String,
    #[serde(default)]
    slots: Map<String, Value>,
    #[serde(default)]
    fields: Vec<Value>,
    #[serde(skip)]
    place: usize,
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

    /// A slot.
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

    /// As a decision names it: its place in what was given, and its slots without the text of evidence. Decisions are
    /// journaled, and what one is about may be just what must not be kept.
    pub(crate) fn reference(&self) -> Value {
        let kept: Map<String, Value> = self
            .slots
            .iter()
            .filter(|(name, _)| *name != "text")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        serde_json::json!({ "index": self.place, "template": self.name, "slots": kept })
    }
}
