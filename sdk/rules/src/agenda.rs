//! Which matches wait to fire, in order, and which have fired.

use crate::budget::{Exhausted, Meter};
use crate::fact::Map;
use crate::memory::RecordId;
use crate::network::Branch;
use std::cmp::Reverse;
use std::collections::BTreeSet;

/// A match that waits. The order of the fields is the order of firing: salience, rule, then facts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Activation {
    salience: Reverse<i32>,
    rule: usize,
    number: usize,
    pub(crate) tuple: Box<[RecordId]>,
    pub(crate) branch: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Agenda {
    waiting: BTreeSet<Activation>,
    /// Matches that have fired. A rule fires once per tuple of facts, whatever a `not` does later.
    fired: Map<(usize, Box<[RecordId]>), ()>,
}

impl Agenda {
    pub(crate) fn add(
        &mut self,
        id: usize,
        branch: &Branch,
        tuple: &[RecordId],
        meter: &Meter,
    ) -> Result<(), Exhausted> {
        if !self.fired.is_empty() && self.fired.contains_key(&(id, tuple.into())) {
            return Ok(());
        }
        if self.waiting.len() + self.fired.len() >= meter.budget.activations {
            return Err(Exhausted::Activations(meter.budget.activations));
        }
        self.waiting.insert(activation(id, branch, tuple));
        Ok(())
    }

    pub(crate) fn remove(&mut self, id: usize, branch: &Branch, tuple: &[RecordId]) {
        self.waiting.remove(&activation(id, branch, tuple));
    }

    /// The next match to fire; it counts as fired.
    pub(crate) fn next(&mut self) -> Option<Activation> {
        let next = self.waiting.pop_first()?;
        self.fired.insert((next.branch, next.tuple.clone()), ());
        Some(next)
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Activation> {
        self.waiting.iter()
    }
}

fn activation(id: usize, branch: &Branch, tuple: &[RecordId]) -> Activation {
    Activation {
        salience: Reverse(branch.salience),
        rule: branch.rule,
        number: branch.branch,
        tuple: tuple.into(),
        branch: id,
    }
}
