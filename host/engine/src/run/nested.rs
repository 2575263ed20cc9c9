//! Calls that tools make (D23): judged, made and remembered like steps, as children of the step's call or of the gate agent's.
//!
//! ```text
//! asked for → packs → known from before, in doubt, or: the call → packs → its caller is answered
//! ```
//!
//! A guest that calls waits for its answer, so what is under way is a stack: the step's call below, the innermost one on top. The
//! outermost call goes on meanwhile, and when it ends, everything above it is lost.

mod gate;
mod listing;
mod memory;

use super::failing::{FailedBy, Failing};
use super::knowledge::size;
use super::state::{About, Continuation, State};
use super::{CallFailure, Command, Evidence, GateQuestion, PackAnswer, Run};
use crate::pack::{PackAction, REDACTED};
use crate::plan::{Repeatable, ToolFacts};
use memory::{Due, Known, Memory};
use mizzen_model::execution::{CallLog, ExecutionError, NestedExecution, NestedStatus};
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use serde_json::Value;

/// The outermost call that a tool's call belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Within {
    /// A step's.
    Step {
        /// The step's order.
        order: u32,
        /// Which attempt, from 1.
        attempt: u32,
    },
    /// The gate agent's.
    Gate {
        /// The question's number, from its command.
        question: u32,
    },
}

/// A call that a tool wants to make.
#[derive(Debug, Clone, PartialEq)]
pub struct NestedAsked {
    /// The call that it is a part of.
    pub within: Within,
    /// Its place: `2` is the second call of the outermost tool, `2.1` the first one that the tool called by it makes. A call
    /// that is made again numbers its calls as before.
    pub path: String,
    /// The tool that makes it.
    pub caller: String,
    /// What is called, found and pinned.
    pub callee: Callee,
    /// The input.
    pub input: Value,
}

/// A tool that another one calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Callee {
    /// What packs are told about it.
    pub tool: ToolFacts,
    /// The package that it comes from, to the byte.
    pub digest: String,
    /// Whether making the call twice does no harm.
    pub repeatable: Repeatable,
}

impl Callee {
    /// Whether a call of it does more than read.
    pub fn changes_the_world(&self) -> bool {
        !self.tool.side_effects.is_harmless()
    }

    /// Whether nobody outside can tell that it was called.
    pub fn is_pure(&self) -> bool {
        self.tool.side_effects == SideEffects::None
    }
}

/// What a tool is answered that made a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NestedReply {
    /// The callee's output.
    Answered(Value),
    /// The call failed.
    Failed(CallFailure),
    /// The call is not allowed, or its answer; and why.
    Denied(String),
}

impl NestedReply {
    fn size(&self) -> u64 {
        match self {
            Self::Answered(output) => size(output),
            Self::Failed(failed) => failed.message.len() as u64,
            Self::Denied(reason) => reason.len() as u64,
        }
    }
}

/// The calls of tools that are under way, and what became of earlier ones: of one step, or of one question to the gate agent.
#[derive(Debug, Default)]
pub(super) struct Nested {
    /// Outermost first.
    frames: Vec<Frame>,
    memory: Memory,
    /// The calls of the gate agent's tool, until the gate has decided.
    of_the_gate: Vec<NestedExecution>,
    /// Calls that were under way when the outermost one was over: no other moment tells what came of them.
    lost: Vec<Frame>,
}

/// One of them.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) asked: NestedAsked,
    state: FrameState,
    /// When its call was commanded, in milliseconds since 1970.
    pub(super) called_ms: u64,
    /// What it answered, while packs look at it.
    pub(super) held: Option<Value>,
    /// Why it failed, while packs look at it.
    pub(super) failure: Option<Failing>,
    /// What its guest wrote.
    log: CallLog,
    /// What the gate agent is asked, where this is its own call and not one of its tool's.
    gate: Option<Box<GateQuestion>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FrameState {
    /// Packs were asked.
    Judging { question: u32, about: About },
    /// It is being made.
    Calling,
}

impl Frame {
    /// How deep it is: 1 for a call of the outermost tool.
    pub(super) fn depth(&self) -> usize {
        match self.gate {
            Some(_) => 0,
            None => self.asked.path.split('.').count(),
        }
    }

    pub(super) fn is_called(&self) -> bool {
        self.state == FrameState::Calling
    }

    /// Whether it is the gate agent's own call.
    pub(super) fn is_the_gates(&self) -> bool {
        self.gate.is_some()
    }

