//! Steps: map in, check, call, map out; and what follows when one of these fails.

use super::failing::{FailedBy, Failing};
use super::state::{Attempt, Checkpoint, Continuation, State};
use super::{CallFailure, Command, Evidence, MAP_LIMIT, Run, Transient};
use crate::plan::{PlannedStep, Repeatable, StepInput};
use mizzen_condition::map::Scope;
use mizzen_model::execution::{CallLog, ExecutionError, ExecutionStatus, StepExecution, StepStatus};
use mizzen_model::pack::Moment;
use mizzen_model::timestamp::Timestamp;
use serde_json::Value;
use std::sync::Arc;

/// No pause between attempts is longer.
const MAX_BACKOFF_MS: u64 = 60_000;

fn failure(code: &str, message: String, order: u32) -> ExecutionError {
    ExecutionError::new(code, message, Some(order))
}

impl<C> Run<C> {
    /// The step's gates have allowed: its input is mapped and checked, and its call commanded.
    pub(super) fn call_step(&mut self, order: u32, now_ms: u64, commands: &mut Vec<Command>) {
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.steps.get(self.node_of(order)) else {
            return;
        };
        self.task.nested.reset();
        self.with_step(order, |step| {
            step.status = StepStatus::Running;
            step.started_at = Some(Timestamp::from_unix_ms(now_ms));
        });
        let prepared = self.prepare(step, order);
        match prepared {
            Ok(input) => {
                self.with_step(order, |step| step.input = Some(input.clone()));
                let own = step
                    .timeout_ms
                    .map_or(u64::MAX, |timeout| now_ms.saturating_add(timeout));
                let deadline_ms = own.min(self.deadline_ms);
                if self.wants(Moment::BeforeStep) {
                    self.ask_packs(Continuation::Call { order, deadline_ms }, now_ms, commands);
                } else {
                    let attempt = Attempt {
                        order,
                        number: 1,
                        deadline_ms,
                    };
                    self.call(attempt, input, now_ms, commands);
                }
            }
            Err(error) => {
                let failed = CallFailure::lasting(error.code, error.message);
                let attempt = Attempt {
                    order,
                    number: 0,
                    deadline_ms: self.deadline_ms,
                };
                self.attempt_failed(attempt, Failing::new(failed, FailedBy::Run), now_ms, commands);
            }
        }
    }

    fn prepare(&self, step: &PlannedStep<C>, order: u32) -> Result<Value, ExecutionError> {
        // What cannot be called fails before its input is looked at: the reason says what to install.
        step.target.as_ref().map_err(Clone::clone)?;
        let input = match &step.input {
            StepInput::Whole => self.input.clone(),
            StepInput::State => self.state_input(order),
            StepInput::Mapped(map) => {
                let scope = Scope {
                    input: &self.input,
                    steps: &self.outputs,
                    output: None,
                };
                map.apply(scope, MAP_LIMIT)
                    .map_err(|fault| failure("INPUT_MAP_FAILED", format!("input_map: {fault}"), order))?
            }
        };
        if let Some(Err(violations)) = step.parameters.as_ref().map(|schema| schema.check(&input)) {
            let list: Vec<String> = violations
                .iter()
                .map(|v| format!("{}: {}", v.path, v.message))
                .collect();
            let message = format!(
                "the input does not fit the parameters of {:?}: {}",
                step.action,
                list.join("; ")
            );
            return Err(failure("INVALID_INPUT", message, order));
        }
        Ok(input)
    }

    pub(super) fn call(&mut self, attempt: Attempt, input: Value, now_ms: u64, commands: &mut Vec<Command>) {
        let Attempt {
            order,
            number: attempt,
            deadline_ms,
        } = attempt;
        self.task.called_ms = now_ms;
        self.task.log = CallLog::default();
        self.task.nested.next_attempt();
        self.with_step(order, |step| step.attempts = attempt);
        self.task.state = State::Calling {
            order,
            attempt,
            deadline_ms,
        };
        commands.push(Command::Call {
            order,
            attempt,
            input,
            deadline_ms,
        });
    }

    /// Whether this attempt is the one that is under way.
    pub(super) fn is_calling(&self, order: u32, attempt: u32) -> bool {
        matches!(self.task.state, State::Calling { order: at, attempt: number, .. } if (at, number) == (order, attempt))
    }

