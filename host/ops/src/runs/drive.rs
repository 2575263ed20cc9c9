//! One task per open run: it owns the state machine, makes the calls, keeps the time and writes the journal.
//!
//! ```text
//! message, end of a call, or time  →  Run::handle  →  journal  →  commands
//! ```
//!
//! A call that the world could notice is made only after the transition that commanded it is durable, so the journal always
//! knows what may have begun. Pure calls need not wait for that: the run goes on ahead of the store, and what has gathered is
//! written when the run has to wait for something. Nobody hears of anything before it is durable.

mod begin;
mod commands;
mod lanes;
mod park;
mod transition;

pub(crate) use begin::{Beginning, begin};
pub(in crate::runs) use begin::{Kept, Past};

use super::body::Body;
use super::entry::{self, Journal};
use super::ledger::{Ledger, Wrote};
use super::nested::Request;
use super::packs::{self, Cleared, PackSet};
use super::parked::is_waiting;
use super::perform;
use super::resolve::StepCall;
use super::{EndedRun, Message, Progress, Rejected, RunPhase, Steering};
use crate::host::Host;
use crate::metrics::Family;
use crate::traces::TraceSpan;
use lanes::Lane;
use mizzen_engine::plan::Plan;
use mizzen_engine::run::{CallFailure, Command, Event, Run};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_model::id::ExecutionId;
use mizzen_store::{AuditEntry, RunStep};
use park::Parking;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// Messages that may wait for a driver; further callers wait for a place.
const INBOX: usize = 64;
/// No timer is set further ahead; a longer one is set again.
const LONGEST_SLEEP: Duration = Duration::from_secs(3_600);
/// How long a driver waits before it writes again to a store that had no room.
const STORE_RETRY: Duration = Duration::from_millis(250);

type Call = Pin<Box<dyn Future<Output = perform::Ended> + Send>>;
type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The time of a run. A clock that jumps while the run is open does not move it.
#[derive(Debug, Clone, Copy)]
pub(in crate::runs) struct RunClock {
    base_ms: u64,
    since: Duration,
}

impl RunClock {
    pub(in crate::runs) fn at(base_ms: u64, host: &Host) -> Self {
        Self {
            base_ms,
            since: host.steady(),
        }
    }

    pub(in crate::runs) fn now_ms(self, host: &Host) -> u64 {
        let passed = host.steady().saturating_sub(self.since).as_millis();
        self.base_ms
            .saturating_add(u64::try_from(passed).unwrap_or(u64::MAX))
    }
}

/// Drives one run.
pub(crate) struct Driver {
    host: Arc<Host>,
    id: ExecutionId,
    run: Run<StepCall>,
    journal: Journal,
    /// What is not in the store yet.
    ledger: Ledger,
    clock: RunClock,
    load_plan: Arc<str>,
    /// Who is asked.
    packs: Arc<PackSet>,
    /// What they do not let through is written nowhere. The last one is what they look at; the others were lost meanwhile.
    held: Vec<Held>,
    /// What to do first.
    commands: Vec<Command>,
    /// What to do when everything so far is durable.
    barred: Vec<Command>,
    /// What is under way: the run's own lane first, then those of branches.
    lanes: Vec<Lane>,
    /// Stands for a lane that there is not; nothing is ever done in it.
    nowhere: Lane,
    /// Calls that they ask for; the sender is for their brokers.
    asked: mpsc::Receiver<Request>,
    requests: mpsc::Sender<Request>,
    /// Events synthesised during recovery, with their time; applied before anything else.
    first: VecDeque<(Event, u64)>,
    inbox: mpsc::Receiver<Message>,
    /// Messages that wait until packs have answered.
    postponed: VecDeque<Message>,
    progress: watch::Sender<Progress>,
    span: Option<TraceSpan>,
    /// What the run came to, as it is stored.
    sealed: Option<Arc<str>>,
    /// Whether something was taken out of what is in the store.
    rewrote: bool,
}

/// The entry of a call while packs look at it.
struct Held {
    body: Body,
    at_ms: u64,
    /// What is written when they have let nothing through, because the run ended first.
    otherwise: Option<CallFailure>,
}

/// Who steered a run, and who waits for what came of it.
type Steered = (AuditEntry, oneshot::Sender<ChainExecutionResult>);

/// What a driver waited for.
enum Next {
    Happened(perform::Ended, Option<Steered>),
    Called(Request),
    Asked(oneshot::Sender<ChainExecutionResult>),
    Wrote(Wrote),
}

/// Whether an event meant something to the run.
enum Taken {
    Yes,
    No,
}

/// The driver must not go on: the store cannot be written, or somebody else owns the run.
struct Stopped;

