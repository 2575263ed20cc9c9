//! The audit log of what callers did and were refused: append-only and hash-chained.

use crate::cursor::{Cursor, Page};
use crate::error::StoreError;
use crate::port::port;
use crate::store::Store;
use std::fmt;
use std::str::FromStr;

/// Something that happened, to be recorded.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When, in milliseconds since 1970.
    pub at: i64,
    /// Who: the id of an API key, or `local`, `anonymous`.
    pub actor: String,
    /// What: an operation, e.g. `create_sprite`.
    pub action: String,
    /// On what: an id or a path.
    pub subject: String,
    /// `done`, `denied`, `unauthenticated`.
    pub outcome: String,
    /// The request, as in the logs.
    pub request_id: String,
    /// More, as JSON.
    pub detail: String,
}

/// An entry as it is stored.
#[derive(Debug, Clone)]
pub struct AuditRecord {
    /// Its place in the log.
    pub seq: i64,
    /// What happened.
    pub entry: AuditEntry,
    /// Covers the entry and every one before it.
    pub hash: [u8; 32],
}

/// The end of the log at some time. One that was kept elsewhere shows whether the log still holds everything up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AuditHead {
    /// The place of the last entry; 0 when there is none.
    pub seq: i64,
    /// Its hash.
    pub hash: [u8; 32],
}

impl fmt::Display for AuditHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.seq, blake3::Hash::from_bytes(self.hash).to_hex())
    }
}

/// A text that is not the end of a log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not the head of an audit log: `mizzen audit head` prints one, NUMBER:HASH")]
pub struct BadAuditHead;

impl FromStr for AuditHead {
    type Err = BadAuditHead;

    fn from_str(text: &str) -> Result<Self, BadAuditHead> {
        let (seq, hash) = text.split_once(':').ok_or(BadAuditHead)?;
        let hash = mizzen_model::hex::decode(hash).ok_or(BadAuditHead)?;
        let head = Self {
            seq: seq.parse().map_err(|_| BadAuditHead)?,
            hash,
        };
        let is_one = head.seq > 0 || head.seq == 0 && hash == AuditEntry::BEGINNING;
        // A number has several spellings, a head has one.
        (is_one && head.to_string() == text)
            .then_some(head)
            .ok_or(BadAuditHead)
    }
}

/// Which entries. What is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// Only at or after this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only before this time.
    pub until: Option<i64>,
    /// Only of this caller.
    pub actor: Option<String>,
    /// Only this operation.
    pub action: Option<String>,
    /// Only on this id or path.
    pub subject: Option<String>,
    /// Only with this outcome.
    pub outcome: Option<String>,
}

impl AuditEntry {
    /// What the first entry follows.
    pub const BEGINNING: [u8; 32] = [0; 32];

    /// The hash of this entry after the one with the hash `before`: it covers this entry and every one before it.
    pub fn hash_after(&self, before: [u8; 32]) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new_derive_key("mizzen/audit-entry/v1");
        hasher.update(&before);
        hasher.update(&self.at.to_be_bytes());
        let texts = [
            &self.actor,
            &self.action,
            &self.subject,
            &self.outcome,
            &self.request_id,
            &self.detail,
        ];
        for text in texts {
            // Length first, so that no two entries share their bytes.
            hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
            hasher.update(text.as_bytes());
        }
        *hasher.finalize().as_bytes()
    }
}

port! {
    /// Reads of the audit log.
    pub trait Audit {
        /// A page of the log, newest first. It may be empty and still have a next one.
        fn list_audit(filter: AuditFilter, after: Option<Cursor>, limit: usize) -> Page<AuditRecord>;

        /// The newest entries, newest first.
        fn recent_audit(limit: usize) -> Vec<AuditRecord>;

        /// The hash of the entry at a place; none when there is no such entry.
        fn audit_hash(seq: i64) -> Option<[u8; 32]>;
    }
}

/// See [`Store::record_audit`].
#[derive(Debug)]
pub struct RecordAudit {
    /// The entry.
    pub entry: AuditEntry,
}

impl Store {
    /// The end of the log.
    pub async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        let head = self.recent_audit(1).await?.pop();
        Ok(head.map_or(
            AuditHead {
                seq: 0,
                hash: AuditEntry::BEGINNING,
            },
            |last| AuditHead {
                seq: last.seq,
                hash: last.hash,
            },
        ))
    }

    /// Whether the log still holds what it did when this was its end. That its entries follow from each other is
    /// [`Store::check`]'s question.
    pub async fn audit_holds(&self, head: AuditHead) -> Result<bool, StoreError> {
        if head.seq == 0 {
            return Ok(head.hash == AuditEntry::BEGINNING);
        }
        Ok(self.audit_hash(head.seq).await? == Some(head.hash))
    }

    /// Records something that changed nothing else, e.g. a refusal.
    pub async fn record_audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write(RecordAudit { entry }).await.map_err(Into::into)
    }
}