    pub(super) fn call_ended(
        &mut self,
        order: u32,
        attempt: u32,
        result: Result<Value, CallFailure>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let State::Calling {
            order: expected,
            attempt: current,
            deadline_ms,
        } = self.task.state
        else {
            return;
        };
        if (expected, current) != (order, attempt) {
            return;
        }
        if self.lose_nested(now_ms) {
            commands.push(Command::StopCalls);
        }
        if let (Ok(response), false) = (&result, self.plan.packs.is_empty()) {
            self.used.count(response);
        }
        let attempt = Attempt {
            order,
            number: attempt,
            deadline_ms,
        };
        match result {
            Ok(response) if self.wants(Moment::AfterStep) => {
                self.task.held = Some(response);
                self.ask_packs(Continuation::Respond(attempt), now_ms, commands);
            }
            Ok(response) => self.responded(attempt, response, now_ms, commands),
            Err(failed) => {
                self.attempt_failed(attempt, Failing::new(failed, FailedBy::Call), now_ms, commands);
            }
        }
    }

    /// An attempt has failed: packs look at it, if there are any.
    pub(super) fn attempt_failed(
        &mut self,
        attempt: Attempt,
        failing: Failing,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        if self.wants(Moment::OnError) {
            self.task.failure = Some(failing);
            self.ask_packs(Continuation::Fail(attempt), now_ms, commands);
        } else {
            self.attempt_over(attempt, failing.failed, now_ms, commands);
        }
    }

    /// The attempt is made again where the step's policy says so, or the step fails.
    pub(super) fn attempt_over(
        &mut self,
        attempt: Attempt,
        failed: CallFailure,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let Attempt {
            order,
            number,
            deadline_ms,
        } = attempt;
        let until_ms = now_ms.saturating_add(self.backoff_ms(order, number));
        if self.may_retry(order, number, &failed) && until_ms < deadline_ms {
            self.task.state = State::Backoff {
                order,
                attempt: number,
                until_ms,
                deadline_ms,
            };
            commands.push(Command::WakeAt { at_ms: until_ms });
        } else {
            self.step_failed(order, failed.into_error(Some(order)), now_ms, commands);
        }
    }

    /// A call is made again only when the failure may pass and the first call did no harm (or its key prevents it).
    fn may_retry(&self, order: u32, attempt: u32, failed: &CallFailure) -> bool {
        self.planned(order).is_some_and(|step| {
            let repeatable = step
                .target
                .as_ref()
                .is_ok_and(|target| target.repeatable == Repeatable::Yes);
            repeatable && failed.transient == Transient::Yes && attempt <= step.retries
        })
    }

    /// The pause doubles with every attempt; up to a half of it is cut, by a hash of what is called, so that runs that failed
    /// together do not return together and a run that is made again from its events waits as it did.
    pub(super) fn backoff_ms(&self, order: u32, attempt: u32) -> u64 {
        let base = self.planned(order).map_or(0, |step| step.backoff_ms);
        let doubled = base
            .saturating_mul(1u64 << attempt.saturating_sub(1).min(16))
            .min(MAX_BACKOFF_MS);
        let seed = format!("{}/{order}/{attempt}", self.result.execution_id);
        let random = blake3::hash(seed.as_bytes())
            .as_bytes()
            .first()
            .copied()
            .map_or(0, u64::from);
        doubled - doubled * random / 512
    }

    pub(super) fn tick(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        match self.task.state {
            State::Backoff {
                order,
                attempt,
                until_ms,
                deadline_ms,
            } if now_ms >= until_ms => {
                let input = self
                    .result
                    .steps
                    .get(order as usize)
                    .and_then(|step| step.input.clone());
                let attempt = Attempt {
                    order,
                    number: attempt.saturating_add(1),
                    deadline_ms,
                };
                self.call(attempt, input.unwrap_or(Value::Null), now_ms, commands);
            }
            State::Delay { node, until_ms } if now_ms >= until_ms => {
                self.task.state = State::Entering(Some(node));
            }
            // The step's own time is up; the chain's is judged elsewhere.
            State::Calling {
                order,
                attempt,
                deadline_ms,
            } if now_ms >= deadline_ms => {
                let attempt = Attempt {
                    order,
                    number: attempt,
                    deadline_ms,
                };
                self.step_time_up(attempt, now_ms, commands);
            }
            // Also while packs are asked: an answer that nobody has judged in time is no answer.
            State::Judging {
                then: Continuation::Call { order, deadline_ms },
                ..
            } if now_ms >= deadline_ms => {
                let attempt = Attempt {
                    order,
                    number: 0,
                    deadline_ms,
                };
                self.step_time_up(attempt, now_ms, commands);
            }
            State::Judging {
                then: Continuation::Respond(attempt),
                ..
            } if now_ms >= attempt.deadline_ms => self.step_time_up(attempt, now_ms, commands),
            // Nobody has answered: what mandatory packs have not seen does not end well.
            State::Judging {
                question,
                then: Continuation::End,
                deadline_ms,
            } if now_ms >= deadline_ms => {
                commands.push(Command::StopCalls);
                self.packs_answered(question, Vec::new(), Evidence::Full, now_ms, commands);
            }
            _ => {}
        }
    }

