//! People in a graph: a question that a rule asks (D17, D33), and a pause.

use super::super::state::State;
use super::super::{Command, Run};
use super::host_fact;
use crate::graph::PlannedInterrupt;
use mizzen_model::execution::{ExecutionStatus, Interrupt, InterruptAnswer};
use mizzen_model::timestamp::Timestamp;
use mizzen_rules::{Value as FactValue, json};
use serde_json::{Map, Value};
use std::sync::Arc;

/// What a response's fields are called as facts.
const RESPONSE: &str = "response";

/// The slots of a `respond` fact, without its place in the run.
pub(super) fn respond_slots(
    actor: &str,
    answer: &str,
    capability: Option<&str>,
) -> Vec<(&'static str, FactValue)> {
    vec![
        ("actor", FactValue::string(actor)),
        ("answer", FactValue::symbol(answer)),
        ("capability", FactValue::string(capability.unwrap_or_default())),
        ("note", FactValue::string("")),
    ]
}

impl<C> Run<C> {
    /// Waits for a person; rules decide again when there is an answer.
    pub(super) fn interrupt(
        &mut self,
        rule: &str,
        asked: Arc<PlannedInterrupt>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let (Some(graph), Some(record)) = (&mut self.graph, &mut self.result.graph) else {
            return;
        };
        graph.interrupts = graph.interrupts.saturating_add(1);
        let interrupt_id = format!("{}:{rule}:{}", self.result.execution_id, graph.interrupts);
        let expires_ms = asked.timeout_ms.map(|time| now_ms.saturating_add(time));
        record.interrupt = Some(Interrupt {
            interrupt_id: interrupt_id.clone(),
            rule_id: rule.to_owned(),
            prompt: asked.prompt.clone(),
            payload: asked.payload.clone(),
            requested_capability: asked.requested_capability.clone(),
            expires_at: expires_ms.map(Timestamp::from_unix_ms),
            answer: None,
        });
        graph.interrupt = Some(asked);
        self.result.status = ExecutionStatus::AwaitingInput;
        self.task.state = State::Input {
            since_ms: now_ms,
            expires_ms,
        };
        commands.push(Command::Interrupted { interrupt_id });
    }

    /// Why a response does not fit the state; none when it does, and can be taken.
    pub fn misfit_of(&self, response: &Map<String, Value>) -> Option<String> {
        let graph = self.plan.graph.as_ref()?;
        let fields = self.fields_of(response);
        let checked = graph.state.check(&fields);
        let checked = checked.and_then(|()| {
            graph
                .state
                .check_size(self.state_map().unwrap_or(&fields), &fields)
        });
        checked.err().map(|problem| problem.message)
    }

    /// The fields of a response that are fields of the state.
    fn fields_of(&self, response: &Map<String, Value>) -> Map<String, Value> {
        let has = |field: &str| {
            self.plan
                .graph
                .as_ref()
                .is_some_and(|graph| graph.state.has(field))
        };
        let fields = response.iter().filter(|(field, _)| has(field));
        fields
            .map(|(field, value)| (field.clone(), value.clone()))
            .collect()
    }

    /// A person has answered. An answer that does not fit, or to another question, is not taken.
    pub(in super::super) fn responded_by(
        &mut self,
        interrupt_id: &str,
        response: Map<String, Value>,
        actor: String,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let State::Input { since_ms, .. } = self.task.state else {
            return;
        };
        if self.misfit_of(&response).is_some() {
            return;
        }
        let fields = self.fields_of(&response);
        let record = self
            .result
            .graph
            .as_mut()
            .and_then(|record| record.interrupt.as_mut());
        let Some(asked) = record.filter(|asked| asked.interrupt_id == interrupt_id) else {
            return;
        };
        let mut slots = respond_slots(&actor, "answered", asked.requested_capability.as_deref());
        asked.answer = Some(InterruptAnswer {
            response: response.clone(),
            actor,
            answered_at: Timestamp::from_unix_ms(now_ms),
        });
        slots.extend([
            ("source", FactValue::string(RESPONSE)),
            ("run-id", FactValue::string(&self.result.execution_id.to_string())),
            (
                "time",
                FactValue::Integer(i64::try_from(now_ms).unwrap_or(i64::MAX)),
            ),
        ]);
        let whole = Map::from_iter([(RESPONSE.to_owned(), Value::Object(response))]);
        // More fields than facts may be: the response was bounded where it was read.
        let facts = json::state_facts(&whole).unwrap_or_default();
        if let Some(graph) = &mut self.graph {
            graph.events.extend(host_fact("respond", &slots));
            graph.events.extend(facts);
        }
        self.wake(since_ms, now_ms);
        self.task.state = State::Deciding;
        self.set_fields(fields, now_ms, commands);
    }

    /// Waiting for a person does not use up the run's time (D6).
    fn wake(&mut self, since_ms: u64, now_ms: u64) {
        let waited_ms = now_ms.saturating_sub(since_ms);
        self.deadline_ms = self.deadline_ms.saturating_add(waited_ms);
        self.result.status = ExecutionStatus::Running;
        if let Some(graph) = &mut self.graph {
            graph.interrupt = None;
        }
    }

    /// Nobody has answered in time.
    pub(in super::super) fn input_expired(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let State::Input { since_ms, .. } = self.task.state else {
            return;
        };
        let asked = self.graph.as_mut().and_then(|graph| graph.interrupt.take());
        self.wake(since_ms, now_ms);
        match asked.and_then(|asked| asked.on_timeout) {
            Some(node) => self.task.state = State::Entering(Some(node)),
            None => {
                if let Some(record) = &mut self.result.graph {
                    record.halted = Some("nobody answered the interrupt in time".to_owned());
                }
                self.finish(ExecutionStatus::Completed, None, now_ms, commands);
            }
        }
    }

    /// The run waits before its next node.
    pub(in super::super) fn pause(&mut self, commands: &mut Vec<Command>) {
        let is_paused = matches!(self.task.state, State::Paused { .. });
        if let Some(graph) = &mut self.graph
            && !is_paused
            && !graph.pausing
        {
            graph.pausing = true;
            commands.push(Command::Noted);
        }
    }

    /// The run goes on.
    pub(in super::super) fn resume(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        if let State::Paused { node, since_ms } = self.task.state {
            self.wake(since_ms, now_ms);
            self.task.state = State::Entering(node);
        } else if let Some(graph) = &mut self.graph
            && std::mem::take(&mut graph.pausing)
        {
            commands.push(Command::Noted);
        }
    }
}
