//! Erasure of ended runs in SQL.

use crate::audit;
use crate::cursor::{cursor_at, position};
use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use crate::runs::{COLUMNS, LAST, place, record};
use mizzen_store::{
    Cursor, ERASED, Erasable, ErasablePage, EraseRuns, ErasureFilter, Erasures, NewErasure, Pending,
    RunErasure,
};
use rusqlite::{Connection, OptionalExtension, params};
use std::convert::Infallible;
use uuid::Uuid;

/// Runs that one page looks at: most of the oldest were erased before.
const SCAN: i64 = 10_000;
/// Bytes of results and journals that one page goes up to. It is what one transaction erases, and what other writes wait for.
const PAGE_BYTES: usize = 4 << 20;

impl Erasures for Database {
    fn erasable_run(&self, id: Uuid) -> Pending<'_, Option<Erasable>> {
        self.read(move |connection| {
            let found: Option<i64> = connection
                .prepare_cached("SELECT seq FROM runs WHERE id = ?1 AND open = 0 AND definition <> ?2")?
                .query_row(params![id.to_string(), ERASED], |row| row.get(0))
                .optional()?;
            found.map(|seq| erasable(connection, seq)).transpose()
        })
    }

    fn erasable_runs(
        &self,
        filter: ErasureFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Pending<'_, ErasablePage> {
        self.read(move |connection| {
            let [sort_at, seq] = after.map_or(Ok([i64::MIN, 0]), |cursor| position(&cursor))?;
            let sql = format!(
                "SELECT sort_at, seq, open = 0 AND definition <> ?1 FROM runs
                 WHERE (sort_at, seq) > (?2, ?3) AND sort_at < ?4 {} ORDER BY sort_at, seq LIMIT {SCAN}",
                filter.council.map_or("", |_| "AND council_id = ?5")
            );
            let before = filter.before.unwrap_or(i64::MAX);
            let mut statement = connection.prepare_cached(&sql)?;
            let council = filter.council.map(|id| id.to_string());
            let mut rows = match &council {
                Some(council) => statement.query(params![ERASED, sort_at, seq, before, council])?,
                None => statement.query(params![ERASED, sort_at, seq, before])?,
            };
            let (mut runs, mut bytes, mut seen) = (Vec::new(), 0_usize, 0_i64);
            let mut last = None;
            while let Some(row) = rows.next()? {
                seen += 1;
                let position: [i64; 2] = [row.get(0)?, row.get(1)?];
                last = Some(position);
                if !row.get(2)? {
                    continue;
                }
                let [_, seq] = position;
                let (run, size) = (erasable(connection, seq)?, journal_bytes(connection, seq)?);
                bytes = bytes
                    .saturating_add(size)
                    .saturating_add(run.record.result.as_ref().map_or(0, String::len));
                runs.push(run);
                if runs.len() >= limit || bytes > PAGE_BYTES {
                    break;
                }
            }
            let last = last.map(cursor_at);
            let is_whole = seen < SCAN && runs.len() < limit && bytes <= PAGE_BYTES;
            Ok(ErasablePage {
                runs,
                next: last.filter(|_| !is_whole),
                last,
            })
        })
    }

    fn count_erasable(&self, filter: ErasureFilter) -> Pending<'_, (u64, u64)> {
        self.read(move |connection| {
            let council = filter.council.map(|id| id.to_string());
            let before = filter.before.unwrap_or(i64::MAX);
            let erasable = connection.query_row(
                "SELECT count(*) FROM runs WHERE open = 0 AND definition <> ?1 AND sort_at < ?2
                   AND (?3 IS NULL OR council_id = ?3)",
                params![ERASED, before, council],
                |row| row.get(0),
            )?;
            Ok((erasable, open_of(connection, council.as_deref(), before)?))
        })
    }

    fn count_open(&self, filter: ErasureFilter) -> Pending<'_, u64> {
        self.read(move |connection| {
            let council = filter.council.map(|id| id.to_string());
            open_of(connection, council.as_deref(), filter.before.unwrap_or(i64::MAX))
        })
    }

    fn run_erasure(&self, id: Uuid) -> Pending<'_, Option<RunErasure>> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT e.at, e.actor, e.statement, e.hashes FROM run_erasures AS e JOIN runs AS r ON r.seq = e.run
                     WHERE r.id = ?1",
                )?
                .query_row([id.to_string()], |row| {
                    let hashes: Vec<u8> = row.get(3)?;
                    let (hashes, _) = hashes.as_chunks::<32>();
                    Ok(RunErasure {
                        at: row.get(0)?,
                        actor: row.get(1)?,
                        statement: row.get(2)?,
                        hashes: hashes.to_vec(),
                    })
                })
                .optional()
        })
    }
}