impl Driver {
    /// How to hear of the run.
    pub(crate) fn watch(&self) -> watch::Receiver<Progress> {
        self.progress.subscribe()
    }

    /// Drives the run until it ends, in a task of its own on the guests' threads.
    pub(crate) fn launch(self) {
        let host = Arc::clone(&self.host);
        host.spawn_run(self.drive());
    }

    async fn drive(mut self) {
        // Also when the task is given up: an open run without a driver must be seen as one.
        let mut leave = Leave {
            host: Some(Arc::clone(&self.host)),
            id: self.id,
        };
        let commands = std::mem::take(&mut self.commands);
        self.go_on(commands);
        while let Some((event, at_ms)) = self.next_first() {
            self.apply((event, Body::default()), None, at_ms);
        }
        while !(self.has_ended() && self.ledger.is_durable()) {
            if self.park() == Parking::Done {
                // The run is still open, and may have another driver already.
                leave.host = None;
                return;
            }
            // One that had to wait for packs happens now.
            if let Some((event, _)) = self.next_first() {
                let now_ms = self.clock.now_ms(&self.host);
                self.apply((event, Body::default()), None, now_ms);
                continue;
            }
            let mut timer = None;
            match poll_fn(|context| self.poll_next(context, &mut timer)).await {
                Next::Happened(ended, steered) => self.take_in(ended, steered),
                Next::Called(request) => self.take_request(request),
                Next::Asked(reply) => {
                    self.ledger.show(reply);
                    self.answer();
                }
                Next::Wrote(wrote) => {
                    if let Err(Stopped) = self.settle(wrote) {
                        return;
                    }
                }
            }
        }
        self.end();
    }

    /// The next event that was synthesised during recovery, unless packs look at a branch.
    fn next_first(&mut self) -> Option<(Event, u64)> {
        match self.run.judged_branch() {
            None => self.first.pop_front(),
            Some(_) => None,
        }
    }

    /// The run has ended, and that is durable.
    fn end(mut self) {
        if self.rewrote {
            // What was taken out is still in the store's log.
            self.host.unsettled.store(true, Ordering::SeqCst);
        }
        let result = self.run.result();
        if let Some(span) = &mut self.span {
            span.set("mizzen.status", result.status.as_str());
            if result.status == ExecutionStatus::Failed {
                let error = result.error.as_ref();
                span.fail(error.map_or("failed", |error| &error.code));
            }
        }
        self.count();
        let result = self.run.into_result();
        let ended = match self.sealed {
            Some(text) => EndedRun { result, text },
            None => EndedRun::new(result),
        };
        self.progress.send_replace(Progress {
            rest: RunPhase::Ended(Arc::new(ended)),
        });
    }

    /// Stores the run as it is and drives it no further, as a host that stops in the next moment.
    #[cfg(test)]
    pub(super) async fn store_and_stop(mut self) {
        let host = Arc::clone(&self.host);
        let wrote = poll_fn(|context| self.ledger.poll_write(context, || host.sleep(STORE_RETRY))).await;
        assert!(matches!(wrote, Wrote::Done { .. }));
        self.host.runs.leave(self.id.uuid());
    }

    fn has_ended(&self) -> bool {
        self.run.result().status.is_final()
    }

