//! Facts, and the store that knows each of them once.

use crate::budget::{Exhausted, Meter};
use crate::matches::{MatchId, NONE};
use crate::shared::{Lasting, Text};
use crate::template::{Slot, Template};
use crate::value::Value;
use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::Arc;

/// A map whose hashing is the same everywhere; nothing iterates over it.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Mixing>>;

/// A map by hashes that were computed already, each once for all that is done with it.
pub(crate) type HashedMap<V> = HashMap<u64, V, BuildHasherDefault<Mixing>>;

/// A hash of a few instructions a word. Facts may say what a stranger wrote, who can make them collide: whoever compares keys of
/// one hash with each other pays for that from the budget.
#[derive(Debug, Default)]
pub(crate) struct Mixing(u64);

impl Mixing {
    fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

impl Hasher for Mixing {
    fn finish(&self) -> u64 {
        // The low bits choose a place in a table, the high ones tell its neighbours apart.
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        words.iter().for_each(|word| self.mix(u64::from_le_bytes(*word)));
        let rest = rest.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        self.mix(rest ^ (bytes.len() as u64) << 56);
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(u64::from(byte));
    }

    fn write_u32(&mut self, number: u32) {
        self.mix(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.mix(number);
    }

    fn write_usize(&mut self, number: usize) {
        self.mix(number as u64);
    }
}

/// Says what is wrong with a value of a slot, and what would be right.
fn unfit(template: &Template, slot: &Slot, message: &str) -> String {
    let (name, takes) = (template.name(), slot.takes());
    format!("a fact {name} does not fit: {message}; {takes}")
}

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
    name: Text,
    template: Option<Lasting<Template>>,
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
    pub fn of_template(template: &Lasting<Template>, given: &[(&str, Value)]) -> Result<Self, String> {
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

    /// A fact of a template with some slots said by their places, the others as their defaults are.
    pub(crate) fn of_places(
        template: &Lasting<Template>,
        given: Vec<(usize, Value)>,
    ) -> Result<Self, String> {
        let mut said = vec![None; template.slots().len()];
        for (place, value) in given {
            if let Some((slot, place)) = template.slots().get(place).zip(said.get_mut(place)) {
                slot.check(&value)
                    .map_err(|message| unfit(template, slot, &message))?;
                *place = Some(value);
            }
        }
        let unsaid = template
            .slots()
            .iter()
            .zip(&said)
            .filter(|(_, said)| said.is_none());
        for (slot, _) in unsaid.filter(|(slot, _)| slot.fitting_default().is_none()) {
            let default = slot
                .default_value()
                .ok_or_else(|| format!("slot {} of {} needs a value", slot.name(), template.name()))?;
            slot.check(&default)
                .map_err(|message| unfit(template, slot, &message))?;
        }
        Self::of_said(template, said).ok_or_else(|| format!("a fact {} does not fit", template.name()))
    }

    /// The same with a place for every slot: what is said fits. Nothing where a default is needed that is missing or does not fit.
    pub(crate) fn of_said(template: &Lasting<Template>, mut said: Vec<Option<Value>>) -> Option<Self> {
        for (place, slot) in said.iter_mut().zip(template.slots()) {
            if place.is_none() {
                *place = Some(match slot.fitting_default()? {
                    // A new one costs less than the count of the one that all share: see `shared.rs`.
                    Value::Multifield(values) if values.is_empty() => Value::Multifield(Arc::from([])),
                    value => value.clone(),
                });
            }
        }
        // All of them are there: the length is known, and so they are copied once.
        let slots = said.into_iter().map(|value| value.unwrap_or(Value::Integer(0)));
        Some(Self {
            name: Text::Lasting(template.shared_name()),
            template: Some(template.clone()),
            slots: slots.collect(),
        })
    }

    pub(crate) fn from_slots(template: &Lasting<Template>, slots: Vec<Value>) -> Result<Self, String> {
        for (slot, value) in template.slots().iter().zip(&slots) {
            slot.check(value)
                .map_err(|message| unfit(template, slot, &message))?;
        }
        Ok(Self {
            name: Text::Lasting(template.shared_name()),
            template: Some(template.clone()),
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
    pub fn template(&self) -> Option<&Lasting<Template>> {
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
    /// The latest of its matches with patterns.
    pub(crate) matches: MatchId,
    hash: u64,
    /// The fact with the same hash that came before it.
    before: Option<FactId>,
}

/// All facts of a session.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// By id; a fact that is gone leaves its place empty. Every assertion is paid for, so there are not many.
    stored: Vec<Option<Stored>>,
    count: usize,
    /// The latest fact of each hash.
    latest: HashedMap<FactId>,
}

impl Facts {
    /// Room for that many more facts, found when they come.
    pub(crate) fn make_room(&mut self, count: usize) {
        self.stored.reserve(count);
        self.latest.reserve(count);
    }

    /// Adds a fact; `None` where the same fact is there already.
    pub(crate) fn insert(
        &mut self,
        fact: Fact,
        cycle: u32,
        meter: &mut Meter,
    ) -> Result<Option<FactId>, Exhausted> {
        let id = FactId(self.stored.len() as u64);
        let Some(new) = self.store(fact, cycle, id, meter)? else {
            return Ok(None);
        };
        self.stored.push(Some(new));
        Ok(Some(id))
    }

    /// Puts a fact into the place of one that was unlinked; `false` where the same fact is there already.
    pub(crate) fn replace(
        &mut self,
        id: FactId,
        fact: Fact,
        cycle: u32,
        meter: &mut Meter,
    ) -> Result<bool, Exhausted> {
        self.take(id, meter);
        let new = self.store(fact, cycle, id, meter)?;
        let is_new = new.is_some();
        if let Some(place) = self.place(id) {
            *place = new;
        }
        Ok(is_new)
    }

    fn store(
        &mut self,
        fact: Fact,
        cycle: u32,
        id: FactId,
        meter: &mut Meter,
    ) -> Result<Option<Stored>, Exhausted> {
        let weight = fact.weight();
        meter.spend(1)?;
        meter.spend_bytes(weight)?;
        let mut hasher = Mixing::default();
        hasher.write(fact.name.as_bytes());
        fact.slots.iter().for_each(|value| value.hash(&mut hasher));
        let hash = hasher.finish();
        let latest = self.latest.get(&hash).copied();
        let mut at = latest;
        while let Some(id) = at {
            let Some(other) = self.get(id) else { break };
            if other.fact.slots == fact.slots && other.fact.name == fact.name {
                return Ok(None);
            }
            // Facts that were made to collide pay for it.
            meter.spend(1)?;
            at = other.before;
        }
        if self.count >= meter.budget.facts {
            return Err(Exhausted::Facts(meter.budget.facts));
        }
        meter.reserve(weight)?;
        self.latest.insert(hash, id);
        self.count += 1;
        Ok(Some(Stored {
            fact,
            cycle,
            matches: NONE,
            hash,
            before: latest,
        }))
    }

    /// Makes a fact unknown; `false` where it is not there. Its matches can still look at it.
    pub(crate) fn unlink(&mut self, id: FactId) -> bool {
        let Some((hash, before)) = self.get(id).map(|stored| (stored.hash, stored.before)) else {
            return false;
        };
        self.count -= 1;
        match self.latest.get(&hash).copied() {
            Some(latest) if latest == id => match before {
                Some(before) => self.latest.insert(hash, before),
                None => self.latest.remove(&hash),
            },
            // Another one of the same hash came later: its chain leads past this one.
            mut later => {
                while let Some(Some(other)) = later.and_then(|later| self.place(later)) {
                    if other.before == Some(id) {
                        other.before = before;
                        break;
                    }
                    later = other.before;
                }
                None
            }
        };
        true
    }

    /// Takes a fact that was unlinked away.
    pub(crate) fn take(&mut self, id: FactId, meter: &mut Meter) {
        if let Some(stored) = self.place(id).and_then(Option::take) {
            meter.release(stored.fact.weight());
        }
    }

    /// The fact has one more match with a pattern; the one before.
    pub(crate) fn add_match(&mut self, id: FactId, new: MatchId) -> MatchId {
        match self.place(id) {
            Some(Some(stored)) => std::mem::replace(&mut stored.matches, new),
            _ => NONE,
        }
    }

    fn place(&mut self, id: FactId) -> Option<&mut Option<Stored>> {
        self.stored.get_mut(usize::try_from(id.0).ok()?)
    }

    pub(crate) fn get(&self, id: FactId) -> Option<&Stored> {
        self.stored.get(usize::try_from(id.0).ok()?)?.as_ref()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (FactId, &Fact)> {
        self.stored
            .iter()
            .enumerate()
            .filter_map(|(at, stored)| Some((FactId(at as u64), &stored.as_ref()?.fact)))
    }
}
