//! The audit log of what callers did and were refused: append-only and hash-chained.

use crate::cursor::{Cursor, Page};
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
        let hash = mizzen_model::hex::decode(hash).ok_or(BadAuditHead)?;
        let head = Self {
            seq: seq.parse().map_err(|_| BadAuditHead)?,
            hash,
        };
        let is_one = head.seq > 0 || head.seq == 0 && hash == BEGINNING;
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

/// Entries that one page looks at. The log has no index by caller: a filter that few entries pass would otherwise read all of it for
/// one page. A page that stops here has a next one.
const SCAN: i64 = 50_000;

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

    /// A page of the log, newest first. It may be empty and still have a next one.
    pub async fn list_audit(
        &self,
        filter: AuditFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<Page<AuditRecord>, StoreError> {
        self.read(move |connection| {
            let end = match after {
                Some(cursor) => {
                    let [seq, _] = cursor.position();
                    seq
                }
                None => connection.query_row("SELECT coalesce(max(seq), 0) + 1 FROM audit", [], |row| row.get(0))?,
            };
            let begin = end.saturating_sub(SCAN).max(1);
            let mut statement = connection.prepare_cached(&format!(
                "{SELECT} WHERE seq < ?1 AND seq >= ?2
                   AND (?3 IS NULL OR at >= ?3) AND (?4 IS NULL OR at < ?4) AND (?5 IS NULL OR actor = ?5)
                   AND (?6 IS NULL OR action = ?6) AND (?7 IS NULL OR subject = ?7) AND (?8 IS NULL OR outcome = ?8)
                 ORDER BY seq DESC LIMIT ?9"
            ))?;
            let fetch = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
            let values = params![
                end,
                begin,
                filter.since,
                filter.until,
                filter.actor,
                filter.action,
                filter.subject,
                filter.outcome,
                fetch
            ];
            let mut items: Vec<AuditRecord> = statement.query_map(values, record)?.collect::<Result<_, _>>()?;
            let next = if items.len() > limit {
                items.truncate(limit);
                items.last().map(|last| last.seq)
            } else {
                (begin > 1).then_some(begin)
            };
            Ok(Page {
                items,
                next: next.map(|seq| Cursor::at([seq, 0])),
            })
        })
        .await
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