    /// Waits for the next thing that happens. What has gathered is written only when there is something to wait for: a call that
    /// ends at once costs no write of its own.
    fn poll_next(&mut self, context: &mut Context<'_>, timer: &mut Option<Sleep>) -> Poll<Next> {
        // The sender is kept with the open runs for as long as this task runs: there is no end of it.
        while let Poll::Ready(Some(message)) = self.next_message(context) {
            if self.ledger.is_starved() {
                // What the run has become is not durable and may not be for long: whoever asked reads the journal.
                continue;
            }
            return Poll::Ready(match message {
                Message::Show(reply) => Next::Asked(reply),
                Message::Decide {
                    escalation_id,
                    decision,
                    reason,
                    audit,
                    reply,
                } => {
                    let event = Event::Decided {
                        escalation_id,
                        decision,
                        reason,
                        actor: audit.actor.clone(),
                    };
                    Next::Happened((event, Body::default()), Some((audit, reply)))
                }
                Message::Steer {
                    steering,
                    audit,
                    reply,
                } => {
                    let actor = audit.actor.clone();
                    let event = match steering {
                        Steering::Respond {
                            interrupt_id,
                            response,
                        } => Event::Responded {
                            interrupt_id,
                            response,
                            actor,
                        },
                        Steering::Pause => Event::Pause { actor },
                        Steering::Resume => Event::Resume { actor },
                    };
                    Next::Happened((event, Body::default()), Some((audit, reply)))
                }
                Message::Cancel { reason, audit, reply } => {
                    // The guest is stopped before anything else: a person waits for it.
                    self.stop_all();
                    let actor = audit.actor.clone();
                    let event = Event::Cancel { reason, actor };
                    Next::Happened((event, Body::default()), Some((audit, reply)))
                }
            });
        }
        // While packs look at a branch the others wait: what follows from the answer is written before what they come to.
        let judged = self.run.judged_branch();
        for lane in &mut self.lanes {
            if judged.is_some() && lane.branch != judged {
                continue;
            }
            // The innermost first: the others wait for it. One that ends before it takes everything inside of it away.
            for place in (0..lane.work.len()).rev() {
                if let Some(call) = lane.work.get_mut(place)
                    && let Poll::Ready(ended) = call.as_mut().poll(context)
                {
                    lane.stop_from(place);
                    return Poll::Ready(Next::Happened(ended, None));
                }
            }
        }
        if judged.is_none()
            && let Poll::Ready(Some(request)) = self.asked.poll_recv(context)
        {
            return Poll::Ready(Next::Called(request));
        }
        if timer.is_none()
            && let Some(at) = self.run.wake_at_ms()
        {
            let left = Duration::from_millis(at.saturating_sub(self.clock.now_ms(&self.host)));
            *timer = Some(self.host.sleep(left.min(LONGEST_SLEEP)));
        }
        if let Some(sleep) = timer
            && sleep.as_mut().poll(context).is_ready()
        {
            return Poll::Ready(Next::Happened((Event::Tick, Body::default()), None));
        }
        let host = &self.host;
        self.ledger
            .poll_write(context, || host.sleep(STORE_RETRY))
            .map(Next::Wrote)
    }

    /// The next message. What a person wants of a graph while packs look at something waits until they have answered: its entry would
    /// stand before what they let through.
    fn next_message(&mut self, context: &mut Context<'_>) -> Poll<Option<Message>> {
        let is_judging = self.ledger.judging || !self.held.is_empty();
        if !is_judging && let Some(message) = self.postponed.pop_front() {
            return Poll::Ready(Some(message));
        }
        loop {
            match self.inbox.poll_recv(context) {
                Poll::Ready(Some(message @ Message::Steer { .. })) if is_judging => {
                    // Further ones are dropped, and their senders try again.
                    if self.postponed.len() < INBOX {
                        self.postponed.push_back(message);
                    }
                }
                other => return other,
            }
        }
    }

    fn take_in(&mut self, ended: perform::Ended, steered: Option<Steered>) {
        let (audit, reply) = steered.unzip();
        let now_ms = self.clock.now_ms(&self.host);
        self.apply(ended, audit, now_ms);
        if let Some(reply) = reply {
            self.ledger.promise(reply);
            self.answer();
        }
    }

    /// A tool asks for a call.
    fn take_request(&mut self, request: Request) {
        if let Some(reason) = self.run.refuses_calls(request.within()) {
            return request.deny(reason);
        }
        let Some((asked, awaited)) = request.resolve(&self.host) else {
            return;
        };
        let branch = self.branch_within(asked.within);
        self.lane(branch).awaited.push(awaited);
        let event = Event::NestedAsked(Box::new(asked));
        let now_ms = self.clock.now_ms(&self.host);
        if let Taken::No = self.apply((event, Body::default()), None, now_ms)
            && let Some(awaited) = self.lane(branch).awaited.pop()
        {
            awaited.give_up();
        }
    }

    /// Takes an event in, journals what follows from it, and goes on.
    fn apply(&mut self, (event, about): perform::Ended, audit: Option<AuditEntry>, now_ms: u64) -> Taken {
        // What packs have not let through is not even copied.
        let mut held = self.run.holds(&event).then(|| Held {
            body: entry::held(&event),
            at_ms: now_ms,
            otherwise: match &event {
                Event::CallEnded { result, .. } | Event::NestedEnded { result, .. } => {
                    result.as_ref().err().map(CallFailure::withheld)
                }
                _ => None,
            },
        });
        let mut body = match &mut held {
            Some(held) => std::mem::take(&mut held.body),
            None => entry::body(&event),
        };
        let asked = packs::asked(&event);
        let said = self.run.result().packs.as_ref().map_or(0, Vec::len);
        let commands = self.run.handle(event, now_ms);
        if commands.is_empty() {
            return Taken::No;
        }
        if let Some(asked) = asked {
            let all = self.run.result().packs.as_deref().unwrap_or_default();
            let said = all.get(said..).unwrap_or_default();
            let quiet = |command| packs::is_quiet(command, &self.run);
            if said.is_empty() && commands.iter().all(quiet) {
                self.cleared(Cleared::new(asked, now_ms), commands, now_ms);
                return Taken::Yes;
            }
            body = packs::body(asked.0, &asked.1, self.run.plan().packs(), said);
        }
        body.extend(about);
        if let Some(held) = held {
            self.journal.tell(&mut body, self.run.result());
            let body = std::mem::take(&mut body);
            self.held.push(Held { body, ..held });
        }
        if !self.held.is_empty() && body.is_empty() && is_judged(&commands) {
            // Its entry waits for what the packs say.
            self.ledger.judging = true;
        } else {
            self.record(body, audit, &commands, now_ms);
        }
        self.go_on(commands);
        Taken::Yes
    }

