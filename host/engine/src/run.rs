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
//! The kernel is the same for chains and graphs: tasks (`run/task.rs`), calls and their attempts, deadlines, pauses, packs, approvals,
//! nested calls, pending commands and the record. What follows what is asked of a program: a chain's steps follow each other
//! ([`Run::passed`]), a graph's rules decide (`run/graph.rs`).
//!
//! To add a checkpoint: a variant of `Checkpoint` in `run/state.rs`, and where it leads in `Run::passed`.

mod branches;
mod event;
mod failing;
mod gates;
mod graph;
mod knowledge;
mod nested;
mod packs;
mod rules;
mod state;
mod steps;
mod task;

pub use event::{CallFailure, Command, Event, KeptLog, Released, Transient};
pub use knowledge::MomentFacts;
pub use nested::{Callee, NestedAsked, NestedReply, Within};
pub use packs::{Evidence, PackAnswer, PackQuestion};
pub use state::GateQuestion;

pub(crate) use knowledge::size as size_of;

use crate::plan::{Plan, PlannedStep};
use branches::Branches;
use graph::GraphRun;
use mizzen_model::execution::{
    Approval, ChainExecutionResult, Escalation, EscalationAnswer, ExecutionError, ExecutionStatus,
    StepExecution, StepStatus,
};
use mizzen_model::id::ExecutionId;
use mizzen_model::timestamp::Timestamp;
use serde_json::{Value, json};
use state::{Checkpoint, Continuation, State};
use std::sync::Arc;
use task::Task;

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
    /// The task in focus: the chain's or graph's own, or a branch's while its event is taken in.
    task: Task,
    /// The tasks of branches that run beside each other.
    branches: Branches,
    /// Where a graph stands; none for a chain.
    graph: Option<Box<GraphRun>>,
    started_ms: u64,
    deadline_ms: u64,
    escalation_ms: Option<u64>,
    questions: u32,
    /// How the run ends, while packs look at it; and whether they have.
    ending: Option<(ExecutionStatus, Option<ExecutionError>)>,
    end_judged: bool,
    /// What the packs let through of what happened last.
    released: Option<Released>,
    /// Whether the log of what packs looked at last may be kept.
    kept_log: KeptLog,
    /// What tools said that they used up.
    used: knowledge::Used,
    /// Who answered an escalation, and who cancelled the run; empty when nobody did.
    answered_by: String,
    cancelled_by: String,
}

