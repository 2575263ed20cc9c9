//! A driver whose run waits for a person puts it down and ends.

use super::super::parked::{Parked, waits_for_a_person};
use super::{Driver, Kept};

impl Driver {
    /// Puts the run down when it waits for a person and nobody waits for an answer of it. Everything that it has become is in the store.
    pub(super) fn park(&mut self) -> Parking {
        let is_done = self.ledger.is_durable()
            && !self.ledger.is_asked()
            && self.lanes.iter().all(|lane| lane.work.is_empty())
            && self.barred.is_empty()
            && self.held.is_empty()
            && self.postponed.is_empty()
            && self.first.is_empty()
            && !self.journal.has_cleared();
        if !is_done || !self.inbox.is_empty() || !waits_for_a_person(&self.run, self.clock.now_ms(&self.host))
        {
            return Parking::GoesOn;
        }
        let kept = Kept {
            clock: Some(self.clock),
            packs: Some(self.packs.clone()),
            span: self.span.take(),
        };
        self.host.runs.park(self.id.uuid(), Parked::new(&self.run, kept));
        Parking::Done
    }
}

/// Whether a run was put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Parking {
    /// It was: the driver has nothing to do any more.
    Done,
    /// It was not.
    GoesOn,
}
