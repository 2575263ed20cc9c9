//! What a run has become and the store does not know yet.
//!
//! A run may be ahead of the store while only pure calls are made: nobody outside can tell whether they were. One write takes
//! everything that has gathered, so a run whose calls all end at once costs one write. While packs look at an answer nothing is
//! written: what they do not let through must be durable nowhere.

use mizzen_model::execution::ChainExecutionResult;
use mizzen_store::{
    AuditEntry, Idempotency, NewRun, RunRefused, RunStep, Store, StoreError, WriteError, Written,
};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::sync::oneshot;
use uuid::Uuid;

/// Entries that may gather before the run waits for the store.
const ENTRIES: usize = 64;
/// Bytes of them.
const BYTES: usize = 1 << 20;

type Writing = Pin<Box<dyn Future<Output = Result<Written, WriteError<RunRefused>>> + Send>>;
type Reply = oneshot::Sender<ChainExecutionResult>;
type RunPhase = Pin<Box<dyn Future<Output = ()> + Send>>;

/// How a run enters the store.
pub(crate) struct Starting {
    pub(crate) run: NewRun,
    pub(crate) idempotency: Option<Idempotency>,
    pub(crate) audit: AuditEntry,
}

/// Transitions, in order, that are written together.
struct Unwritten {
    first_seq: u64,
    step: Arc<RunStep>,
    audits: Vec<AuditEntry>,
}

impl Unwritten {
    /// With what followed.
    fn and(mut self, later: Self) -> Self {
        let later_step = Arc::unwrap_or_clone(later.step);
        let step = Arc::make_mut(&mut self.step);
        step.events.extend(later_step.events);
        step.deliveries.extend(later_step.deliveries);
        (step.status, step.sealed) = (later_step.status, later_step.sealed);
        step.rewritten = later_step.rewritten;
        self.audits.extend(later.audits);
        self
    }
}

/// A write that was begun.
enum Flight {
    /// The store is asked. What was handed to it is kept, in case it has no room.
    Writing { answer: Writing, asked: Unwritten },
    /// The store had no room: it is asked again after a while.
    Resting(RunPhase),
}

/// What came of a write.
pub(super) enum Wrote {
    /// It is durable.
    Done {
        /// Hooks are to be delivered.
        hooked: bool,
    },
    /// The store has no room for it now.
    NoRoom(StoreError),
    /// The same was asked for before: the run is not begun, this is the recorded answer.
    Before(String),
    /// It will never be written by this driver. A run that was not stored before does not exist.
    Failed {
        /// Why.
        error: WriteError<RunRefused>,
        /// Whether it was stored before.
        stored: bool,
    },
}

/// What is on its way into the store.
pub(super) struct Ledger {
    store: Store,
    id: Uuid,
    starting: Option<Box<Starting>>,
    unwritten: Option<Unwritten>,
    flight: Option<Flight>,
    /// A question to packs is open.
    pub(super) judging: bool,
    /// Who asked how far the run has come, and waits until that is durable.
    asking: Vec<Reply>,
    /// Who steered the run, and waits until that is durable.
    steering: Vec<Reply>,
}

impl Ledger {
    pub(super) fn new(store: &Store, id: Uuid) -> Self {
        Self {
            store: store.clone(),
            id,
            starting: None,
            unwritten: None,
            flight: None,
            judging: false,
            asking: Vec::new(),
            steering: Vec::new(),
        }
    }

    /// The run is not in the store: the first write puts it there.
    pub(super) fn start_with(&mut self, starting: Starting) {
        self.starting = Some(Box::new(starting));
    }

    /// Takes a transition in.
    pub(super) fn add(&mut self, first_seq: u64, step: RunStep, audit: Option<AuditEntry>) {
        let more = Unwritten {
            first_seq,
            step: Arc::new(step),
            audits: audit.into_iter().collect(),
        };
        self.unwritten = Some(match self.unwritten.take() {
            Some(before) => before.and(more),
            None => more,
        });
    }

    /// Whether the store knows everything.
    pub(super) fn is_durable(&self) -> bool {
        self.unwritten.is_none() && self.flight.is_none()
    }

