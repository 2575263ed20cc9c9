//! What a guest may hold: linear memory, tables, instances. wasmtime calls this before every growth.

use crate::memory::{Exhausted, Held};
use mizzen_model::limits::Limits;
use wasmtime::ResourceLimiter;

/// The bounds of one call, and its usage.
pub(crate) struct Limiter {
    memory_limit: usize,
    table_limit: usize,
    instance_limit: usize,
    memory_now: usize,
    peak: usize,
    denied: Option<Denied>,
    held: Held,
}

/// Why a growth was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Denied {
    /// It exceeds the limit of the call.
    Own,
    /// It exceeds the budget of all guests together.
    All(Exhausted),
}

impl Limiter {
    pub(crate) fn new(limits: &Limits, held: Held) -> Self {
        Self {
            memory_limit: limits.memory.as_usize(),
            table_limit: limits.table_elements as usize,
            instance_limit: limits.instances as usize,
            memory_now: 0,
            peak: 0,
            denied: None,
            held,
        }
    }

    /// The most memory the guest had, all its linear memories together.
    pub(crate) fn peak(&self) -> u64 {
        self.peak as u64
    }

    /// Why a growth was refused, if one was. A guest that traps afterwards ran out of memory: the trap itself does not show it.
    pub(crate) fn denied(&self) -> Option<Denied> {
        self.denied
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // The limit is of the guest, not of each of its memories: only the difference is added.
        let added = desired.saturating_sub(current);
        let total = self.memory_now.saturating_add(added);
        if total > self.memory_limit || maximum.is_some_and(|maximum| desired > maximum) {
            self.denied = Some(Denied::Own);
            return Ok(false);
        }
        if let Err(exhausted) = self.held.take(added as u64) {
            self.denied = Some(Denied::All(exhausted));
            return Ok(false);
        }
        self.memory_now = total;
        self.peak = self.peak.max(total);
        Ok(true)
    }

    fn memory_grow_failed(&mut self, _error: wasmtime::Error) -> wasmtime::Result<()> {
        // What was granted stays taken until the call ends: wasmtime also reports growths here that it never requested, and a guest whose refund
        // covered memory that it still has could repeat that.
        self.denied = self.denied.or(Some(Denied::Own));
        Ok(())
    }

    fn table_growing(
        &mut self,
        _current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        Ok(desired <= self.table_limit && maximum.is_none_or(|maximum| desired <= maximum))
    }

    fn instances(&self) -> usize {
        self.instance_limit
    }

    fn tables(&self) -> usize {
        self.instance_limit
    }

    fn memories(&self) -> usize {
        self.instance_limit
    }
}
