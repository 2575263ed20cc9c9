//! One execution of a plan, as a state machine: events go in, commands come out, nothing else happens.
//!
//! Time, ids, calls and people are outside. The same plan, start and events give the same run, so a run that was
//! interrupted is made again by giving it the events that were recorded; [`Run::pending`] then says what was under way.
//!
//! ```text
//! rules → packs → before gates → each step { gates_before → input map → schema → packs → call → packs → output map → gates_after
//!       → step-scoped gates } → after gates → packs;   a failed attempt → packs → again, or on_error gates → next step, or the
//!       end (D4, D21)
//! ```
//!
//! To add a checkpoint: a variant of `Checkpoint` in `run/state.rs`, and where it leads in `Run::passed`.

mod event;
mod failing;
mod gates;
mod knowledge;
mod nested;
mod packs;
mod rules;
mod state;
mod steps;

pub use event::{CallFailure, Command, Event, KeptLog, Released, Transient};
pub use knowledge::MomentFacts;
pub use nested::{Callee, NestedAsked, NestedReply, Within};
pub use packs::{Evidence, PackAnswer, PackQuestion};
pub use state::GateQuestion;

use crate::plan::Plan;
use mizzen_model::execution::{
    Approval, CallLog, ChainExecutionResult, Escalation, EscalationAnswer, ExecutionError, ExecutionStatus,
    StepExecution, StepStatus,
};
use mizzen_model::id::ExecutionId;
use mizzen_model::timestamp::Timestamp;
use serde_json::{Value, json};
use state::{Checkpoint, Continuation, State};
use std::sync::Arc;

/// How large a mapped input or output may become, in bytes of JSON text; a tool's own limits are lower.
const MAP_LIMIT: usize = 8 << 20;

/// What a run begins with.
#[derive(Debug, Clone)]
pub struct Start {
    /// The execution's id.
    pub execution_id: ExecutionId,
    /// The input.
    pub input: Value,
    /// Now, in milliseconds since 1970.
    pub now_ms: u64,
    /// How long the run waits for a person, in milliseconds; none: for as long as it takes.
    pub escalation_ms: Option<u64>,
}

/// One execution.
#[derive(Debug)]
pub struct Run<C> {
    plan: Arc<Plan<C>>,
    result: ChainExecutionResult,
    input: Value,
    /// The input without what packs took out of the inputs of calls; none where that was nothing.
    redacted_input: Option<Value>,
    /// Whether `input` is what was left of one.
    input_is_redacted: bool,
    /// Mapped outputs by order.
    outputs: Vec<Option<Value>>,
    /// The variable `steps` of conditions.
    steps: Value,
    state: State,
    started_ms: u64,
    deadline_ms: u64,
    escalation_ms: Option<u64>,
    questions: u32,
    /// When the last call was commanded, in milliseconds since 1970.
    called_ms: u64,
    /// What a call answered, while packs look at it.
    held: Option<Value>,
    /// Why an attempt failed, while packs look at it.
    failure: Option<failing::Failing>,
    /// How the run ends, while packs look at it; and whether they have.
    ending: Option<(ExecutionStatus, Option<ExecutionError>)>,
    end_judged: bool,
    /// What the packs let through of what happened last.
    released: Option<Released>,
    /// What the guest of the step's last call wrote, until the step has ended.
    log: CallLog,
    /// Whether the log of what packs looked at last may be kept.
    kept_log: KeptLog,
    /// Calls that tools make.
    nested: nested::Nested,
    /// What tools said that they used up.
    used: knowledge::Used,
    /// Who answered an escalation, and who cancelled the run; empty when nobody did.
    answered_by: String,
    cancelled_by: String,
    /// What was commanded last and has not been answered.
    pending: Vec<Command>,
}

