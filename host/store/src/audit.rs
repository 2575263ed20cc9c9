//! The audit log of what callers did and were refused: append-only and hash-chained.

use crate::error::{Never, Stop, StoreError};
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};
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

/// The end of the log at some time. Whoever has kept one elsewhere can tell that the log still holds everything up to it.
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
        let seq: i64 = seq.parse().map_err(|_| BadAuditHead)?;
        let hash = *blake3::Hash::from_hex(hash).map_err(|_| BadAuditHead)?.as_bytes();
        let is_one = seq > 0 || seq == 0 && hash == BEGINNING;
        is_one.then_some(Self { seq, hash }).ok_or(BadAuditHead)
    }
}

/// What the first entry follows.
const BEGINNING: [u8; 32] = [0; 32];

impl Store {
    /// The end of the log.
    pub async fn audit_head(&self) -> Result<AuditHead, StoreError> {
        let head = self.recent_audit(1).await?.pop();
        Ok(head.map_or(
            AuditHead {
                seq: 0,
                hash: BEGINNING,
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
            return Ok(head.hash == BEGINNING);
        }
        self.read(move |connection| {
            let hash: Option<[u8; 32]> = connection
                .query_row("SELECT hash FROM audit WHERE seq = ?1", [head.seq], |row| {
                    row.get(0)
                })
                .optional()?;
            Ok(hash == Some(head.hash))
        })
        .await
    }

    /// Records something that changed nothing else, e.g. a refusal.
    pub async fn record_audit(&self, entry: AuditEntry) -> Result<(), StoreError> {
        self.write::<_, Never, _>(move |connection| append(connection, &entry).map_err(Stop::Sql))
            .await
            .map_err(Into::into)
    }

    /// The newest entries, newest first.
    pub async fn recent_audit(&self, limit: usize) -> Result<Vec<AuditRecord>, StoreError> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} ORDER BY seq DESC LIMIT ?1"))?;
            statement
                .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], record)?
                .collect()
        })
        .await
    }
}

const SELECT: &str = "SELECT seq, at, actor, action, subject, outcome, request_id, detail, hash FROM audit";

fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<AuditRecord> {
    Ok(AuditRecord {
        seq: row.get(0)?,
        entry: AuditEntry {
            at: row.get(1)?,
            actor: row.get(2)?,
            action: row.get(3)?,
            subject: row.get(4)?,
            outcome: row.get(5)?,
            request_id: row.get(6)?,
            detail: row.get(7)?,
        },
        hash: row.get(8)?,
    })
}

/// Appends an entry in the transaction that does what it records.
pub(crate) fn append(connection: &Connection, entry: &AuditEntry) -> rusqlite::Result<()> {
    let before: Option<[u8; 32]> = connection
        .prepare_cached("SELECT hash FROM audit ORDER BY seq DESC LIMIT 1")?
        .query_row([], |row| row.get(0))
        .optional()?;
    let hash = link(before.unwrap_or(BEGINNING), entry);
    connection
        .prepare_cached(
            "INSERT INTO audit (at, actor, action, subject, outcome, request_id, detail, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        )?
        .execute(params![
            entry.at,
            entry.actor,
            entry.action,
            entry.subject,
            entry.outcome,
            entry.request_id,
            entry.detail,
            hash
        ])?;
    Ok(())
}

fn link(before: [u8; 32], entry: &AuditEntry) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key("mizzen/audit-entry/v1");
    hasher.update(&before);
    hasher.update(&entry.at.to_be_bytes());
    let texts = [
        &entry.actor,
        &entry.action,
        &entry.subject,
        &entry.outcome,
        &entry.request_id,
        &entry.detail,
    ];
    for text in texts {
        // Length first, so that no two entries share their bytes.
        hasher.update(&u64::try_from(text.len()).unwrap_or(u64::MAX).to_be_bytes());
        hasher.update(text.as_bytes());
    }
    *hasher.finalize().as_bytes()
}

/// How many entries were written and are not at the end of the log any more. SQLite counts what it numbers, and does not count back
/// when rows are deleted. Whoever knows that can set the count back too: only a head that is kept elsewhere tells then.
pub(crate) fn cut_off(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row(
        "SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'audit'), 0) - coalesce((SELECT max(seq) FROM audit), 0)",
        [],
        |row| row.get(0),
    )
}

/// Walks the whole log. Returns the place of the first entry that does not fit, if any.
pub(crate) fn first_broken(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare(&format!("{SELECT} ORDER BY seq"))?;
    let mut before = BEGINNING;
    for row in statement.query_map([], record)? {
        let row = row?;
        if link(before, &row.entry) != row.hash {
            return Ok(Some(row.seq));
        }
        before = row.hash;
    }
    Ok(None)
}
