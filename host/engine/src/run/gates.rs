//! Gates: the condition, then the gate agent, which can only narrow (D2, D3).

use super::state::{Checkpoint, GateQuestion, State};
use super::{Command, Run};
use crate::plan::PlannedGate;
use mizzen_condition::{Context, Fuel, Variable};
use mizzen_model::execution::{ExecutionError, ExecutionStatus, GateDecision, GateEvaluation};
use serde_json::{Value, json};
use std::sync::Arc;

/// Why a gate vetoes in the ordinary case.
const CONDITION_FALSE: &str = "the condition is false";

impl<C> Run<C> {
    pub(super) fn gates_at(&self, place: Checkpoint) -> &[PlannedGate] {
        let step = |order: u32| self.planned(order);
        match place {
            Checkpoint::Start => &[],
            Checkpoint::Before => &self.plan.before,
            Checkpoint::After => &self.plan.after,
            Checkpoint::EachStep(_) => &self.plan.each_step,
            Checkpoint::OnError(_) => &self.plan.on_error,
            Checkpoint::StepBefore(order) => step(order).map_or(&[], |step| &step.gates_before),
            Checkpoint::StepAfter(order) => step(order).map_or(&[], |step| &step.gates_after),
        }
    }

    /// What `output` means at a place: the step's, or after the chain that of the last step that has one.
    fn output_at(&self, place: Checkpoint) -> Option<&Value> {
        match place {
            Checkpoint::Start | Checkpoint::Before | Checkpoint::StepBefore(_) | Checkpoint::OnError(_) => {
                None
            }
            Checkpoint::StepAfter(order) | Checkpoint::EachStep(order) => {
                self.outputs.get(order as usize)?.as_ref()
            }
            Checkpoint::After => self.outputs.iter().rev().flatten().next(),
        }
    }

    fn error_at(&self, place: Checkpoint) -> Option<Value> {
        let Checkpoint::OnError(order) = place else {
            return None;
        };
        let error = self.result.steps.get(order as usize)?.error.as_ref()?;
        let mut told = json!({"code": error.code, "message": error.message, "step": order});
        if let (Some(code), Some(members)) = (&error.tool_code, told.as_object_mut()) {
            members.insert("tool_code".to_owned(), code.as_str().into());
        }
        Some(told)
    }

    pub(super) fn judge_gate(
        &mut self,
        place: Checkpoint,
        index: usize,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let plan = Arc::clone(&self.plan);
        let error = self.error_at(place);
        let answer = {
            let Some(gate) = self.gates_at(place).get(index) else {
                return;
            };
            let mut context = Context::new()
                .with(Variable::Input, &self.input)
                .with(Variable::Steps, &self.steps)
                .with(Variable::Chain, &plan.chain)
                .with(Variable::Council, &plan.council);
            if let Some(output) = self.output_at(place) {
                context = context.with(Variable::Output, output);
            }
            if let Some(error) = &error {
                context = context.with(Variable::Error, error);
            }
            gate.condition.evaluate(&context, &mut Fuel::new(Fuel::DEFAULT))
        };
        match answer {
            Ok(false) => self.decide(place, index, Err(CONDITION_FALSE.to_owned()), now_ms, commands),
            Err(error) => {
                // Fails closed: a gate that cannot answer has not allowed (D2).
                let reason = format!("the condition has no answer: {error}");
                self.decide(place, index, Err(reason), now_ms, commands);
            }
            Ok(true) => match &plan.gate_agent {
                None => self.decide(place, index, Ok("the condition is true"), now_ms, commands),
                Some(Err(refusal)) => {
                    let reason = format!("the gate agent cannot be asked: {}", refusal.message);
                    self.decide(place, index, Err(reason), now_ms, commands);
                }
                Some(Ok(_)) => self.ask(place, index, error, now_ms, commands),
            },
        }
    }

    fn ask(
        &mut self,
        place: Checkpoint,
        index: usize,
        error: Option<Value>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let question = self.questions.saturating_add(1);
        let Some(gate) = self.gates_at(place).get(index) else {
            return;
        };
        let mut input = json!({
            "position": gate.position.as_str(), "condition": gate.condition.text(), "input": self.input,
            "steps": self.steps,
        });
        if let Value::Object(members) = &mut input {
            members.extend(
                self.output_at(place)
                    .map(|output| ("output".to_owned(), output.clone())),
            );
            members.extend(error.map(|error| ("error".to_owned(), error)));
        }
        let asked = GateQuestion {
            question,
            sprite_id: gate.sprite_id,
            position: gate.position,
            step: place.order(),
            input,
            deadline_ms: self.deadline_ms,
        };
        self.questions = question;
        self.task.state = State::Asking {
            place,
            index,
            question,
        };
        self.begin_gate(asked, now_ms, commands);
    }

    pub(super) fn gate_answered(
        &mut self,
        answered: u32,
        answer: Result<(), String>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let State::Asking { question, .. } = self.task.state else {
            return;
        };
        if question == answered && self.is_gate_asked() && !self.judge_gate_answer(&answer, now_ms, commands)
        {
            self.gate_decides(answer, now_ms, commands);
        }
    }

    /// The gate agent's answer stands.
    pub(super) fn gate_decides(
        &mut self,
        answer: Result<(), String>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let State::Asking { place, index, .. } = self.task.state else {
            return;
        };
        self.task.nested.gate_is_over();
        self.task.state = State::Moving(place, index);
        let answer = answer.map(|()| "the condition is true and the gate agent has nothing against it");
        self.decide(place, index, answer, now_ms, commands);
    }

    /// Records what a gate said, and goes to the next one or to the end.
    fn decide(
        &mut self,
        place: Checkpoint,
        index: usize,
        answer: Result<&str, String>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let calls = self.task.nested.take_of_the_gate();
        let Some(gate) = self.gates_at(place).get(index) else {
            return;
        };
        let (decision, reason) = match answer {
            Ok(reason) => (GateDecision::Allow, reason.to_owned()),
            Err(reason) => match gate.veto_message.as_deref().filter(|message| !message.is_empty()) {
                // The author's words say it all; what went wrong otherwise is added to them.
                Some(message) if reason == CONDITION_FALSE => (GateDecision::Veto, message.to_owned()),
                Some(message) => (GateDecision::Veto, format!("{message} ({reason})")),
                None => (GateDecision::Veto, reason),
            },
        };
        let step = place.order();
        let evaluation = GateEvaluation {
            position: gate.position,
            sprite_id: gate.sprite_id,
            decision,
            reason: reason.clone(),
            step,
            calls,
        };
        self.result.gates.push(evaluation);
        match decision {
            GateDecision::Allow => self.task.state = State::Moving(place, index.saturating_add(1)),
            GateDecision::Veto => {
                let error = ExecutionError::new("GATE_VETO", reason, step);
                self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
            }
        }
    }
}