impl<C> Run<C> {
    /// Begins a run: rules and gates are evaluated until something must happen outside.
    pub fn start(plan: Arc<Plan<C>>, start: Start) -> (Self, Vec<Command>) {
        let steps = plan.steps.iter().zip(0u32..).map(|(step, order)| StepExecution {
            order,
            sprite_id: step.sprite_id,
            action: step.action.clone(),
            status: StepStatus::Pending,
            output: None,
            error: None,
            input: None,
            started_at: None,
            duration_ms: None,
            attempts: 0,
            calls: Vec::new(),
            log: Vec::new(),
            log_dropped: 0,
        });
        let result = ChainExecutionResult {
            execution_id: start.execution_id,
            council_id: plan.council_id,
            chain_id: plan.chain_id,
            status: ExecutionStatus::Running,
            started_at: Timestamp::from_unix_ms(start.now_ms),
            completed_at: None,
            duration_ms: None,
            steps: steps.collect(),
            gates: Vec::new(),
            rules: Vec::new(),
            error: None,
            escalation: None,
            packs: (!plan.packs.is_empty()).then(Vec::new),
            erased: None,
            tool: plan.tool_called.clone(),
        };
        let mut run = Self {
            outputs: vec![None; plan.steps.len()],
            steps: Value::Array(Vec::new()),
            deadline_ms: start.now_ms.saturating_add(plan.timeout_ms),
            escalation_ms: start.escalation_ms,
            plan,
            result,
            input: start.input,
            redacted_input: None,
            input_is_redacted: false,
            state: State::Moving(Checkpoint::Start, 0),
            started_ms: start.now_ms,
            questions: 0,
            held: None,
            failure: None,
            called_ms: 0,
            ending: None,
            end_judged: false,
            released: None,
            log: CallLog::default(),
            kept_log: KeptLog::default(),
            nested: nested::Nested::default(),
            used: knowledge::Used::default(),
            answered_by: String::new(),
            cancelled_by: String::new(),
            pending: Vec::new(),
        };
        for step in 0..run.result.steps.len() {
            run.describe_step(u32::try_from(step).unwrap_or(u32::MAX));
        }
        let mut commands = Vec::new();
        run.judge_rules(start.now_ms, &mut commands);
        run.advance(start.now_ms, &mut commands);
        run.remember(&commands);
        (run, commands)
    }

    /// Takes in what happened and says what to do.
    pub fn handle(&mut self, event: Event, now_ms: u64) -> Vec<Command> {
        let mut commands = Vec::new();
        if self.result.status.is_final() {
            return commands;
        }
        // What was let through of another call is not of this one: a run that was made again has not been asked for it.
        if let Event::CallEnded { .. }
        | Event::NestedAsked(_)
        | Event::NestedEnded { .. }
        | Event::GateAnswered { .. } = event
        {
            self.released = None;
        }
        // What arrives after the chain's time is too late, whatever it says; only a person's stop is heard. So is an answer to a question
        // that has expired: it is denied from then on, also when nobody has noticed yet.
        let is_cancelled = matches!(event, Event::Cancel { .. });
        if self.is_out_of_time(now_ms) && !is_cancelled {
            self.time_up(now_ms, &mut commands);
        } else if self.expires_at_ms().is_some_and(|at_ms| now_ms >= at_ms) && !is_cancelled {
            self.expire(now_ms, &mut commands);
        } else {
            self.take(event, now_ms, &mut commands);
            self.advance(now_ms, &mut commands);
        }
        self.remember(&commands);
        commands
    }

    /// The result of a run that is not needed any more.
    pub fn into_result(self) -> ChainExecutionResult {
        self.result
    }

    /// The result, or how far the run has come.
    pub fn result(&self) -> &ChainExecutionResult {
        &self.result
    }

    /// The plan.
    pub fn plan(&self) -> &Arc<Plan<C>> {
        &self.plan
    }

    /// What the packs let through of what happened last, redacted: all that may be kept of it. None while they have not let it
    /// through; of a failure [`CallFailure::withheld`] may be kept then.
    pub fn take_released(&mut self) -> Option<Released> {
        self.released.take()
    }

    /// Whether the log of that may be kept, too.
    pub fn kept_log(&self) -> KeptLog {
        self.kept_log
    }

