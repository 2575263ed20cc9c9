//! Erasure of ended runs: the journal and the result go, their hashes stay with a signed statement. Several runs to a transaction,
//! each whole or not at all.

use crate::audit::AuditEntry;
use crate::cursor::Cursor;
use crate::error::StoreError;
use crate::port::port;
use crate::runs::RunRecord;
use crate::store::Store;
use uuid::Uuid;

/// The definition's hash of a run that was erased.
pub const ERASED: [u8; 32] = [0; 32];

impl RunRecord {
    /// Whether its journal and its result were erased.
    pub fn is_erased(&self) -> bool {
        self.definition_hash == ERASED
    }
}

/// Which ended runs. What is left out does not matter.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ErasureFilter {
    /// Only of this council.
    pub council: Option<Uuid>,
    /// Only those that ended before this time, in milliseconds since 1970.
    pub before: Option<i64>,
}

/// A run that has ended and can be erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erasable {
    /// The run.
    pub record: RunRecord,
    /// When it ended, in milliseconds since 1970.
    pub completed_at: i64,
    /// The hashes of its entries, in order, 32 bytes each.
    pub hashes: Vec<u8>,
}

/// Runs that can be erased together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasablePage {
    /// The runs, those that ended first first. It may be empty and have a next page.
    pub runs: Vec<Erasable>,
    /// Where the next page begins; none when there are no more.
    pub next: Option<Cursor>,
    /// The last run that was looked at; none when there was none.
    pub last: Option<Cursor>,
}

/// What is to be left of a run.
#[derive(Debug, Clone)]
pub struct NewErasure {
    /// The run.
    pub id: Uuid,
    /// The last hash of its journal, as it was read.
    pub head: [u8; 32],
    /// The hashes of its entries, in order, 32 bytes each.
    pub hashes: Vec<u8>,
    /// What stands in the place of its result, JSON.
    pub result: String,
    /// The host's signed statement, JSON.
    pub statement: String,
}

/// What is left of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunErasure {
    /// When it was erased, in milliseconds since 1970.
    pub at: i64,
    /// Who did it.
    pub actor: String,
    /// The host's signed statement, JSON.
    pub statement: String,
    /// The hashes of its entries, in order.
    pub hashes: Vec<[u8; 32]>,
}

/// The audit entry of an erasure.
#[derive(Debug, Clone)]
pub enum ErasureAudit {
    /// As it is.
    Entry(AuditEntry),
    /// With the number of erased runs in its detail.
    Counted {
        /// The entry; its detail ends where the number begins.
        entry: AuditEntry,
        /// What follows the number.
        rest: String,
    },
}

impl ErasureAudit {
    /// The entry for so many erased runs.
    pub fn entry(&self, erased: u64) -> AuditEntry {
        match self {
            Self::Entry(entry) => entry.clone(),
            Self::Counted { entry, rest } => AuditEntry {
                detail: format!("{}{erased}{rest}", entry.detail),
                ..entry.clone()
            },
        }
    }
}

port! {
    /// Reads of runs that can be erased, and of what is left of those that were.
    pub trait Erasures {
        /// An ended run as it is before its erasure. None when there is no such run, when it is open or erased.
        fn erasable_run(id: Uuid) -> Option<Erasable>;

        /// Runs that have ended and are not erased, those that ended first first: at most `limit`, and a few megabytes.
        fn erasable_runs(filter: ErasureFilter, after: Option<Cursor>, limit: usize) -> ErasablePage;

        /// How many runs a filter finds that can be erased, and how many it passes over because they are open.
        fn count_erasable(filter: ErasureFilter) -> (u64, u64);

        /// How many runs a filter finds that are open.
        fn count_open(filter: ErasureFilter) -> u64;

        /// What is left of a run that was erased.
        fn run_erasure(id: Uuid) -> Option<RunErasure>;
    }
}

/// See [`Store::erase_runs`].
#[derive(Debug)]
pub struct EraseRuns {
    /// The runs.
    pub erasures: Vec<NewErasure>,
    /// Now, in milliseconds since 1970.
    pub at: i64,
    /// Who does it.
    pub actor: String,
    /// Recorded with it.
    pub audit: ErasureAudit,
}

impl Store {
    /// Erases runs in one transaction: of each the journal, the result, what its hooks carry, and its definition when no other run
    /// needs it. One that is open, erased already or not as it was read is passed over. Returns how many were erased; the audit entry
    /// is made for that number, and not at all for none.
    pub async fn erase_runs(
        &self,
        erasures: Vec<NewErasure>,
        at: i64,
        actor: String,
        audit: ErasureAudit,
    ) -> Result<u64, StoreError> {
        let erased = self.write(EraseRuns {
            erasures,
            at,
            actor,
            audit,
        });
        erased.await.map_err(Into::into)
    }
}