    /// What the gate agent answered, as packs have left it. A reason that is no text any more is gone; no decision is a veto.
    pub(super) fn gate_answer(&self) -> Result<(), String> {
        let text = |name: &str| self.held.as_ref()?.get(name)?.as_str();
        match text("decision") {
            Some("allow") => Ok(()),
            _ => Err(text("reason").unwrap_or(REDACTED).to_owned()),
        }
    }
}

/// The path of the gate agent's own call.
const GATE: &str = "gate";

impl Nested {
    /// The innermost call.
    pub(super) fn top(&self) -> Option<&Frame> {
        self.frames.last()
    }

    pub(super) fn top_mut(&mut self) -> Option<&mut Frame> {
        self.frames.last_mut()
    }

    /// A guest has ended that wrote this.
    pub(super) fn take_log(&mut self, path: &str, log: CallLog) {
        let ended = |frame: &&mut Frame| frame.asked.path == path && frame.is_called();
        if let Some(frame) = self.frames.iter_mut().find(ended) {
            frame.log = log;
        }
    }

    /// What the innermost guest wrote is not kept.
    pub(super) fn drop_log(&mut self) {
        if let Some(frame) = self.frames.last_mut() {
            frame.log = CallLog::default();
        }
    }

    /// Whether packs are asked about the innermost call.
    pub(super) fn is_judged(&self) -> bool {
        self.top()
            .is_some_and(|frame| matches!(frame.state, FrameState::Judging { .. }))
    }

    /// Calls that were being made when the outermost one was over.
    pub(super) fn lost(&self) -> &[Frame] {
        &self.lost
    }

    /// The first attempt of a step, or a question to the gate agent, begins.
    pub(super) fn reset(&mut self) {
        *self = Self::default();
    }

    pub(super) fn next_attempt(&mut self) {
        self.memory.next_attempt();
        self.lost.clear();
    }

    /// The gate agent has answered; what its tool was calling is lost already.
    pub(super) fn gate_is_over(&mut self) {
        self.frames.clear();
    }

    pub(super) fn take_of_the_gate(&mut self) -> Vec<NestedExecution> {
        std::mem::take(&mut self.of_the_gate)
    }

    /// What a question of packs is about, if it is about the innermost call.
    pub(super) fn asks(&self, question: u32) -> Option<About> {
        match self.top()?.state {
            FrameState::Judging {
                question: asked,
                about,
            } if asked == question => Some(about),
            FrameState::Judging { .. } | FrameState::Calling => None,
        }
    }

    /// Whether the tool that would make a call is the one that runs.
    fn is_callers_turn(&self, path: &str) -> bool {
        match (path.rsplit_once('.'), self.top()) {
            (None, None) => true,
            (None, Some(top)) => top.gate.is_some() && top.is_called(),
            (Some((caller, _)), Some(top)) => top.asked.path == caller && top.is_called(),
            (Some(_), None) => false,
        }
    }

    /// Where the calls that tools make begin: above the gate agent's own, if packs are asked about that.
    fn base(&self) -> usize {
        usize::from(self.frames.first().is_some_and(|frame| frame.gate.is_some()))
    }
}

impl<C> Run<C> {
    /// Why the tools of the call that is under way can make no further calls; none when they can.
    pub fn refuses_calls(&self, within: Within) -> Option<String> {
        self.task_within(within)?.nested.memory.is_full()
    }

    /// Whether the call that is under way has made calls: when it is made again, that has to be told by [`Event::Interrupted`].
    ///
    /// [`Event::Interrupted`]: super::Event::Interrupted
    pub fn has_nested(&self) -> Vec<Within> {
        let tasks = std::iter::once(&self.task).chain(self.branches.tasks());
        tasks
            .filter(|task| !task.nested.memory.is_fresh())
            .filter_map(|task| within(task.state))
            .collect()
    }

    fn within(&self) -> Option<Within> {
        within(self.task.state)
    }

    /// When the outermost call's time is up.
    fn outermost_deadline_ms(&self) -> u64 {
        match self.task.state {
            State::Calling { deadline_ms, .. } => deadline_ms,
            _ => self.deadline_ms,
        }
    }

    pub(super) fn nested_asked(&mut self, asked: NestedAsked, now_ms: u64, commands: &mut Vec<Command>) {
        let is_due = self.within() == Some(asked.within)
            && self.task.nested.is_callers_turn(&asked.path)
            && self.task.nested.memory.is_full().is_none();
        if !is_due || !self.task.nested.memory.ask(&asked.path) {
            return;
        }
        self.list(&asked, now_ms);
        self.task.nested.frames.push(Frame {
            asked,
            state: FrameState::Calling,
            called_ms: now_ms,
            held: None,
            failure: None,
            log: CallLog::default(),
            gate: None,
        });
        self.begin_nested(now_ms, commands);
    }