    /// Whether packs look at what happened before anything else is done with it.
    pub fn holds(&self, event: &Event) -> bool {
        use mizzen_model::pack::Moment;
        match event {
            Event::NestedAsked(_) => self.wants(Moment::BeforeStep),
            Event::CallEnded { result, .. } | Event::NestedEnded { result, .. } => match result {
                Ok(_) => self.wants(Moment::AfterStep),
                Err(_) => self.wants(Moment::OnError),
            },
            Event::GateAnswered { .. } => self.holds_gate(),
            _ => false,
        }
    }

    /// What was commanded and has not been answered: what an interrupted run has in doubt.
    pub fn pending(&self) -> &[Command] {
        &self.pending
    }

    /// When the run must be given a [`Event::Tick`] at the latest; none when it has ended, or waits for a person for as long as it takes.
    pub fn wake_at_ms(&self) -> Option<u64> {
        match &self.state {
            State::Done => None,
            State::Approval { .. } => self.expires_at_ms(),
            State::Backoff { until_ms, .. } => Some(self.deadline_ms.min(*until_ms)),
            State::Moving(..) | State::Asking { .. } => Some(self.deadline_ms),
            State::Calling { deadline_ms, .. } | State::Judging { deadline_ms, .. } => Some(*deadline_ms),
        }
    }

    fn take(&mut self, event: Event, now_ms: u64, commands: &mut Vec<Command>) {
        match event {
            Event::CallEnded {
                order,
                attempt,
                result,
                log,
            } => {
                if self.is_calling(order, attempt) {
                    self.log = log;
                    self.call_ended(order, attempt, result, now_ms, commands);
                }
            }
            Event::NestedAsked(asked) => self.nested_asked(*asked, now_ms, commands),
            Event::NestedEnded {
                within,
                path,
                result,
                log,
            } => {
                self.nested.take_log(&path, log);
                self.nested_ended(within, &path, result, now_ms, commands);
            }
            Event::Interrupted { within } => self.call_interrupted(within, now_ms, commands),
            Event::GateAnswered { question, answer } => {
                self.gate_answered(question, answer, now_ms, commands)
            }
            Event::PacksAnswered {
                question,
                answers,
                shown,
            } => self.packs_answered(question, answers, shown, now_ms, commands),
            Event::Decided {
                escalation_id,
                decision,
                reason,
                actor,
            } => {
                self.decided(&escalation_id, decision, (reason, actor), now_ms, commands);
            }
            Event::Tick => self.tick(now_ms, commands),
            // How it ends is decided, and packs have little time to tell about it.
            Event::Cancel { .. } if self.has_ended_badly() => {}
            Event::Cancel { reason, actor } => {
                self.cancelled_by = actor;
                let error = ExecutionError::new("CANCELLED", reason, self.state.order());
                self.finish(ExecutionStatus::Cancelled, Some(error), now_ms, commands);
            }
        }
    }

    fn decided(
        &mut self,
        id: &str,
        decision: Approval,
        (reason, actor): (String, String),
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let State::Approval { since_ms, then, .. } = self.state else {
            return;
        };
        let Some(escalation) = self
            .result
            .escalation
            .as_mut()
            .filter(|found| found.escalation_id == id)
        else {
            return;
        };
        self.answered_by = actor;
        let answered_at = Timestamp::from_unix_ms(now_ms);
        escalation.answer = Some(EscalationAnswer {
            decision,
            reason: reason.clone(),
            answered_at,
        });
        match decision {
            Approval::Approve => {
                // Waiting for a person does not use up the chain's time (D6).
                let waited_ms = now_ms.saturating_sub(since_ms);
                self.deadline_ms = self.deadline_ms.saturating_add(waited_ms);
                self.result.status = ExecutionStatus::Running;
                match then {
                    None => self.state = State::Moving(Checkpoint::Start, 0),
                    Some(then) => self.go_on(then.later(waited_ms), now_ms, commands),
                }
            }
            Approval::Deny => {
                let error = ExecutionError::new("ESCALATION_DENIED", reason, None);
                self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
            }
        }
    }

