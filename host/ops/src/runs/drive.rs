//! One task per open run: it owns the state machine, makes the calls, keeps the time and writes the journal.
//!
//! ```text
//! message, end of a call, or time  →  Run::handle  →  commit (events + state)  →  commands
//! ```
//!
//! A call is made only after the transition that commanded it is durable, so the journal always knows what may have begun.

mod transition;

use super::entry::{self, Journal};
use super::hold::Unwritten;
use super::packs::{self, PackSet};
use super::perform::{self, Work};
use super::resolve::{Planned, StepCall};
use super::{Live, Message, Progress, Rest};
use crate::host::Host;
use crate::metrics::Family;
use crate::traces::{Span, SpanContext, SpanKind};
use mizzen_engine::plan::Plan;
use mizzen_engine::run::{Command, Event, Run, Start};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_model::id::ExecutionId;
use mizzen_store::{AuditEntry, NewRun, RunStep, StoreError, WriteError};
use serde_json::{Map, Value, json};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Messages that may wait for a driver; further callers wait for a place.
const INBOX: usize = 64;
/// No timer is set further ahead; a longer one is set again.
const LONGEST_SLEEP: Duration = Duration::from_secs(3_600);
/// How long a driver waits before it writes again to a store that had no room.
const STORE_RETRY: Duration = Duration::from_millis(250);

type Call = Pin<Box<dyn Future<Output = perform::Ended> + Send>>;

/// The time of a run. A clock that jumps while the run is open does not move it.
#[derive(Debug, Clone, Copy)]
struct RunClock {
    base_ms: u64,
    since: Duration,
}

impl RunClock {
    fn at(base_ms: u64, host: &Host) -> Self {
        Self {
            base_ms,
            since: host.steady(),
        }
    }