    pub(super) fn begin_nested(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        if self.wants(Moment::BeforeStep) {
            self.ask_about_call(About::Call, now_ms, commands);
        } else {
            self.make_nested(now_ms, commands);
        }
    }

    fn ask_about_call(&mut self, about: About, now_ms: u64, commands: &mut Vec<Command>) {
        let then = Continuation::Nested {
            about,
            order: self.task.state.order(),
        };
        let question = self.question(then, self.outermost_deadline_ms(), now_ms);
        if let Some(frame) = self.task.nested.top_mut() {
            frame.state = FrameState::Judging {
                question: question.question,
                about,
            };
        }
        commands.push(Command::AskPacks(question));
    }

    /// Nothing stands against the innermost call: it is made, unless it was before.
    fn make_nested(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let deadline_ms = self.outermost_deadline_ms();
        let Some(frame) = self.task.nested.frames.last_mut() else {
            return;
        };
        let asked = &frame.asked;
        if let Some(question) = &mut frame.gate {
            question.input = asked.input.clone();
            commands.push(Command::AskGate((**question).clone()));
            frame.state = FrameState::Calling;
            frame.called_ms = now_ms;
            return;
        }
        let due = Due {
            path: &asked.path,
            attempt: match asked.within {
                Within::Step { attempt, .. } => attempt,
                Within::Gate { .. } => 1,
            },
            tool: &asked.callee.tool.tool,
            input: &asked.input,
            changes_the_world: asked.callee.changes_the_world(),
            repeatable: asked.callee.repeatable,
        };
        match self.task.nested.memory.look(&due) {
            Known::Nothing => {
                self.task.nested.memory.begin(&due);
                commands.push(Command::NestedCall {
                    within: asked.within,
                    path: asked.path.clone(),
                    callee: asked.callee.clone(),
                    input: asked.input.clone(),
                    deadline_ms,
                });
                frame.state = FrameState::Calling;
                frame.called_ms = now_ms;
            }
            Known::Answered(reply) => self.answer_caller(reply, None, now_ms, commands),
            Known::InDoubt { tool } => {
                let message = format!(
                    "{tool} was called in this step before, and what came of it is not known or was another call; it names no \
                     idempotency key, so it is not called again"
                );
                let reply = NestedReply::Failed(CallFailure::lasting("IN_DOUBT".to_owned(), message));
                self.answer_caller(reply, None, now_ms, commands);
            }
        }
    }

    pub(super) fn nested_ended(
        &mut self,
        within: Within,
        path: &str,
        result: Result<Value, CallFailure>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let made = |frame: &Frame| frame.asked.path == path && frame.is_called();
        let (true, Some(place)) = (
            self.within() == Some(within),
            self.task.nested.frames.iter().position(made),
        ) else {
            return;
        };
        let inner = place.saturating_add(1);
        if inner < self.task.nested.frames.len() {
            // Its guest ended while it waited for a call of its own.
            commands.push(Command::StopNested {
                within,
                path: path.to_owned(),
            });
            self.lose_from(inner, now_ms);
        }
        if let (Ok(response), false) = (&result, self.plan.packs.is_empty()) {
            self.used.count(response);
        }
        match result {
            Ok(response) if self.wants(Moment::AfterStep) => {
                if let Some(frame) = self.task.nested.top_mut() {
                    frame.held = Some(response);
                }
                self.ask_about_call(About::Respond, now_ms, commands);
            }
            Err(failed) if self.wants(Moment::OnError) => {
                if let Some(frame) = self.task.nested.top_mut() {
                    frame.failure = Some(Failing::new(failed, FailedBy::Call));
                }
                self.ask_about_call(About::Fail, now_ms, commands);
            }
            Ok(response) => self.answer_caller(NestedReply::Answered(response), None, now_ms, commands),
            Err(failed) => self.answer_caller(NestedReply::Failed(failed), None, now_ms, commands),
        }
    }

