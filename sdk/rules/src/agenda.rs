//! Which matches wait to fire, in the order of CLIPS's depth strategy: by salience, and among equals the latest first.

use crate::budget::{Exhausted, Meter};
use crate::matches::MatchId;
use crate::network::{BranchId, Network};

/// A match that waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Activation {
    pub(crate) found: MatchId,
    pub(crate) branch: BranchId,
}

/// The matches that wait.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    /// Every activation there was, by number; empty when it has fired or was taken away.
    all: Vec<Option<Activation>>,
    /// By salience, the highest first: numbers of activations, the latest last. Those that were taken away are still listed.
    groups: Vec<(i32, Vec<u32>)>,
    waiting: usize,
    fired: usize,
}

impl Agenda {
    /// An empty one for the rules of a network.
    pub(crate) fn new(network: &Network) -> Self {
        let mut saliences: Vec<i32> = network.endings.iter().map(|ending| ending.salience).collect();
        saliences.sort_unstable_by(|a, b| b.cmp(a));
        saliences.dedup();
        Self {
            groups: saliences
                .into_iter()
                .map(|salience| (salience, Vec::new()))
                .collect(),
            ..Self::default()
        }
    }

    /// Finds room now.
    pub(crate) fn make_room(&mut self, count: usize) {
        self.all.reserve(count);
        for (_, group) in &mut self.groups {
            group.reserve(count / 4);
        }
    }

    /// Adds a match; the number of its activation.
    pub(crate) fn add(
        &mut self,
        activation: Activation,
        salience: i32,
        meter: &Meter,
    ) -> Result<u32, Exhausted> {
        if self.waiting + self.fired >= meter.budget.activations {
            return Err(Exhausted::Activations(meter.budget.activations));
        }
        let number = u32::try_from(self.all.len()).unwrap_or(u32::MAX);
        self.all.push(Some(activation));
        self.waiting += 1;
        if let Some((_, group)) = self.groups.iter_mut().find(|(known, _)| *known == salience) {
            group.push(number);
        }
        Ok(number)
    }

    /// Takes an activation away.
    pub(crate) fn remove(&mut self, number: u32) {
        let place = self.all.get_mut(number as usize);
        if place.and_then(Option::take).is_some() {
            self.waiting = self.waiting.saturating_sub(1);
        }
    }

    /// The next match to fire.
    pub(crate) fn next(&mut self) -> Option<Activation> {
        for (_, group) in &mut self.groups {
            while let Some(number) = group.pop() {
                let place = self.all.get_mut(number as usize);
                if let Some(next) = place.and_then(Option::take) {
                    self.waiting = self.waiting.saturating_sub(1);
                    self.fired += 1;
                    return Some(next);
                }
            }
        }
        None
    }

    /// The matches that wait, the earliest first.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = &Activation> {
        self.all.iter().flatten()
    }
}
