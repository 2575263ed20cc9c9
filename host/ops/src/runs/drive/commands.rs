//! What a run commands, done. At most one call is under way.

use super::super::packs;
use super::super::perform::{self, Work};
use super::super::resolve::StepCall;
use super::{Call, Driver};
use crate::traces::Span;
use mizzen_engine::run::Command;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Driver {
    /// Does what the run commands: at once when nobody outside could tell, and otherwise when everything before it is durable.
    pub(super) fn go_on(&mut self, commands: Vec<Command>) {
        if commands.contains(&Command::StopCalls) {
            self.call = None;
            self.barred.clear();
        }
        let calls = commands
            .iter()
            .any(|command| matches!(command, Command::Call { .. } | Command::AskGate(_)));
        let ahead = !self.ledger.is_durable();
        if calls
            && ahead
            && (self.ledger.is_pressing() || commands.iter().any(|command| self.is_outward(command)))
        {
            self.barred = commands;
        } else {
            self.perform(commands);
        }
    }

    /// Whether the world, or somebody in it, may notice that it is done.
    fn is_outward(&self, command: &Command) -> bool {
        let call = match command {
            Command::Call { order, .. } => self.run.plan().call(*order),
            Command::AskGate(_) => self.run.plan().gate_call(),
            _ => return false,
        };
        call.is_some_and(|call| call.pin.side_effects != "none")
    }

    pub(super) fn perform(&mut self, commands: Vec<Command>) {
        for command in commands {
            let host = Arc::clone(&self.host);
            let call: Call = match command {
                Command::Call {
                    order,
                    attempt,
                    input,
                    deadline_ms,
                } => {
                    let Some(call) = self.run.plan().call(order).cloned() else {
                        continue;
                    };
                    let work = self.work(call, input, deadline_ms, Some(order), self.idempotency_key(order));
                    Box::pin(perform::step(host, work, order, attempt))
                }
                Command::AskGate(question) => {
                    let Some(call) = self.run.plan().gate_call().cloned() else {
                        continue;
                    };
                    let key = format!("{}/gate/{}", self.id, question.question);
                    let (input, deadline_ms) = (question.input.clone(), question.deadline_ms);
                    let work = self.work(call, input, deadline_ms, question.step, key);
                    Box::pin(perform::gate(host, work, question))
                }
                Command::AskPacks(question) => {
                    let left = question.deadline_ms.saturating_sub(self.clock.now_ms(&self.host));
                    let packs = Arc::clone(&self.packs);
                    Box::pin(packs::ask(host, packs, question, Duration::from_millis(left)))
                }
                // Timers follow from the run's state; hooks and ends are in the store.
                Command::StopCalls
                | Command::WakeAt { .. }
                | Command::Notify { .. }
                | Command::Escalated { .. }
                | Command::Finished { .. } => continue,
            };
            self.call = Some(call);
        }
    }

    fn work(&self, call: StepCall, input: Value, deadline_ms: u64, step: Option<u32>, key: String) -> Work {
        Work {
            call,
            input,
            run_id: self.id.to_string(),
            step,
            idempotency_key: key,
            left: Duration::from_millis(deadline_ms.saturating_sub(self.clock.now_ms(&self.host))),
            trace: self.span.as_ref().map(Span::context),
        }
    }
}