    /// No pack had anything to say, and nobody outside can tell what follows: that is in the next entry, and where there is none, the
    /// packs are asked again.
    fn cleared(&mut self, cleared: Cleared, commands: Vec<Command>, now_ms: u64) {
        if !self.held.is_empty() {
            self.record(Body::default(), None, &commands, now_ms);
        } else {
            self.ledger.judging = is_judged(&commands);
        }
        self.journal.clear(cleared);
        self.go_on(commands);
    }

    /// Answers whoever waits, as soon as everything that they are shown is durable. To what packs had nothing to say, that is part of it:
    /// it is written now, or, while packs look at how a call ended, with the entry of that.
    fn answer(&mut self) {
        if !self.ledger.is_asked() {
            return;
        }
        if self.held.is_empty()
            && let Some(cleared) = self.journal.last_cleared()
        {
            let first_seq = self.journal.next_seq;
            let mut body = cleared.entry(self.run.plan().packs());
            self.journal.tell(&mut body, self.run.result());
            let step = RunStep {
                events: vec![self.journal.write(cleared.at_ms, body)],
                status: self.run.result().status.as_str().to_owned(),
                sealed: None,
                rewritten: None,
                deliveries: Vec::new(),
            };
            self.ledger.add(first_seq, step, None);
        }
        if self.ledger.is_durable() && !self.journal.has_cleared() {
            self.ledger.answer(self.run.result());
        }
    }

    /// Takes in what came of a write, and does what had to wait for it.
    fn settle(&mut self, wrote: Wrote) -> Result<(), Stopped> {
        match wrote {
            Wrote::Done { hooked } => {
                if !self.has_ended() {
                    self.publish();
                }
                if hooked {
                    self.host.wake_deliveries();
                }
                if self.ledger.is_durable() {
                    self.answer();
                    let barred = std::mem::take(&mut self.barred);
                    self.perform(barred);
                }
                Ok(())
            }
            Wrote::NoRoom(error) => {
                tracing::warn!(execution = %self.id, %error, "a run waits for the store");
                Ok(())
            }
            Wrote::Before(answer) => self.give_up(Rejected::Duplicate(answer)),
            Wrote::Failed { error, stored: false } => self.give_up(Rejected::Failed(error)),
            Wrote::Failed { error, stored: true } => {
                tracing::error!(execution = %self.id, %error, "a run is no longer driven here");
                Err(Stopped)
            }
        }
    }

    /// Says that there is no such run after all: it never was in the store.
    fn give_up(&mut self, why: Rejected) -> Result<(), Stopped> {
        if let Some(span) = self.span.take() {
            span.discard();
        }
        self.progress.send_replace(Progress {
            rest: RunPhase::Rejected(Arc::new(why)),
        });
        Err(Stopped)
    }

    /// Says how far the open run has come, as far as it is durable.
    fn publish(&self) {
        let result = self.run.result();
        let rest = match result.status {
            _ if !self.ledger.is_durable() => RunPhase::Running,
            status if is_waiting(status) => RunPhase::Waiting(Arc::new(result.clone())),
            _ => RunPhase::Running,
        };
        self.progress.send_replace(Progress { rest });
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
}

/// Whether packs are asked now.
fn is_judged(commands: &[Command]) -> bool {
    commands
        .iter()
        .any(|command| matches!(command, Command::AskPacks(_)))
}

/// The result as it is stored and sent.
pub(crate) fn result_text(result: &ChainExecutionResult) -> String {
    // Strings, numbers and values: nothing in it can fail to be written.
    serde_json::to_string(result).unwrap_or_default()
}

struct Leave {
    /// None when the run was put down.
    host: Option<Arc<Host>>,
    id: ExecutionId,
}

impl Drop for Leave {
    fn drop(&mut self) {
        if let Some(host) = &self.host {
            host.runs.leave(self.id.uuid());
        }
    }
}

/// Keeps the plan's type out of signatures elsewhere.
pub(super) type RunPlan = Plan<StepCall>;
