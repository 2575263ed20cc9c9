//! Councils: unique by domain, with the sprites and chains they hold indexed.

use crate::audit::AuditEntry;
use crate::cursor::{Cursor, Page};
use crate::error::{StoreError, WriteError};
use crate::idempotency::{Idempotency, IdempotencyMismatch, Written};
use crate::port::port;
use crate::store::Store;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use uuid::Uuid;

/// A council to be stored, new or changed.
#[derive(Debug, Clone)]
pub struct NewCouncil {
    /// Its id.
    pub id: Uuid,
    /// Its domain; no two councils share one.
    pub domain: String,
    /// Its name.
    pub name: String,
    /// The sprites it holds; they must exist when it is stored.
    pub sprites: Vec<Uuid>,
    /// Its chains.
    pub chains: Vec<Uuid>,
    /// The whole document, JSON.
    pub document: String,
    /// Now, in milliseconds since 1970.
    pub at: i64,
}

/// A stored council.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CouncilRecord {
    /// Its id.
    pub id: Uuid,
    /// Counts its changes, from 1.
    pub revision: u64,
    /// The whole document, JSON.
    pub document: String,
}

/// A council with what follows from its document.
#[derive(Debug)]
pub struct KeptCouncil {
    /// The council.
    pub record: CouncilRecord,
    /// BLAKE3 of its document.
    pub hash: [u8; 32],
}

/// A change of one council, refused unless it still has the revision that the change was made from.
#[derive(Debug, Clone)]
pub struct CouncilChange {
    /// The revision that the change was made from.
    pub from: u64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// Why a write of a council was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CouncilRefused {
    /// There is no such council.
    #[error("there is no council with this id")]
    NotFound,
    /// Somebody else changed it in between.
    #[error("the council has changed; it is at revision {0} now")]
    Changed(u64),
    /// Another council has the domain.
    #[error("the domain belongs to council {0}")]
    DomainTaken(Uuid),
    /// Sprites were deleted before the council could be stored.
    #[error("some sprites do not exist")]
    MissingSprites(Vec<Uuid>),
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
}

/// Councils that are kept; all are dropped when there would be more.
const KEPT: usize = 256;

/// Councils as they were last read. Never trusted without a look at the revision in the backend.
#[derive(Debug, Default)]
pub(crate) struct KeptCouncils(Mutex<HashMap<Uuid, Arc<KeptCouncil>>>);

impl KeptCouncils {
    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, Arc<KeptCouncil>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

port! {
    /// Reads of councils.
    pub trait Councils {
        /// A council by id.
        fn council(id: Uuid) -> Option<CouncilRecord>;

        /// The revision of a council. Asked at every start of a run: it should cost one look into an index.
        fn council_revision(id: Uuid) -> Option<u64>;

        /// The id of the council that has a domain.
        fn council_of_domain(domain: String) -> Option<Uuid>;

        /// The council that owns a chain.
        fn council_of_chain(chain: Uuid) -> Option<CouncilRecord>;

        /// A page of councils in the order of their creation, all or those of one domain: at most `limit`, and
        /// [`crate::PAGE_BYTES`].
        fn list_councils(domain: Option<String>, after: Option<Cursor>, limit: usize) -> Page<CouncilRecord>;

        /// How many councils there are.
        fn count_councils() -> u64;

        /// Checks that councils can be read.
        fn probe_councils() -> ();
    }
}

/// See [`Store::create_council`].
#[derive(Debug)]
pub struct CreateCouncil {
    /// The council.
    pub council: NewCouncil,
    /// What the caller is answered, kept under the key.
    pub answer: String,
    /// The caller's key.
    pub idempotency: Option<Idempotency>,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// See [`Store::update_council`].
#[derive(Debug)]
pub struct UpdateCouncil {
    /// The council as it will be.
    pub council: NewCouncil,
    /// From what, and its record.
    pub change: CouncilChange,
}

/// See [`Store::delete_council`].
#[derive(Debug)]
pub struct DeleteCouncil {
    /// The council.
    pub id: Uuid,
    /// From what, and its record.
    pub change: CouncilChange,
}

impl Store {
    /// Stores a new council.
    pub async fn create_council(
        &self,
        council: NewCouncil,
        answer: String,
        idempotency: Option<Idempotency>,
        audit: AuditEntry,
    ) -> Result<Written, WriteError<CouncilRefused>> {
        self.write(CreateCouncil {
            council,
            answer,
            idempotency,
            audit,
        })
        .await
    }

    /// A council by id, for those who ask again and again: only its revision is read while it does not change.
    pub async fn kept_council(&self, id: Uuid) -> Result<Option<Arc<KeptCouncil>>, StoreError> {
        let revision = self.council_revision(id).await?;
        let kept = self.kept_councils();
        let Some(revision) = revision else {
            kept.lock().remove(&id);
            return Ok(None);
        };
        if let Some(record) = kept
            .lock()
            .get(&id)
            .filter(|kept| kept.record.revision == revision)
        {
            return Ok(Some(Arc::clone(record)));
        }
        let Some(record) = self.council(id).await? else {
            return Ok(None);
        };
        let record = Arc::new(KeptCouncil {
            hash: *blake3::hash(record.document.as_bytes()).as_bytes(),
            record,
        });
        let mut kept = kept.lock();
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(id, Arc::clone(&record));
        Ok(Some(record))
    }

    /// Replaces a council. Returns its new revision.
    pub async fn update_council(
        &self,
        council: NewCouncil,
        change: CouncilChange,
    ) -> Result<u64, WriteError<CouncilRefused>> {
        self.write(UpdateCouncil { council, change }).await
    }

    /// Deletes a council.
    pub async fn delete_council(
        &self,
        id: Uuid,
        change: CouncilChange,
    ) -> Result<(), WriteError<CouncilRefused>> {
        self.write(DeleteCouncil { id, change }).await
    }
}