impl Perform for EraseRuns {
    fn perform(&self, connection: &Connection) -> Result<u64, Stop<Infallible>> {
        let mut erased = 0;
        for erasure in &self.erasures {
            erased += u64::from(erase(connection, erasure, self.at, &self.actor)?);
        }
        if erased > 0 {
            audit::append(connection, &self.audit.entry(erased))?;
        }
        Ok(erased)
    }
}

fn open_of(connection: &Connection, council: Option<&str>, before: i64) -> rusqlite::Result<u64> {
    connection.query_row(
        "SELECT count(*) FROM runs INDEXED BY runs_open WHERE open = 1 AND sort_at < ?1 AND (?2 IS NULL OR council_id = ?2)",
        params![before, council],
        |row| row.get(0),
    )
}

/// A run with the hashes of its journal.
fn erasable(connection: &Connection, seq: i64) -> rusqlite::Result<Erasable> {
    let (record, completed_at) = connection
        .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE seq = ?1"))?
        .query_row([seq], |row| Ok((record(row)?, row.get("sort_at")?)))?;
    let mut entries = connection
        .prepare_cached("SELECT hash FROM run_events WHERE place BETWEEN ?1 AND ?2 ORDER BY place")?;
    let mut rows = entries.query([place(seq, 0), place(seq, LAST)])?;
    let mut hashes = Vec::new();
    while let Some(row) = rows.next()? {
        hashes.extend_from_slice(&row.get::<_, [u8; 32]>(0)?);
    }
    Ok(Erasable {
        record,
        completed_at,
        hashes,
    })
}

/// How large a run's journal is. SQLite knows that without reading what does not fit into a page.
fn journal_bytes(connection: &Connection, seq: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "SELECT coalesce(sum(octet_length(bytes)), 0) FROM run_events WHERE place BETWEEN ?1 AND ?2",
        )?
        .query_row([place(seq, 0), place(seq, LAST)], |row| row.get(0))
}

fn erase(
    connection: &Connection,
    erasure: &NewErasure,
    at: i64,
    actor: &str,
) -> Result<bool, Stop<Infallible>> {
    let id = erasure.id.to_string();
    let found: Option<(i64, [u8; 32])> = connection
        .prepare_cached(
            "SELECT seq, definition FROM runs WHERE id = ?1 AND open = 0 AND head = ?2 AND definition <> ?3",
        )?
        .query_row(params![id, erasure.head, ERASED], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((run, definition)) = found else {
        return Ok(false);
    };
    connection
        .prepare_cached(
            "INSERT INTO run_erasures (run, at, actor, statement, hashes) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![run, at, actor, erasure.statement, erasure.hashes])?;
    connection
        .prepare_cached("DELETE FROM run_events WHERE place BETWEEN ?1 AND ?2")?
        .execute([place(run, 0), place(run, LAST)])?;
    connection
        .prepare_cached("UPDATE runs SET result = ?2, definition = ?3 WHERE seq = ?1")?
        .execute(params![run, erasure.result, ERASED])?;
    // What is under way may still arrive; what comes of it is not recorded any more.
    connection
        .prepare_cached(
            "UPDATE outbox SET payload = '', state = iif(state = 'pending', 'failed', state),
                               last_error = iif(state = 'pending', 'the execution was erased', last_error)
             WHERE run_id = ?1",
        )?
        .execute([id])?;
    connection
        .prepare_cached(
            "DELETE FROM run_definitions WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM runs WHERE definition = ?1)",
        )?
        .execute([definition])?;
    Ok(true)
}