impl<C> Run<C> {
    /// Begins a run: rules and gates are evaluated until something must happen outside.
    pub fn start(plan: Arc<Plan<C>>, start: Start) -> (Self, Vec<Command>) {
        // The steps of a graph are visits of its nodes: nobody knows them before.
        let steps = plan.steps.iter().filter(|_| plan.graph.is_none());
        let steps = steps.zip(0u32..).map(|(step, order)| pending_step(step, order));
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
            graph: graph::record(&plan),
        };
        let mut run = Self {
            outputs: vec![None; if plan.graph.is_none() { plan.steps.len() } else { 0 }],
            graph: graph::GraphRun::of(&plan),
            steps: Value::Array(Vec::new()),
            deadline_ms: start.now_ms.saturating_add(plan.timeout_ms),
            escalation_ms: start.escalation_ms,
            plan,
            result,
            input: start.input,
            redacted_input: None,
            input_is_redacted: false,
            task: Task::at(State::Moving(Checkpoint::Start, 0)),
            branches: Branches::default(),
            started_ms: start.now_ms,
            questions: 0,
            ending: None,
            end_judged: false,
            released: None,
            kept_log: KeptLog::default(),
            used: knowledge::Used::default(),
            answered_by: String::new(),
            cancelled_by: String::new(),
        };
        for step in 0..run.result.steps.len() {
            run.describe_step(u32::try_from(step).unwrap_or(u32::MAX));
        }
        let mut commands = Vec::new();
        if run.graph.is_some() {
            run.begin_graph(start.now_ms, &mut commands);
        } else {
            run.judge_rules(start.now_ms, &mut commands);
        }
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
            match self.branch_of(&event) {
                Some(order) => self.in_branch(order, &mut commands, |run, commands| {
                    run.take(event, now_ms, commands);
                }),
                None => self.take(event, now_ms, &mut commands),
            }
            self.advance(now_ms, &mut commands);
        }
        self.remember(&commands);
        commands
    }

    /// The place in the plan of what a task does: a chain's step, or the node that a graph visits.
    pub(super) fn node_of(&self, order: u32) -> usize {
        match &self.graph {
            None => order as usize,
            Some(graph) => graph.node_of(order),
        }
    }

    /// What the plan has of a task.
    fn planned(&self, order: u32) -> Option<&PlannedStep<C>> {
        self.plan.steps.get(self.node_of(order))
    }

    /// The call of a task, for the driver that makes it.
    pub fn call_of(&self, order: u32) -> Option<&C> {
        self.plan.call(self.node_of(order))
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
    pub fn pending(&self) -> Vec<Command> {
        let branches = self.branches.tasks().flat_map(|task| &task.pending);
        self.task.pending.iter().chain(branches).cloned().collect()
    }

    /// When the run must be given a [`Event::Tick`] at the latest; none when it has ended, or waits for a person for as long as it takes.
    pub fn wake_at_ms(&self) -> Option<u64> {
        let branches = self.branches.tasks().filter_map(|task| self.wake_of(task));
        branches.chain(self.wake_of(&self.task)).min()
    }

    fn wake_of(&self, task: &Task) -> Option<u64> {
        match &task.state {
            State::Done | State::Over | State::Paused { .. } => None,
            State::Approval { .. } | State::Input { .. } => self.expires_at_ms(),
            State::Backoff { until_ms, .. } | State::Delay { until_ms, .. } => {
                Some(self.deadline_ms.min(*until_ms))
            }
            State::Moving(..)
            | State::Asking { .. }
            | State::Entering(_)
            | State::Deciding
            | State::Forked => Some(self.deadline_ms),
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
                    self.task.log = log;
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
                self.task.nested.take_log(&path, log);
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
            Event::Tick => {
                self.tick(now_ms, commands);
                self.tick_branches(now_ms, commands);
            }
            Event::Responded {
                interrupt_id,
                response,
                actor,
            } => self.responded_by(&interrupt_id, response, actor, now_ms, commands),
            Event::Pause { .. } => self.pause(commands),
            Event::Resume { .. } => self.resume(now_ms, commands),
            // How it ends is decided, and packs have little time to tell about it.
            Event::Cancel { .. } if self.has_ended_badly() => {}
            Event::Cancel { reason, actor } => {
                self.cancelled_by = actor;
                let error = ExecutionError::new("CANCELLED", reason, self.task.state.order());
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
        let State::Approval { since_ms, then, .. } = self.task.state else {
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
                    None => self.task.state = State::Moving(Checkpoint::Start, 0),
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
        match self.task.state {
            State::Approval {
                since_ms, expires_ms, ..
            } => Some(since_ms.saturating_add(self.time_to_answer_ms(expires_ms)?)),
            State::Input { expires_ms, .. } => expires_ms,
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
        self.task.state = State::Approval {
            since_ms: now_ms,
            then,
            expires_ms,
        };
    }

    /// Nobody has answered in time: that is a denial, never an approval. A graph says itself what follows.
    fn expire(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        if let State::Input { .. } = self.task.state {
            self.input_expired(now_ms, commands);
            self.advance(now_ms, commands);
            return;
        }
        let own = match self.task.state {
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
            self.task.state,
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
            self.task.state,
            State::Done
                | State::Approval { .. }
                | State::Input { .. }
                | State::Paused { .. }
                | State::Judging {
                    then: Continuation::End,
                    ..
                }
        );
        !has_own_time && now_ms >= self.deadline_ms
    }

    fn time_up(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let message = match (&self.graph, self.task.state.order()) {
            (Some(_), _) => format!(
                "the graph's timeout of {} ms was up at {}",
                self.plan.timeout_ms,
                self.whereabouts()
            ),
            (None, order) => {
                let place = order.map_or("a gate".to_owned(), |order| format!("step {order}"));
                format!(
                    "the chain's timeout of {} ms was up in {place}",
                    self.plan.timeout_ms
                )
            }
        };
        let error = ExecutionError::new("TIMEOUT", message, self.task.state.order());
        self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands);
    }

    /// Evaluates what needs nothing from outside. Every round passes a gate or a step, so there is an end.
    fn advance(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        loop {
            match self.task.state {
                State::Moving(place, index) if self.gates_at(place).get(index).is_some() => {
                    self.judge_gate(place, index, now_ms, commands);
                }
                State::Moving(place, _) => self.passed(place, now_ms, commands),
                State::Entering(node) => self.enter(node, now_ms, commands),
                State::Deciding => self.decide_next(now_ms, commands),
                State::Forked => {
                    if !self.advance_block(now_ms, commands) {
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Every gate of a place has allowed: where the run goes on.
    fn passed(&mut self, place: Checkpoint, now_ms: u64, commands: &mut Vec<Command>) {
        match place {
            Checkpoint::Start if self.wants(mizzen_model::pack::Moment::BeforeRun) => {
                self.ask_packs(Continuation::Start, now_ms, commands);
            }
            Checkpoint::Start => self.task.state = State::Moving(Checkpoint::Before, 0),
            Checkpoint::Before => self.begin_step(0),
            Checkpoint::StepBefore(order) => self.call_step(order, now_ms, commands),
            Checkpoint::StepAfter(order) => self.task.state = State::Moving(Checkpoint::EachStep(order), 0),
            Checkpoint::EachStep(order) => self.begin_step(order.saturating_add(1)),
            Checkpoint::OnError(order) if self.ends_the_chain(order) => self.fail(order, now_ms, commands),
            Checkpoint::OnError(order) => self.begin_step(order.saturating_add(1)),
            Checkpoint::After => self.finish(ExecutionStatus::Completed, None, now_ms, commands),
        }
    }

    fn begin_step(&mut self, order: u32) {
        if self.graph.is_some() {
            let first = (!self.plan.steps.is_empty()).then_some(0);
            self.task.state = State::Entering(first);
            return;
        }
        let place = if (order as usize) < self.plan.steps.len() {
            Checkpoint::StepBefore(order)
        } else {
            Checkpoint::After
        };
        self.task.state = State::Moving(place, 0);
    }

    fn finish(
        &mut self,
        status: ExecutionStatus,
        error: Option<ExecutionError>,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        if self.leave_branches(now_ms) || self.task.state.is_outside() {
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
        (self.task.held, self.task.failure) = (None, None);
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
        self.task.state = State::Done;
        self.result.status = status;
        self.result.error = error;
        self.result.completed_at = Some(Timestamp::from_unix_ms(now_ms));
        self.result.duration_ms = Some(now_ms.saturating_sub(self.started_ms));
        commands.push(Command::Finished { status });
    }

    fn remember(&mut self, commands: &[Command]) {
        if !self.branches.is_empty() && self.branches.focus().is_none() {
            // What was commanded is the branches', and each remembers its own.
            self.task.pending.clear();
            return;
        }
        let outside = commands.iter().filter(|command| {
            // What tools call is commanded again by them.
            match command {
                Command::Call { .. } | Command::AskGate(_) => true,
                Command::AskPacks(question) => question.level == 0,
                _ => false,
            }
        });
        let outside: Vec<Command> = outside.cloned().collect();
        if !outside.is_empty() || !self.task.state.is_outside() {
            self.task.pending = outside;
        }
    }

    /// Brings the variable `steps` up to date with one step: what conditions can say about it. One step at a time, because
    /// copying every output at every step would be quadratic.
    fn describe_step(&mut self, order: u32) {
        let Some(step) = self.result.steps.get(order as usize) else {
            return;
        };
        if self.graph.is_some() {
            return;
        }
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

/// A step that was not begun.
fn pending_step<C>(step: &PlannedStep<C>, order: u32) -> StepExecution {
    StepExecution {
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
        node: None,
    }
}