    fn step_time_up(&mut self, attempt: Attempt, now_ms: u64, commands: &mut Vec<Command>) {
        commands.push(Command::StopCalls);
        self.lose_nested(now_ms);
        self.task.held = None;
        self.task.log = CallLog::default();
        let message = format!("the timeout of step {} was up", attempt.order);
        let failed = CallFailure::lasting("TIMEOUT".to_owned(), message);
        self.attempt_failed(attempt, Failing::new(failed, FailedBy::Run), now_ms, commands);
    }

    pub(super) fn responded(
        &mut self,
        attempt: Attempt,
        response: Value,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        if self.graph.is_some() {
            return self.node_responded(attempt, response, now_ms, commands);
        }
        let order = attempt.order;
        let plan = Arc::clone(&self.plan);
        let Some(step) = plan.steps.get(self.node_of(order)) else {
            return;
        };
        let output = if step.output.is_empty() {
            Ok(response)
        } else {
            let scope = Scope {
                input: &self.input,
                steps: &self.outputs,
                output: Some(&response),
            };
            step.output.apply(scope, MAP_LIMIT)
        };
        match output {
            Ok(output) => {
                let log = std::mem::take(&mut self.task.log);
                self.end_step(order, now_ms, |step| {
                    step.status = StepStatus::Completed;
                    step.output = Some(output.clone());
                    (step.log, step.log_dropped) = (log.lines, log.dropped);
                });
                if let Some(slot) = self.outputs.get_mut(order as usize) {
                    *slot = Some(output);
                }
                self.describe_step(order);
                self.task.state = State::Moving(Checkpoint::StepAfter(order), 0);
            }
            Err(fault) => {
                let failed =
                    CallFailure::lasting("OUTPUT_MAP_FAILED".to_owned(), format!("output_map: {fault}"));
                self.attempt_failed(attempt, Failing::new(failed, FailedBy::Run), now_ms, commands);
            }
        }
    }

    /// D4: without on_error gates the chain has failed; with them they are asked.
    fn step_failed(&mut self, order: u32, error: ExecutionError, now_ms: u64, commands: &mut Vec<Command>) {
        if self.graph.is_some() {
            return self.node_failed(order, error, now_ms, commands);
        }
        let log = std::mem::take(&mut self.task.log);
        self.end_step(order, now_ms, |step| {
            step.status = StepStatus::Failed;
            step.error = Some(error);
            (step.log, step.log_dropped) = (log.lines, log.dropped);
        });
        self.describe_step(order);
        // The call has ended: nothing is left to stop.
        self.task.state = State::Moving(Checkpoint::OnError(order), 0);
        if self.plan.on_error.is_empty() {
            self.fail(order, now_ms, commands);
        }
    }

    /// D21: a protected sprite's failed step cannot be passed over.
    pub(super) fn ends_the_chain(&self, order: u32) -> bool {
        self.plan
            .steps
            .get(order as usize)
            .is_none_or(|step| step.protected)
    }

    pub(super) fn fail(&mut self, order: u32, now_ms: u64, commands: &mut Vec<Command>) {
        let error = self
            .result
            .steps
            .get(order as usize)
            .and_then(|step| step.error.clone());
        self.finish(ExecutionStatus::Failed, error, now_ms, commands);
    }

    fn with_step(&mut self, order: u32, change: impl FnOnce(&mut StepExecution)) {
        if let Some(step) = self.result.steps.get_mut(order as usize) {
            change(step);
        }
    }

    pub(super) fn end_step(&mut self, order: u32, now_ms: u64, change: impl FnOnce(&mut StepExecution)) {
        self.with_step(order, |step| {
            let begun = step
                .started_at
                .as_ref()
                .map_or(0, |at| u64::try_from(at.unix_ms()).unwrap_or(0));
            step.duration_ms = Some(now_ms.saturating_sub(begun));
            change(step);
        });
    }
}