    /// Whether the store had no room and is to be asked again.
    pub(super) fn is_starved(&self) -> bool {
        matches!(self.flight, Some(Flight::Resting(_)))
    }

    /// Whether the run must not get further ahead: so much has gathered, or somebody waits.
    pub(super) fn is_pressing(&self) -> bool {
        let heavy = self.unwritten.as_ref().is_some_and(|unwritten| {
            let events = &unwritten.step.events;
            events.len() >= ENTRIES || events.iter().map(|event| event.bytes.len()).sum::<usize>() >= BYTES
        });
        heavy || !self.asking.is_empty() || !self.steering.is_empty()
    }

    /// Answers somebody who asked as soon as everything is durable; not while the store has no room.
    pub(super) fn show(&mut self, reply: Reply) {
        self.asking.push(reply);
    }

    /// Answers somebody who steered the run as soon as everything is durable, however long that takes.
    pub(super) fn promise(&mut self, reply: Reply) {
        self.steering.push(reply);
    }

    /// Whether somebody waits for an answer.
    pub(super) fn is_asked(&self) -> bool {
        !self.asking.is_empty() || !self.steering.is_empty()
    }

    /// Answers everybody who waited; everything is durable.
    pub(super) fn answer(&mut self, result: &ChainExecutionResult) {
        for reply in self.asking.drain(..).chain(self.steering.drain(..)) {
            let _ = reply.send(result.clone());
        }
    }

    /// Brings what has gathered into the store, one write after the other. Pending for ever when there is nothing to write.
    pub(super) fn poll_write(
        &mut self,
        context: &mut Context<'_>,
        rest: impl Fn() -> RunPhase,
    ) -> Poll<Wrote> {
        loop {
            let (answer, asked) = match self.flight.take() {
                Some(Flight::Writing { mut answer, asked }) => match answer.as_mut().poll(context) {
                    Poll::Ready(answer) => (answer, asked),
                    Poll::Pending => {
                        self.flight = Some(Flight::Writing { answer, asked });
                        return Poll::Pending;
                    }
                },
                Some(Flight::Resting(mut resting)) => {
                    if resting.as_mut().poll(context).is_pending() {
                        self.flight = Some(Flight::Resting(resting));
                        return Poll::Pending;
                    }
                    continue;
                }
                None => {
                    ready!(self.depart());
                    continue;
                }
            };
            return Poll::Ready(match answer {
                Ok(Written::Now) => {
                    self.starting = None;
                    Wrote::Done {
                        hooked: !asked.step.deliveries.is_empty(),
                    }
                }
                Ok(Written::Before(answer)) => Wrote::Before(answer),
                Err(WriteError::Store(error @ (StoreError::Full { .. } | StoreError::Busy)))
                    if self.starting.is_none() =>
                {
                    // What it has become is not durable, so nobody may hear of it: whoever asks reads the journal.
                    self.asking.clear();
                    self.unwritten = Some(match self.unwritten.take() {
                        Some(later) => asked.and(later),
                        None => asked,
                    });
                    self.flight = Some(Flight::Resting(rest()));
                    Wrote::NoRoom(error)
                }
                Err(error) => Wrote::Failed {
                    error,
                    stored: self.starting.is_none(),
                },
            });
        }
    }

    /// Hands what has gathered to the store.
    fn depart(&mut self) -> Poll<()> {
        if self.judging {
            return Poll::Pending;
        }
        let Some(asked) = self.unwritten.take() else {
            return Poll::Pending;
        };
        let (store, id, step) = (self.store.clone(), self.id, Arc::clone(&asked.step));
        let (next_seq, mut audits) = (asked.first_seq, asked.audits.clone());
        let answer: Writing = match self.starting.as_deref() {
            Some(starting) => {
                let (run, idempotency) = (starting.run.clone(), starting.idempotency.clone());
                audits.insert(0, starting.audit.clone());
                Box::pin(async move { store.start_run(run, step, idempotency, audits).await })
            }
            None => Box::pin(async move {
                let written = store.append_run(id, next_seq, step, audits).await;
                written.map(|()| Written::Now)
            }),
        };
        self.flight = Some(Flight::Writing { answer, asked });
        Poll::Ready(())
    }
}
