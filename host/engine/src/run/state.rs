//! Where a run stands.

use mizzen_model::gate::GatePosition;
use mizzen_model::id::SpriteId;
use mizzen_model::pack::Moment;
use serde_json::Value;

/// A checkpoint: a set of gates that are evaluated one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Checkpoint {
    /// The rules have allowed; nobody stands here but packs.
    Start,
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

impl Checkpoint {
    /// The step that the checkpoint belongs to.
    pub(super) fn order(self) -> Option<u32> {
        match self {
            Checkpoint::Start | Checkpoint::Before | Checkpoint::After => None,
            Checkpoint::StepBefore(order)
            | Checkpoint::StepAfter(order)
            | Checkpoint::EachStep(order)
            | Checkpoint::OnError(order) => Some(order),
        }
    }
}

/// Where a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    /// About to evaluate the gate with this index.
    Moving(Checkpoint, usize),
    /// The condition allowed and the gate agent was asked.
    Asking {
        place: Checkpoint,
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
    /// Packs were asked, and this is what happens when nothing stands against it.
    Judging {
        question: u32,
        then: Continuation,
        deadline_ms: u64,
    },
    /// A person is asked: by a rule, or by packs about what happens then.
    Approval {
        since_ms: u64,
        then: Option<Continuation>,
        /// How long the one who asks lets a person answer; the host's own limit holds beside it.
        expires_ms: Option<u64>,
    },
    /// A graph is about to begin a node; none: it is past the last one.
    Entering(Option<u32>),
    /// Nodes of a graph have ended, and its rules decide.
    Deciding,
    /// A rule of a graph has asked for a pause before a node.
    Delay { node: u32, until_ms: u64 },
    /// Branches are under way; each has a task of its own.
    Forked,
    /// A branch has ended.
    Over,
    /// A person is asked by a rule of a graph.
    Input { since_ms: u64, expires_ms: Option<u64> },
    /// A person has paused the graph before a node.
    Paused { node: Option<u32>, since_ms: u64 },
    /// Nothing more will happen.
    Done,
}

impl State {
    /// The step that the run is in.
    pub(super) fn order(&self) -> Option<u32> {
        match self {
            State::Moving(place, _) | State::Asking { place, .. } => place.order(),
            State::Calling { order, .. } | State::Backoff { order, .. } => Some(*order),
            State::Judging { then, .. } => then.order(),
            State::Approval { .. }
            | State::Entering(_)
            | State::Deciding
            | State::Delay { .. }
            | State::Forked
            | State::Over
            | State::Input { .. }
            | State::Paused { .. }
            | State::Done => None,
        }
    }

    /// Whether a call is under way outside.
    pub(super) fn is_outside(&self) -> bool {
        matches!(
            self,
            State::Calling { .. } | State::Asking { .. } | State::Judging { .. }
        )
    }
}

/// One call of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Attempt {
    pub(super) order: u32,
    /// From 1; 0 when no call was made.
    pub(super) number: u32,
    /// When the step's time is up, or the chain's.
    pub(super) deadline_ms: u64,
}

/// What packs are asked about: what happens when nothing stands against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Continuation {
    /// The run begins.
    Start,
    /// A step's first call is made.
    Call { order: u32, deadline_ms: u64 },
    /// A call's answer is taken.
    Respond(Attempt),
    /// An attempt has failed: it is made again, or the step fails.
    Fail(Attempt),
    /// The run ends.
    End,
    /// Something about the innermost call that a tool makes. The run itself stands at the outermost one.
    Nested { about: About, order: Option<u32> },
}

/// What packs are asked about a call that a tool makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum About {
    /// It is made.
    Call,
    /// Its answer is given to its caller.
    Respond,
    /// Its failure is.
    Fail,
}

impl Continuation {
    /// The moment by which packs know it.
    pub(super) fn moment(self) -> Moment {
        match self {
            Continuation::Start => Moment::BeforeRun,
            Continuation::Call { .. } => Moment::BeforeStep,
            Continuation::Respond(_) => Moment::AfterStep,
            Continuation::Fail(_) => Moment::OnError,
            Continuation::End => Moment::AtEnd,
            Continuation::Nested { about, .. } => match about {
                About::Call => Moment::BeforeStep,
                About::Respond => Moment::AfterStep,
                About::Fail => Moment::OnError,
            },
        }
    }

    /// The step that it is about.
    pub(super) fn order(self) -> Option<u32> {
        match self {
            Continuation::Start | Continuation::End => None,
            Continuation::Call { order, .. } => Some(order),
            Continuation::Respond(attempt) | Continuation::Fail(attempt) => Some(attempt.order),
            Continuation::Nested { order, .. } => order,
        }
    }

    /// The same after a person was waited for, which uses up nobody's time (D6).
    pub(super) fn later(mut self, waited_ms: u64) -> Self {
        if let Continuation::Call { deadline_ms, .. }
        | Continuation::Respond(Attempt { deadline_ms, .. })
        | Continuation::Fail(Attempt { deadline_ms, .. }) = &mut self
        {
            *deadline_ms = deadline_ms.saturating_add(waited_ms);
        }
        self
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
