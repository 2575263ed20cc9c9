//! The runs that are open: who drives each of them, and how to reach it.
//!
//! Every open run has at most one driver, a task that owns its state machine. Operations send it messages; nothing else
//! touches the run. What a driver has done is durable before anybody hears of it. A run that waits for a person has no driver: it is
//! parked, and made again from its journal when somebody answers.

mod audit;
mod body;
mod definition;
mod drive;
mod entry;
mod erasure;
mod guest_log;
mod ledger;
mod nested;
mod packs;
mod parked;
mod perform;
mod recover;
mod replay;
mod resolve;
mod seal;
#[cfg(test)]
mod simulation;
mod surroundings;

pub use audit::{AuditError, ErasedRun, Verified, verify};
pub(crate) use definition::{
    GraphDefinition, ToolDefinition, chain_of_graph, chain_of_tool, graphs_council, requirement,
    tool_calls_council,
};
pub(crate) use drive::{Beginning, begin, result_text};
pub use entry::{EntryKind, EntryMember, EntryShape};
pub(crate) use erasure::Eraser;
#[cfg(test)]
pub(crate) use perform::Script;
pub use recover::Recovered;
pub use replay::{Decided, Difference, Recording, RecordingError, Replay, Transition, replay};
use resolve::PlanCache;
pub(crate) use resolve::{Planned, lower_installed};
pub use seal::HostKey;

use crate::caller::Caller;
use crate::quota::{Quota, QuotaExceeded, QuotaLimits, QuotaShare};
use mizzen_model::execution::{Approval, ChainExecutionResult};
use mizzen_model::id::{ChainId, CouncilId};
use mizzen_store::{AuditEntry, RunRefused, WriteError};
use parked::Parked;
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

/// Runs that may be open at once when nothing is set.
const OPEN: usize = 16_384;
/// The part of them that one caller gets.
const CALLER: usize = 4;
/// The part that only callers get who have few, and how few: the part of the whole of which they have less.
const KEPT: usize = 8;
const FEW: usize = 64;

/// How many runs may be open, and how long they wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// Runs that are open at once; further ones are refused until some have ended. The last eighth is for callers who have few.
    pub open: usize,
    /// Runs of one API key; on a host without keys, of one council or of one tool that is called without a council.
    pub open_per_caller: usize,
    /// How long a new run waits for a person; none: for as long as it takes.
    pub escalation: Option<Duration>,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            open: OPEN,
            open_per_caller: OPEN / CALLER,
            escalation: None,
        }
    }
}

/// How far a run has come, as far as it is durable.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// Where the run rests.
    pub(crate) rest: RunPhase,
}

/// Where a run rests.
#[derive(Debug, Clone, Default)]
pub(crate) enum RunPhase {
    /// It is not in the store yet.
    #[default]
    NotStored,
    /// It never will be: there is no such run.
    Rejected(Arc<Rejected>),
    /// Nowhere: it is moving.
    Running,
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
pub(crate) enum Rejected {
    /// The same was asked for before: this is the recorded answer.
    Duplicate(String),
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
    /// What a person wants of a graph.
    Steer {
        steering: Steering,
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

/// What a person wants of a graph.
#[derive(Debug, Clone)]
pub(crate) enum Steering {
    /// Answers an interrupt.
    Respond {
        interrupt_id: String,
        response: serde_json::Map<String, serde_json::Value>,
    },
    /// It waits before its next node.
    Pause,
    /// It goes on.
    Resume,
}

/// How to reach a driver.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) inbox: mpsc::Sender<Message>,
    pub(crate) progress: watch::Receiver<Progress>,
}

/// Where an open run is.
#[derive(Debug)]
enum Place {
    /// With its driver.
    Driven(Live),
    /// In the store.
    Parked(Parked),
    /// On its way from the store to a driver; gone when it is there.
    Waking(watch::Sender<()>),
}

/// An open run, and its part of all that may be open.
struct Open {
    place: Place,
    _share: Option<QuotaShare>,
}

/// How an open run can be reached.
pub(crate) enum Reached {
    /// By its driver.
    Driven(Live),
    /// It waits for a person, and this is how far it has come, if that is little. The signal ends when it waits no more.
    Parked(Option<Arc<ChainExecutionResult>>, watch::Receiver<()>),
    /// Soon. The signal ends then.
    Soon(watch::Receiver<()>),
}

/// The open runs of a host.
pub struct Runs {
    open: Mutex<HashMap<Uuid, Open>>,
    limits: RunLimits,
    quota: Arc<Quota>,
    plans: PlanCache,
    stuck: AtomicUsize,
}

impl Default for Runs {
    fn default() -> Self {
        Self::new(RunLimits::default())
    }
}

impl std::fmt::Debug for Runs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runs").field("open", &self.open()).finish()
    }
}