    /// When the question that a person is asked expires.
    fn expires_at_ms(&self) -> Option<u64> {
        match self.state {
            State::Approval {
                since_ms, expires_ms, ..
            } => Some(since_ms.saturating_add(self.time_to_answer_ms(expires_ms)?)),
            _ => None,
        }
    }

    /// How long a person has: the shorter of what the host allows and what the rule or pack says.
    fn time_to_answer_ms(&self, own: Option<u64>) -> Option<u64> {
        self.escalation_ms.into_iter().chain(own).min()
    }

    /// Waits for a person; `then` is what goes on when they approve.
    fn escalate(
        &mut self,
        mut escalation: Escalation,
        expires_ms: Option<u64>,
        then: Option<Continuation>,
        now_ms: u64,
    ) {
        if expires_ms.is_some() {
            let time = self.time_to_answer_ms(expires_ms).unwrap_or_default();
            escalation.expires_at = Some(Timestamp::from_unix_ms(now_ms.saturating_add(time)));
        }
        self.result.escalation = Some(escalation);
        self.result.status = ExecutionStatus::AwaitingApproval;
        self.state = State::Approval {
            since_ms: now_ms,
            then,
            expires_ms,
        };
    }

    /// Nobody has answered in time: that is a denial, never an approval.
    fn expire(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let own = match self.state {
            State::Approval { expires_ms, .. } => expires_ms,
            _ => None,
        };
        let time = self.time_to_answer_ms(own).unwrap_or_default();
        let reason = format!("nobody answered within {} s", time / 1_000);
        if let Some(escalation) = &mut self.result.escalation {
            escalation.answer = Some(EscalationAnswer {
                decision: Approval::Deny,
                reason: reason.clone(),
                answered_at: Timestamp::from_unix_ms(now_ms),
            });
        }
        let error = ExecutionError {
            code: "ESCALATION_EXPIRED".to_owned(),
            message: reason,
            step: None,
            tool_code: None,
        };
        self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
    }

    fn has_ended_badly(&self) -> bool {
        let judged = matches!(
            self.state,
            State::Judging {
                then: Continuation::End,
                ..
            }
        );
        judged
            && self
                .ending
                .as_ref()
                .is_some_and(|(status, _)| *status != ExecutionStatus::Completed)
    }

    fn is_out_of_time(&self, now_ms: u64) -> bool {
        let has_own_time = matches!(
            self.state,
            State::Done
                | State::Approval { .. }
                | State::Judging {
                    then: Continuation::End,
                    ..
                }
        );
        !has_own_time && now_ms >= self.deadline_ms
    }

