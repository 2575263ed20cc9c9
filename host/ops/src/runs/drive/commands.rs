//! What a run commands, done. A step's call is under way, or the gate agent's, or a question to packs; above it the calls that its tool
//! waits for, one inside of the other, and on top of them a question to packs about the innermost one.

use super::super::entry;
use super::super::nested::Broker;
use super::super::packs;
use super::super::perform::{self, Work};
use super::super::resolve::StepCall;
use super::lanes::beside;
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
        self.close_lanes();
        for command in &commands {
            match command {
                Command::StopCalls => self.stop_all(),
                Command::StopBranch { order } => self.stop_branch(*order),
                Command::StopNested { within, path } => {
                    let branch = self.branch_within(*within);
                    let lane = self.lane(branch);
                    let place = lane.awaited.iter().position(|call| call.path == *path);
                    // Its own call has ended: it is what waits for an answer, and nothing above it does.
                    lane.stop_from(place.map_or(0, |place| place.saturating_add(1)));
                    if branch.is_none() {
                        self.barred.clear();
                    }
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
            // Questions to packs wait for nothing: the store takes no entry while one is open.
            let (asked, barred): (Vec<Command>, Vec<Command>) = commands
                .into_iter()
                .partition(|command| matches!(command, Command::AskPacks(_)));
            self.barred.extend(barred);
            self.perform(asked);
        } else {
            self.perform(commands);
        }
    }

    /// Whether the world, or somebody in it, may notice that it is done.
    fn is_outward(&self, command: &Command) -> bool {
        let call = match command {
            Command::Call { order, .. } => self.run.call_of(*order),
            Command::AskGate(_) => self.run.plan().gate_call(),
            Command::NestedCall { callee, .. } => return !callee.is_pure(),
            _ => return false,
        };
        call.is_some_and(|call| call.pin.side_effects != SideEffects::None)
    }

    pub(super) fn perform(&mut self, commands: Vec<Command>) {
        for command in commands {
            let host = Arc::clone(&self.host);
            let (branch, call): (Option<u32>, Call) = match command {
                Command::Call {
                    order,
                    attempt,
                    input,
                    deadline_ms,
                } => {
                    let Some(call) = self.run.call_of(order).cloned() else {
                        continue;
                    };
                    let within = Within::Step { order, attempt };
                    let key = self.idempotency_key(order);
                    let work = self.work(call, within, input, deadline_ms, key);
                    let branch = self.branch_at(Some(order));
                    let made = perform::step(Arc::clone(&host), work, order, attempt);
                    let made: Call = match branch {
                        None => Box::pin(made),
                        Some(_) => beside(&host, made),
                    };
                    (branch, made)
                }
                Command::NestedCall {
                    within,
                    path,
                    input,
                    deadline_ms,
                    ..
                } => {
                    let branch = self.branch_within(within);
                    let awaited = self.lane(branch).awaited.last();
                    let Some(awaited) = awaited.filter(|awaited| awaited.path == path) else {
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
                    (branch, Box::pin(perform::nested(host, work, within, path)))
                }
                Command::NestedReply { within, path, reply } => {
                    let branch = self.branch_within(within);
                    let awaited = &mut self.lane(branch).awaited;
                    if let Some(awaited) = awaited.pop_if(|awaited| awaited.path == path) {
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
                    (None, Box::pin(perform::gate(host, work, question)))
                }
                Command::AskPacks(question) => {
                    let left = question.deadline_ms.saturating_sub(self.clock.now_ms(&self.host));
                    let packs = Arc::clone(&self.packs);
                    let branch = self.branch_at(question.step);
                    let asked = packs::ask(host, packs, question, Duration::from_millis(left));
                    (branch, Box::pin(asked))
                }
                // Timers follow from the run's state; hooks and ends are in the store.
                Command::StopCalls
                | Command::StopBranch { .. }
                | Command::StopNested { .. }
                | Command::Interrupted { .. }
                | Command::Noted
                | Command::WakeAt { .. }
                | Command::Notify { .. }
                | Command::Escalated { .. }
                | Command::Finished { .. } => continue,
            };
            self.lane(branch).work.push(call);
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
