//! Facts, and the store that knows each of them once.

use crate::budget::{Exhausted, Meter};
use crate::template::Template;
use crate::value::Value;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

/// A map whose hashing is the same everywhere; nothing iterates over it.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<DefaultHasher>>;

/// Which fact. Ids grow with every assertion and are never used twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FactId(pub(crate) u64);

impl fmt::Display for FactId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A fact: `(name field …)`, or `(name (slot value) …)` with a template. An ordered fact has one nameless multislot.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    name: Arc<str>,
    template: Option<Arc<Template>>,
    slots: Arc<[Value]>,
}

impl Fact {
    /// An ordered fact.
    #[must_use]
    pub fn ordered(name: &str, fields: Vec<Value>) -> Self {
        Self {
            name: name.into(),
            template: None,
            slots: Arc::from([Value::Multifield(fields.into())]),
        }
    }

    /// A fact of a template; slots that are not given take their defaults.
    pub fn of_template(template: &Arc<Template>, given: &[(&str, Value)]) -> Result<Self, String> {
        let name = template.name();
        for (at, (slot, _)) in given.iter().enumerate() {
            if template.slot(slot).is_none() {
                return Err(format!("template {name} has no slot {slot}"));
            }
            if given.iter().take(at).any(|(other, _)| other == slot) {
                return Err(format!("slot {slot} of {name} is given twice"));
            }
        }
        let values: Result<Vec<Value>, String> = template
            .slots()
            .iter()
            .map(|slot| match given.iter().find(|(name, _)| *name == slot.name()) {
                Some((_, value)) => Ok(value.clone()),
                None => slot
                    .default_value()
                    .ok_or_else(|| format!("slot {} of {name} needs a value", slot.name())),
            })
            .collect();
        Self::from_slots(template, values?)
    }

    pub(crate) fn from_slots(template: &Arc<Template>, slots: Vec<Value>) -> Result<Self, String> {
        for (slot, value) in template.slots().iter().zip(&slots) {
            slot.check(value)
                .map_err(|message| format!("a fact {} does not fit: {message}", template.name()))?;
        }
        Ok(Self {
            name: template.name().into(),
            template: Some(Arc::clone(template)),
            slots: slots.into(),
        })
    }

    /// The name of its relation or template.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The fields of an ordered fact.
    #[must_use]
    pub fn fields(&self) -> Option<&[Value]> {
        match (&self.template, &*self.slots) {
            (None, [Value::Multifield(fields)]) => Some(fields),
            _ => None,
        }
    }

    /// The value of a slot of a template fact.
    #[must_use]
    pub fn slot(&self, name: &str) -> Option<&Value> {
        let (at, _) = self.template.as_ref()?.slot(name)?;
        self.slots.get(at)
    }

    /// Its template, if it has one.
    #[must_use]
    pub fn template(&self) -> Option<&Arc<Template>> {
        self.template.as_ref()
    }

    pub(crate) fn slots(&self) -> &[Value] {
        &self.slots
    }

    fn weight(&self) -> usize {
        256 + self.slots.iter().map(|value| 32 + value.weight()).sum::<usize>()
    }
}

impl fmt::Display for Fact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let spread = |f: &mut fmt::Formatter<'_>, value: &Value| match value {
            Value::Multifield(values) => values.iter().try_for_each(|value| write!(f, " {value}")),
            value => write!(f, " {value}"),
        };
        write!(f, "({}", self.name)?;
        match &self.template {
            None => self.slots.iter().try_for_each(|value| spread(f, value))?,
            Some(template) => {
                for (slot, value) in template.slots().iter().zip(self.slots.iter()) {
                    write!(f, " ({}", slot.name())?;
                    spread(f, value)?;
                    f.write_str(")")?;
                }
            }
        }
        f.write_str(")")
    }
}

/// A fact in the store.
#[derive(Debug, Clone)]
pub(crate) struct Stored {
    pub(crate) fact: Fact,
    /// How many firings led to it.
    pub(crate) cycle: u32,
}

/// All facts of a session.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    stored: BTreeMap<FactId, Stored>,
    ids: Map<(Arc<str>, Arc<[Value]>), FactId>,
    next: u64,
}

impl Facts {
    /// Adds a fact; `None` where the same fact is there already.
    pub(crate) fn insert(
        &mut self,
        fact: Fact,
        cycle: u32,
        meter: &mut Meter,
    ) -> Result<Option<FactId>, Exhausted> {
        let weight = fact.weight();
        meter.spend(1)?;
        meter.spend_bytes(weight)?;
        let key = (Arc::clone(&fact.name), Arc::clone(&fact.slots));
        if self.ids.contains_key(&key) {
            return Ok(None);
        }
        if self.stored.len() >= meter.budget.facts {
            return Err(Exhausted::Facts(meter.budget.facts));
        }
        meter.reserve(weight)?;
        let id = FactId(self.next);
        self.next += 1;
        self.ids.insert(key, id);
        self.stored.insert(id, Stored { fact, cycle });
        Ok(Some(id))
    }

    pub(crate) fn remove(&mut self, id: FactId, meter: &mut Meter) -> Option<Stored> {
        let stored = self.stored.remove(&id)?;
        self.ids
            .remove(&(Arc::clone(&stored.fact.name), Arc::clone(&stored.fact.slots)));
        meter.release(stored.fact.weight());
        Some(stored)
    }

    pub(crate) fn get(&self, id: FactId) -> Option<&Stored> {
        self.stored.get(&id)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (FactId, &Fact)> {
        self.stored.iter().map(|(id, stored)| (*id, &stored.fact))
    }
}
