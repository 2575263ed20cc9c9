//! One task of a run: what is under way at one place of it. A chain has one; a graph has one for each branch that runs beside others.
//!
//! The run works on the task in focus. An event of a branch brings that branch's task into focus, so every rule about calls, packs,
//! deadlines and nested calls is written once and holds for chains, nodes and branches.

use super::Command;
use super::failing::Failing;
use super::nested::Nested;
use super::state::State;
use mizzen_model::execution::CallLog;
use serde_json::Value;

/// What is under way at one place of a run.
#[derive(Debug)]
pub(super) struct Task {
    /// Where it stands.
    pub(super) state: State,
    /// When its last call was commanded, in milliseconds since 1970.
    pub(super) called_ms: u64,
    /// What a call answered, while packs look at it.
    pub(super) held: Option<Value>,
    /// Why an attempt failed, while packs look at it.
    pub(super) failure: Option<Failing>,
    /// What the guest of the last call wrote, until the step has ended.
    pub(super) log: CallLog,
    /// Calls that tools make.
    pub(super) nested: Nested,
    /// What was commanded last and has not been answered.
    pub(super) pending: Vec<Command>,
}

impl Task {
    /// Stands there, and nothing is under way.
    pub(super) fn at(state: State) -> Self {
        Self {
            state,
            called_ms: 0,
            held: None,
            failure: None,
            log: CallLog::default(),
            nested: Nested::default(),
            pending: Vec::new(),
        }
    }

    /// Whether packs are asked about it, or about a call that its tool makes.
    pub(super) fn is_judged(&self) -> bool {
        matches!(self.state, State::Judging { .. }) || self.nested.is_judged()
    }
}
