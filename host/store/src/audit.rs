//! The audit log of what callers did and were refused: append-only and hash-chained.

use crate::error::{Never, Stop, StoreError};
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};

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

impl Store {
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
    let hash = link(before.unwrap_or([0; 32]), entry);
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

/// Walks the whole log. Returns the place of the first entry that does not fit, if any.
pub(crate) fn first_broken(connection: &Connection) -> rusqlite::Result<Option<i64>> {
    let mut statement = connection.prepare(&format!("{SELECT} ORDER BY seq"))?;
    let mut before = [0; 32];
    for row in statement.query_map([], record)? {
        let row = row?;
        if link(before, &row.entry) != row.hash {
            return Ok(Some(row.seq));
        }
        before = row.hash;
    }
    Ok(None)
}
