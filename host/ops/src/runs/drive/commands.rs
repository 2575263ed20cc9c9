//! What a run commands, done. A step's call is under way, or the gate agent's, or a question to packs; above it the calls that its tool
//! waits for, one inside of the other, and on top of them a question to packs about the innermost one.

use super::super::entry;
use super::super::nested::Broker;
use super::super::packs;
use super::super::perform::{self, Work};
use super::super::resolve::StepCall;
use super::{Call, Driver};
use crate::traces::TraceSpan;
use mizzen_engine::run::{Command, Within};
use mizzen_model::tool_spec::SideEffects;
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

impl Driver {
    /// Does what the run commands: at once when nobody outside could tell, and otherwise when everything before it is durable.
    pub(super) fn go_on(&mut self, commands: Vec<Command>) {
        for command in &commands {
            match command {
                Command::StopCalls => self.stop_from(0),
                Command::StopNested { path } => {
                    let place = self.awaited.iter().position(|call| call.path == *path);
                    // Its own call has ended: it is what waits for an answer, and nothing above it does.
                    self.stop_from(place.map_or(0, |place| place.saturating_add(1)));
                }
                _ => {}
            }
        }
        let calls = commands.iter().any(|command| {
            matches!(
                command,
                Command::Call { .. } | Command::AskGate(_) | Command::NestedCall { .. }
            )
        });
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

    /// Stops the calls that tools make, beginning with those inside of this many others; and everything, with 0.
    pub(super) fn stop_from(&mut self, depth: usize) {
        self.work.truncate(depth);
        self.awaited.truncate(depth);
        self.barred.clear();
    }

    /// Whether the world, or somebody in it, may notice that it is done.
    fn is_outward(&self, command: &Command) -> bool {
        let call = match command {
            Command::Call { order, .. } => self.run.plan().call(*order),
            Command::AskGate(_) => self.run.plan().gate_call(),
            Command::NestedCall { callee, .. } => return !callee.is_pure(),
            _ => return false,
        };
        call.is_some_and(|call| call.pin.side_effects != SideEffects::None)
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
                    let within = Within::Step { order, attempt };
                    let key = self.idempotency_key(order);
                    let work = self.work(call, within, input, deadline_ms, key);
                    Box::pin(perform::step(host, work, order, attempt))
                }
                Command::NestedCall {
                    within,
                    path,
                    input,
                    deadline_ms,
                    ..
                } => {
                    let Some(awaited) = self.awaited.last().filter(|awaited| awaited.path == path) else {
                        continue;
                    };
                    let (call, lineage, until) =
                        (awaited.call.clone(), awaited.lineage.clone(), awaited.deadline);
                    let key = entry::key_of(self.id, within, &path);
                    let broker = Broker::new(within, path.clone(), self.requests.clone());
                    let work = Work {
                        lineage,
                        until: Some(until),
                        tools: Arc::new(broker),
                        ..self.work(call, within, input, deadline_ms, key)
                    };
                    Box::pin(perform::nested(host, work, within, path))
                }
                Command::NestedReply { path, reply } => {
                    if let Some(awaited) = self.awaited.pop_if(|awaited| awaited.path == path) {
                        awaited.answer(reply);
                    }
                    continue;
                }
                Command::AskGate(question) => {
                    let Some(call) = self.run.plan().gate_call().cloned() else {
                        continue;
                    };
                    let key = format!("{}/gate/{}", self.id, question.question);
                    let (input, deadline_ms) = (question.input.clone(), question.deadline_ms);
                    let within = Within::Gate {
                        question: question.question,
                    };
                    let work = Work {
                        step: question.step,
                        ..self.work(call, within, input, deadline_ms, key)
                    };
                    Box::pin(perform::gate(host, work, question))
                }
                Command::AskPacks(question) => {
                    let left = question.deadline_ms.saturating_sub(self.clock.now_ms(&self.host));
                    let packs = Arc::clone(&self.packs);
                    Box::pin(packs::ask(host, packs, question, Duration::from_millis(left)))
                }
                // Timers follow from the run's state; hooks and ends are in the store.
                Command::StopCalls
                | Command::StopNested { .. }
                | Command::WakeAt { .. }
                | Command::Notify { .. }
                | Command::Escalated { .. }
                | Command::Finished { .. } => continue,
            };
            self.work.push(call);
        }
    }

    fn work(&self, call: StepCall, within: Within, input: Value, deadline_ms: u64, key: String) -> Work {
        Work {
            call,
            input,
            run_id: self.id.to_string(),
            step: match within {
                Within::Step { order, .. } => Some(order),
                Within::Gate { .. } => None,
            },
            idempotency_key: key,
            left: Duration::from_millis(deadline_ms.saturating_sub(self.clock.now_ms(&self.host))),
            trace: self.span.as_ref().map(TraceSpan::context),
            lineage: Vec::new(),
            until: None,
            tools: Arc::new(Broker::new(within, String::new(), self.requests.clone())),
        }
    }
}
