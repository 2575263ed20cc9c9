//! Where a run stands.

use mizzen_model::gate::GatePosition;
use mizzen_model::id::SpriteId;
use serde_json::Value;

/// A checkpoint: a set of gates that are evaluated one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The chain's before gates.
    Before,
    /// A step's own gates_before.
    StepBefore(u32),
    /// A step's own gates_after.
    StepAfter(u32),
    /// The chain's after gates with scope step (D1).
    EachStep(u32),
    /// The chain's on_error gates, for a step that failed.
    OnError(u32),
    /// The chain's after gates.
    After,
}

impl Place {
    /// The step that the checkpoint belongs to.
    pub(super) fn order(self) -> Option<u32> {
        match self {
            Place::Before | Place::After => None,
            Place::StepBefore(order)
            | Place::StepAfter(order)
            | Place::EachStep(order)
            | Place::OnError(order) => Some(order),
        }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum At {
    /// About to evaluate the gate with this index.
    Moving(Place, usize),
    /// The condition allowed and the gate agent was asked.
    Asking {
        place: Place,
        index: usize,
        question: u32,
    },
    /// A call is being made.
    Calling {
        order: u32,
        attempt: u32,
        deadline_ms: u64,
    },
    /// A call failed and will be made again.
    Backoff {
        order: u32,
        attempt: u32,
        until_ms: u64,
        deadline_ms: u64,
    },
    /// A person is asked.
    Approval { since_ms: u64 },
    /// Nothing more will happen.
    Done,
}

impl At {
    /// The step that the run is in.
    pub(super) fn order(&self) -> Option<u32> {
        match self {
            At::Moving(place, _) | At::Asking { place, .. } => place.order(),
            At::Calling { order, .. } | At::Backoff { order, .. } => Some(*order),
            At::Approval { .. } | At::Done => None,
        }
    }

    /// Whether a call is under way outside.
    pub(super) fn is_outside(&self) -> bool {
        matches!(self, At::Calling { .. } | At::Asking { .. })
    }
}

/// What the gate agent is asked (D3).
#[derive(Debug, Clone, PartialEq)]
pub struct GateQuestion {
    /// The question's number; the answer names it.
    pub question: u32,
    /// The gate agent.
    pub sprite_id: SpriteId,
    /// The gate's position.
    pub position: GatePosition,
    /// The step it stands at, if any.
    pub step: Option<u32>,
    /// What the agent is given: `condition`, `input`, `steps`, and `output` and `error` where there are any.
    pub input: Value,
    /// When to stop waiting, in milliseconds since 1970. No answer is a veto.
    pub deadline_ms: u64,
}
