//! Erasure of ended runs: the journal and the result go, their hashes stay with a signed statement. Several runs to a transaction,
//! each whole or not at all.

use crate::audit::{self, AuditEntry};
use crate::cursor::Cursor;
use crate::error::{Never, Stop, StoreError};
use crate::runs::{COLUMNS, LAST, RunRecord, place, record};
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

/// The definition of a run that was erased; see migration 8.
const ERASED: [u8; 32] = [0; 32];

/// Runs that one page looks at: most of the oldest were erased before.
const SCAN: i64 = 10_000;
/// Bytes of results and journals that one page goes up to. It is what one transaction erases, and what other writes wait for.
const PAGE_BYTES: usize = 4 << 20;

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

impl Store {
    /// An ended run as it is before its erasure. None when there is no such run, when it is open or erased.
    pub async fn erasable_run(&self, id: Uuid) -> Result<Option<Erasable>, StoreError> {
        self.read(move |connection| {
            let found: Option<i64> = connection
                .prepare_cached("SELECT seq FROM runs WHERE id = ?1 AND open = 0 AND definition <> ?2")?
                .query_row(params![id.to_string(), ERASED], |row| row.get(0))
                .optional()?;
            found.map(|seq| erasable(connection, seq)).transpose()
        })
        .await
    }

    /// Runs that have ended and are not erased, those that ended first first: at most `limit`, and a few megabytes.
    pub async fn erasable_runs(
        &self,
        filter: ErasureFilter,
        after: Option<Cursor>,
        limit: usize,
    ) -> Result<ErasablePage, StoreError> {
        self.read(move |connection| {
            let [sort_at, seq] = after.map_or([i64::MIN, 0], |cursor| cursor.position());
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
            let last = last.map(Cursor::at);
            let is_whole = seen < SCAN && runs.len() < limit && bytes <= PAGE_BYTES;
            Ok(ErasablePage {
                runs,
                next: last.filter(|_| !is_whole),
                last,
            })
        })
        .await
    }

    /// How many runs a filter finds that can be erased, and how many it passes over because they are open.
    pub async fn count_erasable(&self, filter: ErasureFilter) -> Result<(u64, u64), StoreError> {
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
        .await
    }

    /// How many runs a filter finds that are open.
    pub async fn count_open(&self, filter: ErasureFilter) -> Result<u64, StoreError> {
        self.read(move |connection| {
            let council = filter.council.map(|id| id.to_string());
            open_of(connection, council.as_deref(), filter.before.unwrap_or(i64::MAX))
        })
        .await
    }

    /// Erases runs in one transaction: of each the journal, the result, what its hooks carry, and its definition when no other run
    /// needs it. One that is open, erased already or not as it was read is passed over. Returns how many were erased; the audit entry
    /// is made for that number, and not at all for none.
    pub async fn erase_runs(
        &self,
        erasures: Vec<NewErasure>,
        at: i64,
        actor: String,
        audit: impl Fn(u64) -> AuditEntry + Send + 'static,
    ) -> Result<u64, StoreError> {
        self.write::<_, Never, _>(move |connection| {
            let mut erased = 0;
            for erasure in &erasures {
                erased += u64::from(erase(connection, erasure, at, &actor)?);
            }
            if erased > 0 {
                audit::append(connection, &audit(erased))?;
            }
            Ok(erased)
        })
        .await
        .map_err(Into::into)
    }

    /// What is left of a run that was erased.
    pub async fn run_erasure(&self, id: Uuid) -> Result<Option<RunErasure>, StoreError> {
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
        .await
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

fn erase(connection: &Connection, erasure: &NewErasure, at: i64, actor: &str) -> Result<bool, Stop<Never>> {
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