    fn time_up(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let place = match self.state.order() {
            Some(order) => format!("step {order}"),
            None => "a gate".to_owned(),
        };
        let message = format!(
            "the chain's timeout of {} ms was up in {place}",
            self.plan.timeout_ms
        );
        let error = ExecutionError::new("TIMEOUT", message, self.state.order());
        self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands);
    }

    /// Evaluates what needs nothing from outside. Every round passes a gate or a step, so there is an end.
    fn advance(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        while let State::Moving(place, index) = self.state {
            if self.gates_at(place).get(index).is_some() {
                self.judge_gate(place, index, now_ms, commands);
            } else {
                self.passed(place, now_ms, commands);
            }
        }
    }

    /// Every gate of a place has allowed: where the run goes on.
    fn passed(&mut self, place: Checkpoint, now_ms: u64, commands: &mut Vec<Command>) {
        match place {
            Checkpoint::Start if self.wants(mizzen_model::pack::Moment::BeforeRun) => {
                self.ask_packs(Continuation::Start, now_ms, commands);
            }
            Checkpoint::Start => self.state = State::Moving(Checkpoint::Before, 0),
            Checkpoint::Before => self.begin_step(0),
            Checkpoint::StepBefore(order) => self.call_step(order, now_ms, commands),
            Checkpoint::StepAfter(order) => self.state = State::Moving(Checkpoint::EachStep(order), 0),
            Checkpoint::EachStep(order) => self.begin_step(order.saturating_add(1)),
            Checkpoint::OnError(order) if self.ends_the_chain(order) => self.fail(order, now_ms, commands),
            Checkpoint::OnError(order) => self.begin_step(order.saturating_add(1)),
            Checkpoint::After => self.finish(ExecutionStatus::Completed, None, now_ms, commands),
        }
    }

    fn begin_step(&mut self, order: u32) {
        let place = if (order as usize) < self.plan.steps.len() {
            Checkpoint::StepBefore(order)
        } else {
            Checkpoint::After
        };
        self.state = State::Moving(place, 0);
    }

    fn finish(
        &mut self,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        if self.state.is_outside() {
            commands.push(Command::StopCalls);
        }
        for step in &mut self.result.steps {
            match step.status {
                StepStatus::Pending => step.status = StepStatus::Skipped,
                StepStatus::Running => {
                    step.status = StepStatus::Failed;
                    step.error = error.clone();
                    let begun = step
                        .started_at
                        .as_ref()
                        .map_or(0, |at| u64::try_from(at.unix_ms()).unwrap_or(0));
                    step.duration_ms = Some(now_ms.saturating_sub(begun));
                }
                StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped => {}
            }
        }
        (self.held, self.failure) = (None, None);
        self.lose_nested(now_ms);
        if !self.end_judged && self.wants(mizzen_model::pack::Moment::AtEnd) {
            self.end_judged = true;
            self.ending = Some((status, error));
            self.result.status = ExecutionStatus::Running;
            self.ask_packs(Continuation::End, now_ms, commands);
        } else {
            self.end(status, error, now_ms, commands);
        }
    }

    /// The packs have looked at the end, or their time is up.
    fn end_as_decided(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        if let Some((status, error)) = self.ending.take() {
            self.end(status, error, now_ms, commands);
        }
    }

    fn end(
        &mut self,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        self.state = State::Done;
        self.result.status = status;
        self.result.error = error;
        self.result.completed_at = Some(Timestamp::from_unix_ms(now_ms));
        self.result.duration_ms = Some(now_ms.saturating_sub(self.started_ms));
        commands.push(Command::Finished { status });
    }

    fn remember(&mut self, commands: &[Command]) {
        let outside = commands.iter().filter(|command| {
            // What tools call is commanded again by them.
            match command {
                Command::Call { .. } | Command::AskGate(_) => true,
                Command::AskPacks(question) => question.level == 0,
                _ => false,
            }
        });
        let outside: Vec<Command> = outside.cloned().collect();
        if !outside.is_empty() || !self.state.is_outside() {
            self.pending = outside;
        }
    }

    /// Brings the variable `steps` up to date with one step: what conditions can say about it. One step at a time, because
    /// copying every output at every step would be quadratic.
    fn describe_step(&mut self, order: u32) {
        let Some(step) = self.result.steps.get(order as usize) else {
            return;
        };
        let Value::Array(steps) = &mut self.steps else {
            return;
        };
        if steps.len() <= order as usize {
            steps.push(json!({
                "order": step.order, "action": step.action, "sprite_id": step.sprite_id.to_string(),
                "status": step.status.as_str(), "attempts": step.attempts,
            }));
        }
        let Some(Value::Object(described)) = steps.get_mut(order as usize) else {
            return;
        };
        // What cannot change is left as it is.
        match described.get_mut("status") {
            Some(Value::String(status)) if status == step.status.as_str() => {}
            _ => drop(described.insert("status".to_owned(), step.status.as_str().into())),
        }
        if let Some(attempts) = described.get_mut("attempts") {
            *attempts = step.attempts.into();
        }
        match &step.output {
            Some(output) => drop(described.insert("output".to_owned(), output.clone())),
            None => drop(described.remove("output")),
        }
    }
}
