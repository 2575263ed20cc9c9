//! The gate agent's own call, where its tool touches the world: packs are asked about it as about a tool's call.

use super::super::state::About;
use super::super::{Command, GateQuestion, Run};
use super::{Callee, Frame, FrameState, GATE, NestedAsked, Within};
use mizzen_model::execution::CallLog;
use mizzen_model::pack::Moment;
use serde_json::json;

impl<C> Run<C> {
    /// The gate agent is asked. Where its tool touches the world, packs are asked about that first, as about a step's.
    pub(in super::super) fn begin_gate(
        &mut self,
        question: GateQuestion,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        self.task.nested.reset();
        let Some((tool, repeatable)) = self.plan.governed_gate() else {
            commands.push(Command::AskGate(question));
            return;
        };
        let asked = NestedAsked {
            within: Within::Gate {
                question: question.question,
            },
            path: GATE.to_owned(),
            caller: String::new(),
            callee: Callee {
                tool: tool.clone(),
                digest: String::new(),
                repeatable,
            },
            input: question.input.clone(),
        };
        self.task.nested.frames.push(Frame {
            asked,
            state: FrameState::Calling,
            called_ms: now_ms,
            held: None,
            failure: None,
            log: CallLog::default(),
            gate: Some(Box::new(question)),
        });
        self.begin_nested(now_ms, commands);
    }

    /// Whether packs look at what the gate agent answers.
    pub(in super::super) fn holds_gate(&self) -> bool {
        self.plan.governed_gate().is_some() && self.wants(Moment::AfterStep)
    }

    /// The gate agent has answered: true when packs are asked about it first.
    pub(in super::super) fn judge_gate_answer(
        &mut self,
        answer: &Result<(), String>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) -> bool {
        if self.task.nested.frames.len() > self.task.nested.base() {
            commands.push(Command::StopCalls);
            self.lose_from(self.task.nested.base(), now_ms);
        }
        let is_held = self.holds_gate();
        if let (true, Some(frame)) = (is_held, self.task.nested.top_mut()) {
            frame.held = Some(match answer {
                Ok(()) => json!({"decision": "allow"}),
                Err(reason) => json!({"decision": "veto", "reason": reason}),
            });
            self.ask_about_call(About::Respond, now_ms, commands);
        }
        is_held
    }

    /// Whether the gate agent was asked and packs are not looking at its call.
    pub(in super::super) fn is_gate_asked(&self) -> bool {
        let own = self
            .task
            .nested
            .frames
            .first()
            .filter(|frame| frame.gate.is_some());
        own.is_none_or(Frame::is_called)
    }
}
