//! The runs that are open: who drives each of them, and how to reach it.
//!
//! Every open run has exactly one driver, a task that owns its state machine. Operations send it messages; nothing else
//! touches the run. What a driver has done is durable before anybody hears of it.

mod audit;
mod body;
mod drive;
mod entry;
mod ledger;
mod packs;
mod perform;
mod recover;
mod replay;
mod resolve;
mod seal;
#[cfg(test)]
mod simulation;

pub use audit::{AuditError, Verified, verify};
pub(crate) use drive::{Beginning, begin, result_text};
#[cfg(test)]
pub(crate) use perform::Script;
pub use recover::Recovered;
pub use replay::{Decided, Difference, Recording, RecordingError, Replay, Transition, replay};
use resolve::PlanCache;
pub(crate) use resolve::Planned;
pub use seal::HostKey;

use mizzen_model::execution::{Approval, ChainExecutionResult};
use mizzen_store::{AuditEntry, RunRefused, WriteError};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// Runs that may be open at once; further ones are refused until some have ended.
const OPEN_MAX: usize = 16_384;

/// How far a run has come, as far as it is durable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// Where the run rests.
    pub(crate) rest: Rest,
}

/// Where a run rests.
#[derive(Debug, Clone, Default)]
pub(crate) enum Rest {
    /// It is not in the store yet.
    #[default]
    Unstored,
    /// It never will be: there is no such run.
    Unbegun(Arc<Unbegun>),
    /// Nowhere: it is moving.
    Moving,
    /// It waits for a person.
    Waiting(Arc<ChainExecutionResult>),
    /// It has ended.
    Ended(Arc<EndedRun>),
}

/// A run that has ended: its result, and the text of it that is stored and sent.
#[derive(Debug, Clone)]
pub struct EndedRun {
    result: ChainExecutionResult,
    text: Arc<str>,
}

impl EndedRun {
    /// Of a result.
    pub(crate) fn new(result: ChainExecutionResult) -> Self {
        Self {
            text: result_text(&result).into(),
            result,
        }
    }

    /// The result, JSON.
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl std::ops::Deref for EndedRun {
    type Target = ChainExecutionResult;

    fn deref(&self) -> &ChainExecutionResult {
        &self.result
    }
}

/// Why a run was not begun.
#[derive(Debug)]
pub(crate) enum Unbegun {
    /// The same was asked for before: this is the recorded answer.
    Before(String),
    /// The store did not take it.
    Failed(WriteError<RunRefused>),
}

/// Something that a driver is asked.
#[derive(Debug)]
pub(crate) enum Message {
    /// How far the run has come.
    Show(oneshot::Sender<ChainExecutionResult>),
    /// A person's answer.
    Decide {
        escalation_id: String,
        decision: Approval,
        reason: String,
        audit: AuditEntry,
        reply: oneshot::Sender<ChainExecutionResult>,
    },
    /// Stop.
    Cancel {
        reason: String,
        audit: AuditEntry,
        reply: oneshot::Sender<ChainExecutionResult>,
    },
}

/// How to reach a driver.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) inbox: mpsc::Sender<Message>,
    pub(crate) progress: watch::Receiver<Progress>,
}

/// The open runs of a host.
#[derive(Default)]
pub struct Runs {
    live: Mutex<HashMap<Uuid, Live>>,
    plans: PlanCache,
    stuck: AtomicUsize,
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("open", &self.open()).finish()
    }
}

impl Runs {
    /// How many runs are driven now.
    pub fn open(&self) -> usize {
        self.live.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// How many open runs nobody could drive when they were last looked at. Always 0 on a sound host.
    pub fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }

    fn set_stuck(&self, count: usize) {
        self.stuck.store(count, Ordering::Relaxed);
    }

    pub(crate) fn is_full(&self) -> bool {
        self.open() >= OPEN_MAX
    }

    pub(crate) fn find(&self, id: Uuid) -> Option<Live> {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get(&id)
            .cloned()
    }

    pub(crate) fn is_driven(&self, id: Uuid) -> bool {
        self.find(id).is_some()
    }

    fn enter(&self, id: Uuid, live: Live) {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(id, live);
    }

    fn leave(&self, id: Uuid) {
        self.live
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&id);
    }
}
