//! The audit log in SQL: append-only and hash-chained.

use crate::cursor::{cursor_at, position};
use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use mizzen_store::{Audit, AuditEntry, AuditFilter, AuditRecord, Cursor, Page, Pending, RecordAudit};
use rusqlite::{Connection, OptionalExtension, params};
use std::convert::Infallible;

/// Entries that one page looks at. The log has no index by caller: a filter that few entries pass would otherwise read all of it for
/// one page. A page that stops here has a next one.
const SCAN: i64 = 50_000;

impl Audit for Database {
    fn list_audit(
        &self,
        filter: AuditFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Pending<'_, Page<AuditRecord>> {
        self.read(move |connection| {
            let end = match after {
                Some(cursor) => {
                    let [seq, _] = position(&cursor)?;
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
                next: next.map(|seq| cursor_at([seq, 0])),
            })
        })
    }

    fn recent_audit(&self, limit: usize) -> Pending<'_, Vec<AuditRecord>> {
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(&format!("{SELECT} ORDER BY seq DESC LIMIT ?1"))?;
            statement
                .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], record)?
                .collect()
        })
    }

    fn audit_hash(&self, seq: i64) -> Pending<'_, Option<[u8; 32]>> {
        self.read(move |connection| {
            connection
                .query_row("SELECT hash FROM audit WHERE seq = ?1", [seq], |row| row.get(0))
                .optional()
        })
    }
}

impl Perform for RecordAudit {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        append(connection, &self.entry).map_err(Stop::Sql)
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
    let hash = entry.hash_after(before.unwrap_or(AuditEntry::BEGINNING));
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

/// How many entries were written and are not at the end of the log any more. SQLite counts what it numbers, and does not count back
/// when rows are deleted. The count can be set back by hand too: only a head that is kept elsewhere shows that.
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
    let mut before = AuditEntry::BEGINNING;
    for row in statement.query_map([], record)? {
        let row = row?;
        if row.entry.hash_after(before) != row.hash {
            return Ok(Some(row.seq));
        }
        before = row.hash;
    }
    Ok(None)
}