impl Runs {
    /// No runs yet.
    pub fn new(limits: RunLimits) -> Self {
        Self {
            open: Mutex::default(),
            limits,
            quota: Quota::new(QuotaLimits {
                all: limits.open,
                each: limits.open_per_caller,
                kept: limits.open / KEPT,
                little: (limits.open / FEW).max(1),
            }),
            plans: PlanCache::default(),
            stuck: AtomicUsize::new(0),
        }
    }

    fn places(&self) -> MutexGuard<'_, HashMap<Uuid, Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many runs are open: driven now, or waiting for a person.
    pub fn open(&self) -> usize {
        self.places().len()
    }

    /// How long a new run waits for a person, in milliseconds.
    pub(crate) fn escalation_ms(&self) -> Option<u64> {
        let time = self.limits.escalation?;
        Some(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
    }

    /// How many open runs nobody could drive when they were last looked at. Always 0 on a sound host.
    pub fn stuck(&self) -> usize {
        self.stuck.load(Ordering::Relaxed)
    }

    fn set_stuck(&self, count: usize) {
        self.stuck.store(count, Ordering::Relaxed);
    }

    /// A place for one more run of a caller, or which limit stands against it and how many that are.
    pub(crate) fn admit(
        &self,
        caller: &Caller,
        council: CouncilId,
        chain: ChainId,
    ) -> Result<QuotaShare, (QuotaExceeded, usize)> {
        let limits = self.quota.limits();
        self.quota
            .take(&holder(caller.actor(), council, chain), 1)
            .map_err(|exceeded| match exceeded {
                QuotaExceeded::Each => (exceeded, limits.each),
                QuotaExceeded::All | QuotaExceeded::Kept => (exceeded, limits.all),
            })
    }

    /// Counts a run that was begun before.
    fn count(&self, actor: &str, council: CouncilId, chain: ChainId) -> QuotaShare {
        self.quota.count(&holder(actor, council, chain), 1)
    }

    /// Keeps the share of a run for as long as it is open.
    pub(crate) fn keep(&self, id: Uuid, share: QuotaShare) {
        if let Some(open) = self.places().get_mut(&id) {
            open._share = Some(share);
        }
    }

    /// The driver of a run.
    pub(crate) fn find(&self, id: Uuid) -> Option<Live> {
        match &self.places().get(&id)?.place {
            Place::Driven(live) => Some(live.clone()),
            Place::Parked(_) | Place::Waking(_) => None,
        }
    }

    /// How to reach a run; none when it is not open here.
    pub(crate) fn reach(&self, id: Uuid) -> Option<Reached> {
        Some(match &self.places().get(&id)?.place {
            Place::Driven(live) => Reached::Driven(live.clone()),
            Place::Parked(parked) => Reached::Parked(parked.shown(), parked.watch()),
            Place::Waking(awake) => Reached::Soon(awake.subscribe()),
        })
    }

    /// Whether somebody drives a run, or would when it is answered.
    pub(crate) fn is_driven(&self, id: Uuid) -> bool {
        self.places().contains_key(&id)
    }

    fn enter(&self, id: Uuid, live: Live) {
        self.put(id, Place::Driven(live));
    }

    /// What there was of it is dropped: who waits for that looks again.
    fn put(&self, id: Uuid, place: Place) {
        let mut places = self.places();
        match places.get_mut(&id) {
            Some(open) => open.place = place,
            None => {
                places.insert(id, Open { place, _share: None });
            }
        }
    }

    fn leave(&self, id: Uuid) {
        self.places().remove(&id);
    }
}

/// Who has a run, when they are counted: a key, or where there are no keys, the council; of a call of a tool, the tool.
fn holder(actor: &str, council: CouncilId, chain: ChainId) -> String {
    match actor {
        "local" if council == tool_calls_council() => format!("tool {chain}"),
        "local" if council == graphs_council() => format!("graph {chain}"),
        "local" => format!("council {council}"),
        key => key.to_owned(),
    }
}