    /// The packs have answered about the innermost call.
    pub(super) fn nested_judged(
        &mut self,
        about: About,
        answers: Vec<PackAnswer>,
        shown: Evidence,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let then = Continuation::Nested {
            about,
            order: self.task.state.order(),
        };
        let decisive = self.judge(then, answers, shown, now_ms);
        let Some(frame) = self.task.nested.top_mut() else {
            return;
        };
        let tool = &frame.asked.callee.tool.tool;
        let denied = match decisive {
            Some(decisive) if decisive.action == PackAction::Veto => {
                Some(("PACK_VETO", decisive.veto_text()))
            }
            // A guest holds its sandbox while it waits: a person may take days.
            Some(decisive) if decisive.action == PackAction::Escalate => {
                let text = decisive.escalation_text();
                let message = format!(
                    "{text}; a call that is no step cannot wait for a person: make {tool} a step of its own"
                );
                Some(("NEEDS_APPROVAL", message))
            }
            _ => None,
        };
        if frame.is_the_gates() {
            let answer = frame.gate_answer();
            return match (denied, about) {
                // It has not allowed: a gate that packs are against vetoes.
                (Some((_, reason)), _) => self.gate_decides(Err(reason), now_ms, commands),
                (None, About::Call) => self.make_nested(now_ms, commands),
                (None, About::Respond | About::Fail) => self.gate_decides(answer, now_ms, commands),
            };
        }
        if let Some((code, reason)) = denied {
            let reply = NestedReply::Denied(reason);
            return self.answer_caller(reply, Some(code), now_ms, commands);
        }
        match about {
            About::Call => self.make_nested(now_ms, commands),
            About::Respond => {
                let response = frame.held.take().unwrap_or(Value::Null);
                self.answer_caller(NestedReply::Answered(response), None, now_ms, commands);
            }
            About::Fail => {
                let failed = frame.failure.take().map(|failing| failing.failed);
                let failed = failed.unwrap_or_else(CallFailure::unknown);
                self.answer_caller(NestedReply::Failed(failed), None, now_ms, commands);
            }
        }
    }

    /// The innermost call is over; `code` says by what a denied one was.
    fn answer_caller(
        &mut self,
        reply: NestedReply,
        code: Option<&str>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let Some(frame) = self.task.nested.frames.pop() else {
            return;
        };
        let path = frame.asked.path.clone();
        self.task.nested.memory.end(&path, &reply);
        let step = self.task.state.order();
        let (status, error) = match &reply {
            NestedReply::Answered(_) => (NestedStatus::Completed, None),
            NestedReply::Failed(failed) => (NestedStatus::Failed, Some(failed.clone().into_error(step))),
            NestedReply::Denied(reason) => {
                let error = ExecutionError::new(code.unwrap_or("DENIED"), reason.clone(), step);
                (NestedStatus::Denied, Some(error))
            }
        };
        self.list_end(&path, status, error, now_ms);
        self.list_log(&path, frame.log);
        commands.push(Command::NestedReply {
            within: frame.asked.within,
            path,
            reply,
        });
    }

    /// The host stopped while the outermost call was under way: it is made again, and comes to the same calls again.
    pub(super) fn call_interrupted(&mut self, within: Within, now_ms: u64, commands: &mut Vec<Command>) {
        if self.within() != Some(within) || self.task.nested.memory.is_fresh() {
            return;
        }
        self.lose_from(self.task.nested.base(), now_ms);
        self.task.nested.lost.clear();
        self.task.nested.memory.again();
        commands.extend(self.task.pending.clone());
    }

    /// The outermost call is over, whatever the others are at. Returns whether there were any.
    pub(super) fn lose_nested(&mut self, now_ms: u64) -> bool {
        let any = !self.task.nested.frames.is_empty();
        self.task.nested.lost.clear();
        self.lose_from(0, now_ms);
        any
    }

    fn lose_from(&mut self, place: usize, now_ms: u64) {
        while self.task.nested.frames.len() > place {
            let Some(frame) = self.task.nested.frames.pop() else {
                return;
            };
            let path = &frame.asked.path;
            self.task.nested.memory.lose(path);
            let message = format!("{} ended before this call did", frame.asked.caller);
            let error = ExecutionError::new("CALLER_ENDED", message, self.task.state.order());
            self.list_end(path, NestedStatus::Failed, Some(error), now_ms);
            if frame.is_called() {
                self.task.nested.lost.push(frame);
            }
        }
    }
}

/// The outermost call that a task makes.
fn within(state: State) -> Option<Within> {
    match state {
        State::Calling { order, attempt, .. } => Some(Within::Step { order, attempt }),
        State::Asking { question, .. } => Some(Within::Gate { question }),
        _ => None,
    }
}
