//! What a run is told and what it commands.

use super::{Callee, Evidence, GateQuestion, NestedAsked, NestedReply, PackAnswer, PackQuestion, Within};
use mizzen_model::execution::{Approval, CallLog, ExecutionError, ExecutionStatus};
use mizzen_model::rule::Hook;
use serde_json::{Map, Value};

/// Something that happened outside. What no longer matters is ignored, so that events may come late or twice.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// A call ended.
    CallEnded {
        /// The step's order.
        order: u32,
        /// Which attempt, from 1.
        attempt: u32,
        /// The response, or why there is none.
        result: Result<Value, CallFailure>,
        /// What the guest wrote.
        log: CallLog,
    },
    /// A tool wants to call another one, within the call that is under way. What the run does not answer is not to be called.
    NestedAsked(Box<NestedAsked>),
    /// A call that a tool made has ended.
    NestedEnded {
        /// The outermost call that it is a part of.
        within: Within,
        /// Its path, from its command.
        path: String,
        /// The response, or why there is none.
        result: Result<Value, CallFailure>,
        /// What the guest wrote.
        log: CallLog,
    },
    /// The host stopped while a call was under way that had made calls; it can be made again.
    Interrupted {
        /// The call.
        within: Within,
    },
    /// The gate agent answered.
    GateAnswered {
        /// The question's number, from its command.
        question: u32,
        /// Nothing against it, or the reason of the veto. No answer is a veto.
        answer: Result<(), String>,
    },
    /// The packs answered.
    PacksAnswered {
        /// The question's number, from its command.
        question: u32,
        /// What each of those that were asked said. One that is missing has not answered.
        answers: Vec<PackAnswer>,
        /// What they were shown.
        shown: Evidence,
    },
    /// A person answered.
    Decided {
        /// The escalation that is meant.
        escalation_id: String,
        /// The decision.
        decision: Approval,
        /// Why.
        reason: String,
        /// Who it was.
        actor: String,
    },
    /// A person answered an interrupt of a graph (D17).
    Responded {
        /// The interrupt that is meant.
        interrupt_id: String,
        /// The answer. A response whose state fields do not fit is not taken.
        response: Map<String, Value>,
        /// Who it was.
        actor: String,
    },
    /// A person wants a graph to wait before its next node.
    Pause {
        /// Who it is.
        actor: String,
    },
    /// A person wants a paused graph to go on.
    Resume {
        /// Who it is.
        actor: String,
    },
    /// A time that was asked for has come, or any other moment.
    Tick,
    /// Somebody wants the run to end.
    Cancel {
        /// Why.
        reason: String,
        /// Who it is.
        actor: String,
    },
}

/// Why a call has no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallFailure {
    /// A stable code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// Whether the same call may succeed later.
    pub transient: Transient,
    /// The tool's own code, where it reported the error itself.
    pub tool_code: Option<String>,
}

impl CallFailure {
    pub(super) fn lasting(code: String, message: String) -> Self {
        Self {
            code,
            message,
            transient: Transient::No,
            tool_code: None,
        }
    }

    /// The error of what failed with it.
    pub(super) fn into_error(self, step: Option<u32>) -> ExecutionError {
        ExecutionError {
            code: self.code,
            message: self.message,
            step,
            tool_code: self.tool_code,
        }
    }

    pub(super) fn unknown() -> Self {
        Self::lasting("CALL_FAILED".to_owned(), "the attempt failed".to_owned())
    }
}

/// What packs let through, redacted.
#[derive(Debug, Clone, PartialEq)]
pub enum Released {
    /// How a call ended.
    Ended(Result<Value, CallFailure>),
    /// What a tool calls another with.
    Input(Value),
    /// What the gate agent answered.
    Gate(Result<(), String>),
}

/// Whether the log of a call may be kept with what packs let through of it. They do not read it, so what they redact could stand in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeptLog {
    /// Packs had nothing against what the call came to.
    #[default]
    Yes,
    /// They vetoed or redacted it.
    No,
}

/// Whether a failure may pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transient {
    /// It may: unavailable, trapped, out of time.
    Yes,
    /// It will not: the input does not fit, or it is denied.
    No,
}

/// Something to be done outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Make a step's call. The plan has it.
    Call {
        /// The step's order.
        order: u32,
        /// Which attempt, from 1.
        attempt: u32,
        /// The mapped input.
        input: Value,
        /// When to stop it, in milliseconds since 1970.
        deadline_ms: u64,
    },
    /// Make the call that a tool asked for.
    NestedCall {
        /// The outermost call that it is a part of.
        within: Within,
        /// Its path.
        path: String,
        /// What is called.
        callee: Callee,
        /// The input, as packs let it through.
        input: Value,
        /// When to stop it at the latest, in milliseconds since 1970.
        deadline_ms: u64,
    },
    /// Answer the tool that asked for a call.
    NestedReply {
        /// The outermost call that it is a part of.
        within: Within,
        /// The call's path.
        path: String,
        /// The answer.
        reply: NestedReply,
    },
    /// Stop the calls below this one: their caller has ended.
    StopNested {
        /// The outermost call that it is a part of.
        within: Within,
        /// Its path.
        path: String,
    },
    /// Stop the calls of one branch.
    StopBranch {
        /// Its task.
        order: u32,
    },
    /// Ask the gate agent. The plan has the call.
    AskGate(GateQuestion),
    /// Ask packs. The plan has the mounts.
    AskPacks(PackQuestion),
    /// Stop whatever call is under way.
    StopCalls,
    /// Give a [`Event::Tick`] at this time.
    WakeAt {
        /// In milliseconds since 1970.
        at_ms: u64,
    },
    /// Deliver a hook, after what was decided is durable.
    Notify {
        /// The rule that matched.
        rule_id: String,
        /// Where to.
        hook: Hook,
    },
    /// A graph waits for a person's answer.
    Interrupted {
        /// What an answer must name.
        interrupt_id: String,
    },
    /// Nothing to do: what a person wanted is noted, and shows when the run comes to it.
    Noted,
    /// The run waits for a person.
    Escalated {
        /// What an answer must name.
        escalation_id: String,
    },
    /// Nothing more will happen.
    Finished {
        /// How it ended.
        status: ExecutionStatus,
    },
}