    fn now_ms(self, host: &Host) -> u64 {
        let passed = host.steady().saturating_sub(self.since).as_millis();
        self.base_ms
            .saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

/// Drives one run.
pub(crate) struct Driver {
    pub(super) host: Arc<Host>,
    pub(super) id: ExecutionId,
    pub(super) run: Run<StepCall>,
    pub(super) journal: Journal,
    clock: RunClock,
    load_plan: String,
    /// Who is asked.
    packs: Arc<PackSet>,
    /// The entry of an answer that packs look at, with its time. What they do not let through is written nowhere.
    held: Option<(Map<String, Value>, u64)>,
    /// What led to a question to packs: it is written together with what follows from the answer.
    pub(super) unwritten: Option<Unwritten>,
    /// Who waits until that is done.
    pub(super) waiting: Vec<oneshot::Sender<ChainExecutionResult>>,
    /// What to do first.
    commands: Vec<Command>,
    /// Something that happened while nobody drove, with its time.
    first: Option<(Event, u64)>,
    inbox: mpsc::Receiver<Message>,
    progress: watch::Sender<Progress>,
    span: Option<Span>,
}

/// A driver whose run must be stored before it may be launched.
pub(crate) struct Begun {
    pub(crate) driver: Driver,
    pub(crate) run: NewRun,
}

/// Begins a run: everything that needs nothing from outside happens here, and nothing of it is durable yet.
pub(crate) fn begin(
    host: &Arc<Host>,
    id: ExecutionId,
    planned: &Planned,
    input: Value,
    actor: &str,
) -> Begun {
    let now_ms = u64::try_from(host.now_ms()).unwrap_or(0);
    let start = Start {
        execution_id: id,
        input: input.clone(),
        now_ms,
    };
    let (run, commands) = Run::start(Arc::clone(&planned.plan), start);
    let mut driver = Driver::new(host, id, run, now_ms, planned.load_plan.clone());
    driver.packs = Arc::clone(&planned.packs);
    let result = driver.run.result();
    let mut body = Map::new();
    body.insert("kind".to_owned(), "started".into());
    body.insert("council_id".to_owned(), result.council_id.to_string().into());
    body.insert("chain_id".to_owned(), result.chain_id.to_string().into());
    let definition = blake3::Hash::from_bytes(planned.definition_hash).to_hex();
    body.insert("definition".to_owned(), format!("blake3:{definition}").into());
    body.insert("load_plan".to_owned(), planned.load_plan.clone().into());
    body.insert("calls".to_owned(), json!(planned.resolutions));
    if !planned.pins.is_empty() {
        body.insert("packs".to_owned(), json!(planned.pins));
    }
    body.insert("input".to_owned(), input);
    body.insert("actor".to_owned(), actor.into());
    let (council_id, chain_id) = (result.council_id.uuid(), result.chain_id.uuid());
    let step = driver.transition(body, &commands, now_ms);
    driver.commands = commands;
    let run = NewRun {
        id: id.uuid(),
        council_id,
        chain_id,
        started_at: i64::try_from(now_ms).unwrap_or(i64::MAX),
        definition_hash: planned.definition_hash,
        definition: planned.definition.clone(),
        step,
    };
    Begun { driver, run }
}

impl Driver {
    fn new(host: &Arc<Host>, id: ExecutionId, run: Run<StepCall>, now_ms: u64, load_plan: String) -> Self {
        let (sender, inbox) = mpsc::channel(INBOX);
        let (progress, watched) = watch::channel(Progress::default());
        host.runs.enter(
            id.uuid(),
            Live {
                inbox: sender,
                progress: watched,
            },
        );
        Self {
            host: Arc::clone(host),
            id,
            run,
            journal: Journal::new(id),
            clock: RunClock::at(now_ms, host),
            load_plan,
            packs: Arc::default(),
            held: None,
            unwritten: None,
            waiting: Vec::new(),
            commands: Vec::new(),
            first: None,
            inbox,
            progress,
            span: None,
        }
    }

    /// Traces the run below the request that started it, or by itself.
    pub(crate) fn trace_below(&mut self, parent: Option<SpanContext>) {
        let result = self.run.result();
        self.span = self
            .host
            .traces
            .begin("chain.execution", SpanKind::Internal, parent)
            .map(|mut span| {
                span.set("mizzen.execution_id", self.id.to_string());
                span.set("mizzen.council_id", result.council_id.to_string());
                span.set("mizzen.chain_id", result.chain_id.to_string());
                span
            });
    }

    /// A driver for a run that was made again from its journal.
    pub(super) fn resumed(host: &Arc<Host>, run: Run<StepCall>, past: Past) -> Self {
        let id = run.result().execution_id;
        let now_ms = u64::try_from(host.now_ms()).unwrap_or(0).max(past.last_ms);
        let mut driver = Self::new(host, id, run, now_ms, past.load_plan);
        driver.journal = past.journal;
        driver.packs = Arc::new(PackSet::again(&host.loaded(), driver.run.plan().packs()));
        driver.trace_below(None);
        if let Some(span) = &mut driver.span {
            span.set("mizzen.resumed", "true");
        }
        let pending = driver.run.pending().to_vec();
        for command in &pending {
            driver.first = driver
                .in_doubt(command)
                .map(|event| (event, past.last_ms))
                .or(driver.first);
        }
        if driver.first.is_none() {
            driver.commands = pending;
        }
        driver
    }

    /// What a call comes to that may have been made before the host stopped, and must not be made twice.
    fn in_doubt(&self, command: &Command) -> Option<Event> {
        match command {
            Command::Call { order, attempt, .. } => {
                let pin = &self.run.plan().call(*order)?.pin;
                (!pin.repeatable).then(|| Event::CallEnded {
                    order: *order,
                    attempt: *attempt,
                    result: Err(mizzen_engine::run::CallFailure {
                        code: "IN_DOUBT".to_owned(),
                        message: format!(
                            "the host stopped while {} ({}) was called: nobody knows whether it happened, and the tool names no \
                             idempotency key; look, and start the chain again if it did not",
                            pin.tool, pin.side_effects
                        ),
                        transient: mizzen_engine::run::Transient::No,
                    }),
                })
            }
            Command::AskGate(question) => {
                let pin = &self.run.plan().gate_call()?.pin;
                (!pin.repeatable).then(|| Event::GateAnswered {
                    question: question.question,
                    answer: Err("the host stopped while the gate agent was asked".to_owned()),
                })
            }
            _ => None,
        }
    }

    /// How to hear of the run.
    pub(crate) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Gives the run up that was never stored.
    pub(crate) fn abandon(self) {
        if let Some(span) = self.span {
            span.discard();
        }
        self.host.runs.leave(self.id.uuid());
    }

    /// Drives the run until it ends, in a task of its own on the guests' threads.
    pub(crate) fn launch(self) {
        let host = Arc::clone(&self.host);
        host.spawn_run(self.drive());
    }

    async fn drive(mut self) {
        // Also when the task is given up: an open run without a driver must be seen as one.
        let _leave = Leave {
            host: Arc::clone(&self.host),
            id: self.id,
        };
        self.publish();
        let commands = std::mem::take(&mut self.commands);
        self.wake_deliveries(&commands);
        let mut call = self.perform(commands);
        if let Some((event, at_ms)) = self.first.take() {
            match self.apply((event, Map::new()), None, at_ms).await {
                Ok(Some(commands)) => call = self.perform(commands),
                Ok(None) => {}
                Err(Stopped) => return,
            }
        }
        while !self.run.result().status.is_final() {
            let (happened, steered) = self.next(&mut call).await;
            let Some((event, about)) = happened else { continue };
            let (audit, reply) = steered.unzip();
            if matches!(
                event,
                Event::CallEnded { .. } | Event::GateAnswered { .. } | Event::PacksAnswered { .. }
            ) {
                call = None;
            }
            if matches!(event, Event::Cancel { .. }) {
                // The guest is stopped before anything is written: a person waits for it.
                call = None;
            }
            let now_ms = self.clock.now_ms(&self.host);
            match self.apply((event, about), audit, now_ms).await {
                Ok(Some(commands)) => {
                    if commands.contains(&Command::StopCalls) {
                        call = None;
                    }
                    call = self.perform(commands).or(call);
                }
                Ok(None) => {}
                Err(Stopped) => return,
            }
            if let Some(reply) = reply {
                self.show(reply);
            }
        }
        if let Some(span) = &mut self.span {
            let status = self.run.result().status;
            span.set("mizzen.status", status.as_str());
            if status == ExecutionStatus::Failed {
                span.fail(
                    self.run
                        .result()
                        .error
                        .as_ref()
                        .map_or("failed", |error| &error.code),
                );
            }
        }
    }

    /// Waits for the next thing that happens.
    async fn next(&mut self, call: &mut Option<Call>) -> (Option<perform::Ended>, Option<Steered>) {
        let wake = self.run.wake_at_ms().map(|at| {
            let left = Duration::from_millis(at.saturating_sub(self.clock.now_ms(&self.host)));
            self.host.sleep(left.min(LONGEST_SLEEP))
        });
        let ended = async {
            match call {
                Some(call) => call.await,
                None => std::future::pending().await,
            }
        };
        let woken = async {
            match wake {
                Some(sleep) => sleep.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            message = self.inbox.recv() => match message {
                Some(Message::Show(reply)) => {
                    self.show(reply);
                    (None, None)
                }
                Some(Message::Decide { escalation_id, decision, reason, audit, reply }) => {
                    (Some((Event::Decided { escalation_id, decision, reason }, Map::new())), Some((audit, reply)))
                }
                Some(Message::Cancel { reason, audit, reply }) => {
                    (Some((Event::Cancel { reason }, Map::new())), Some((audit, reply)))
                }
                // The sender is kept with the open runs for as long as this task runs.
                None => std::future::pending().await,
            },
            ended = ended => (Some(ended), None),
            () = woken => (Some((Event::Tick, Map::new())), None),
        }
    }

    /// Takes an event in and makes what follows from it durable. None when nothing follows.
    async fn apply(
        &mut self,
        (event, about): perform::Ended,
        audit: Option<AuditEntry>,
        now_ms: u64,
    ) -> Result<Option<Vec<Command>>, Stopped> {
        // What packs have not let through is not even copied.
        let held = match &event {
            Event::CallEnded {
                order,
                attempt,
                result: Ok(_),
            } if self.run.holds_answers() => Some(entry::held(*order, *attempt)),
            _ => None,
        };
        let mut body = match &held {
            Some(body) => body.clone(),
            None => entry::body(&event),
        };
        let asked = packs::asked(&event);
        let said = self.run.result().packs.as_ref().map_or(0, Vec::len);
        let commands = self.run.handle(event, now_ms);
        if commands.is_empty() {
            return Ok(None);
        }
        if let Some((question, asked)) = asked {
            let all = self.run.result().packs.as_deref().unwrap_or_default();
            let said = all.get(said..).unwrap_or_default();
            body = packs::body(question, &asked, self.run.plan().packs(), said);
        }
        body.extend(about);
        if let Some(audit) = &audit {
            body.insert("actor".to_owned(), audit.actor.clone().into());
        }
        if held.is_some() {
            self.journal.tell(&mut body, self.run.result());
            self.held = Some((std::mem::take(&mut body), now_ms));
        }
        self.write(body, audit, &commands, now_ms).await?;
        Ok(Some(commands))
    }

    /// Writes a transition. A store without room is asked again until it has some: the run waits, and nothing is lost.
    pub(super) async fn commit(
        &mut self,
        next_seq: u64,
        step: RunStep,
        audit: Option<AuditEntry>,
    ) -> Result<(), Stopped> {
        let id = self.id.uuid();
        loop {
            let written = self
                .host
                .store
                .append_run(id, next_seq, step.clone(), audit.clone());
            match written.await {
                Ok(()) => return Ok(()),
                Err(WriteError::Store(error @ (StoreError::Full { .. } | StoreError::Busy))) => {
                    tracing::warn!(execution = %self.id, %error, "a run waits for the store");
                    // What it has become is not durable, so nobody may hear of it: whoever asks reads the journal.
                    while self.inbox.try_recv().is_ok() {}
                    self.host.sleep(STORE_RETRY).await;
                }
                Err(error) => {
                    tracing::error!(execution = %self.id, %error, "a run is no longer driven here");
                    return Err(Stopped);
                }
            }
        }
    }

    /// Says how far the run has come; it is durable.
    pub(super) fn publish(&self) {
        let result = self.run.result();
        let rest = match result.status {
            ExecutionStatus::AwaitingApproval => Rest::Waiting(Arc::new(result.clone())),
            status if status.is_final() => {
                self.count();
                Rest::Ended(Arc::new(result.clone()))
            }
            _ => Rest::Moving,
        };
        self.progress.send_replace(Progress { rest });
    }

    fn wake_deliveries(&self, commands: &[Command]) {
        if commands
            .iter()
            .any(|command| matches!(command, Command::Notify { .. }))
        {
            self.host.wake_deliveries();
        }
    }

    fn count(&self) {
        let (result, metrics) = (self.run.result(), &self.host.metrics);
        let status = result.status.as_str();
        metrics.count(Family::ChainExecutions, &[status]);
        let seconds = Duration::from_millis(result.duration_ms.unwrap_or(0)).as_secs_f64();
        metrics.observe(Family::ChainSeconds, &[status], seconds);
        for gate in &result.gates {
            metrics.count(
                Family::GateDecisions,
                &[gate.position.as_str(), gate.decision.as_str()],
            );
        }
    }

    /// Does what the run commands. At most one call is under way.
    fn perform(&self, commands: Vec<Command>) -> Option<Call> {
        let mut call: Option<Call> = None;
        for command in commands {
            let host = Arc::clone(&self.host);
            match command {
                Command::Call {
                    order,
                    attempt,
                    input,
                    deadline_ms,
                } => {
                    let target = self.run.plan().call(order).cloned();
                    let work = target.map(|call| {
                        self.work(call, input, deadline_ms, Some(order), self.idempotency_key(order))
                    });
                    call = work.map(|work| Box::pin(perform::step(host, work, order, attempt)) as Call);
                }
                Command::AskGate(question) => {
                    let target = self.run.plan().gate_call().cloned();
                    let key = format!("{}/gate/{}", self.id, question.question);
                    let work = target.map(|call| {
                        self.work(
                            call,
                            question.input.clone(),
                            question.deadline_ms,
                            question.step,
                            key,
                        )
                    });
                    call = work.map(|work| Box::pin(perform::gate(host, work, question)) as Call);
                }
                Command::AskPacks(question) => {
                    let left = question.deadline_ms.saturating_sub(self.clock.now_ms(&self.host));
                    let packs = Arc::clone(&self.packs);
                    let asked = packs::ask(host, packs, question, Duration::from_millis(left));
                    call = Some(Box::pin(asked));
                }
                // Timers follow from the run's state; hooks and ends are in the store.
                Command::StopCalls
                | Command::WakeAt { .. }
                | Command::Notify { .. }
                | Command::Escalated { .. }
                | Command::Finished { .. } => {}
            }
        }
        call
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

/// What a journal says of the time before.
pub(super) struct Past {
    pub(super) journal: Journal,
    pub(super) last_ms: u64,
    pub(super) load_plan: String,
}

/// The result as it is stored and sent.
pub(crate) fn result_text(result: &ChainExecutionResult) -> String {
    // Strings, numbers and values: nothing in it can fail to be written.
    serde_json::to_string(result).unwrap_or_default()
}

/// Who steered a run, and who waits for what came of it.
type Steered = (AuditEntry, oneshot::Sender<ChainExecutionResult>);

/// The driver must not go on: the store cannot be written, or somebody else owns the run.
pub(super) struct Stopped;

struct Leave {
    host: Arc<Host>,
    id: ExecutionId,
}

impl Drop for Leave {
    fn drop(&mut self) {
        self.host.runs.leave(self.id.uuid());
    }
}

/// Keeps the plan's type out of signatures elsewhere.
pub(super) type RunPlan = Plan<StepCall>;
