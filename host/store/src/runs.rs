//! Executions and their journals. One transaction per transition: the events, the run's state, and the hooks it causes.

use crate::audit::AuditEntry;
use crate::error::WriteError;
use crate::idempotency::{Idempotency, IdempotencyMismatch, Written};
use crate::outbox::NewDelivery;
use crate::port::port;
use crate::store::Store;
use std::sync::Arc;
use uuid::Uuid;

/// One line of a run's journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEvent {
    /// Its place, from 1.
    pub seq: u64,
    /// What was hashed: canonical JSON.
    pub bytes: String,
    /// Covers the bytes and the hash before.
    pub hash: [u8; 32],
}

/// How a run ended.
#[derive(Debug, Clone)]
pub struct Sealed {
    /// When, in milliseconds since 1970.
    pub completed_at: i64,
    /// The result, JSON.
    pub result: Arc<str>,
    /// The signed head, JSON; none on a host without a key.
    pub seal: Option<String>,
}

/// One transition of a run.
#[derive(Debug, Clone)]
pub struct RunStep {
    /// What happened, in order. Never empty: a state without an event cannot be made again.
    pub events: Vec<RunEvent>,
    /// The status after it.
    pub status: String,
    /// How it ended, if it did.
    pub sealed: Option<Sealed>,
    /// Hooks to deliver now that it is decided.
    pub deliveries: Vec<NewDelivery>,
    /// The whole journal, `events` included, where this transition changes what was written before: something is taken out of it.
    pub rewritten: Option<Vec<RunEvent>>,
}

/// A run to begin.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// Its id.
    pub id: Uuid,
    /// Its council.
    pub council_id: Uuid,
    /// Its chain.
    pub chain_id: Uuid,
    /// When it begins, in milliseconds since 1970.
    pub started_at: i64,
    /// BLAKE3 of the definition.
    pub definition_hash: [u8; 32],
    /// What it is made from: the council's document.
    pub definition: Arc<str>,
}

/// A stored run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunRecord {
    /// Its id.
    pub id: Uuid,
    /// Its council.
    pub council_id: Uuid,
    /// Its chain.
    pub chain_id: Uuid,
    /// Where it stands.
    pub status: String,
    /// When it began.
    pub started_at: i64,
    /// BLAKE3 of its definition.
    pub definition_hash: [u8; 32],
    /// The place of the next event.
    pub next_seq: u64,
    /// The hash of the last event.
    pub head: [u8; 32],
    /// The result, once it has ended.
    pub result: Option<String>,
    /// The signed head, once it has ended.
    pub seal: Option<String>,
}

/// A run that has not ended, with its whole journal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRun {
    /// The run.
    pub record: RunRecord,
    /// Its journal.
    pub events: Vec<RunEvent>,
}

/// Why a write of a run was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RunRefused {
    /// Another writer already appended this sequence number; the caller no longer owns the run.
    #[error("the run has moved on without this writer")]
    Superseded,
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
}

/// How much of journals is read at once, in bytes. An entry that goes beyond is the last one that is read.
pub const JOURNAL_BYTES: usize = 4 << 20;

port! {
    /// Reads of runs and their journals.
    pub trait Runs {
        /// A run by id.
        fn run(id: Uuid) -> Option<RunRecord>;

        /// The runs that have not ended, oldest first.
        fn open_runs() -> Vec<RunRecord>;

        /// A piece of a run's journal, after a place. At most `limit` events, and [`JOURNAL_BYTES`].
        fn run_events(id: Uuid, after: u64, limit: usize) -> Vec<RunEvent>;

        /// Several runs with their whole journals, in the order asked for: of as many as fit into [`JOURNAL_BYTES`], and at least
        /// of the first. None where the run is not open any more. All are of one moment, after the call.
        fn open_journals(ids: Vec<Uuid>) -> Vec<Option<OpenRun>>;

        /// What a run was made from.
        fn run_definition(hash: [u8; 32]) -> Option<String>;
    }
}

/// See [`Store::start_run`].
#[derive(Debug)]
pub struct StartRun {
    /// The run.
    pub run: NewRun,
    /// Everything that has happened to it so far. Shared: the run's driver keeps it, in case there is no room.
    pub step: Arc<RunStep>,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// Recorded with it.
    pub audits: Vec<AuditEntry>,
}

/// See [`Store::append_run`].
#[derive(Debug)]
pub struct AppendRun {
    /// The run.
    pub id: Uuid,
    /// Where its writer believes that the journal ends.
    pub next_seq: u64,
    /// What happened.
    pub step: Arc<RunStep>,
    /// Recorded with it.
    pub audits: Vec<AuditEntry>,
}

/// Where a run stands after a transition, so that its row is written once for all of it.
#[derive(Debug)]
pub struct Standing<'a> {
    /// Its status.
    pub status: &'a str,
    /// The place of the next event.
    pub next_seq: u64,
    /// The hash of the last event.
    pub head: [u8; 32],
    /// How it ended, if it did.
    pub sealed: Option<&'a Sealed>,
}

impl RunStep {
    /// Where a run stands after this step, when its next event has the place `next_seq`. None without an event, or when the events
    /// do not follow each other: the write is refused as [`RunRefused::Superseded`].
    pub fn standing_after(&self, next_seq: u64) -> Option<Standing<'_>> {
        let (mut next, mut head) = (next_seq, None);
        for event in &self.events {
            if event.seq != next {
                return None;
            }
            (next, head) = (next.saturating_add(1), Some(event.hash));
        }
        if let Some(rewritten) = &self.rewritten {
            // All of it, from the first entry on.
            if rewritten.iter().map(|event| event.seq).ne(1..next) {
                return None;
            }
            head = rewritten.last().map(|event| event.hash);
        }
        Some(Standing {
            status: &self.status,
            next_seq: next,
            head: head?,
            sealed: self.sealed.as_ref(),
        })
    }
}

impl Store {
    /// Begins a run, with everything that has happened to it so far. With an idempotency key the answer that is kept is the run's
    /// id.
    pub async fn start_run(
        &self,
        run: NewRun,
        step: Arc<RunStep>,
        idempotency: Option<Idempotency>,
        audits: Vec<AuditEntry>,
    ) -> Result<Written, WriteError<RunRefused>> {
        self.write(StartRun {
            run,
            step,
            idempotency,
            audits,
        })
        .await
    }

    /// Takes a run further. `next_seq` is where its writer believes that the journal ends.
    pub async fn append_run(
        &self,
        id: Uuid,
        next_seq: u64,
        step: Arc<RunStep>,
        audits: Vec<AuditEntry>,
    ) -> Result<(), WriteError<RunRefused>> {
        self.write(AppendRun {
            id,
            next_seq,
            step,
            audits,
        })
        .await
    }
}
