//! Executions and their journals. One transaction per transition: the events, the run's state, and the hooks it causes.

use crate::audit::{self, AuditEntry};
use crate::error::{Stop, StoreError, WriteError};
use crate::idempotency::{self, Idempotency, IdempotencyMismatch, Written};
use crate::outbox::{self, NewDelivery};
use crate::sprites::id as id_column;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};
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
    /// Somebody else has written the event at this place: whoever asked no longer owns the run.
    #[error("the run has moved on without this writer")]
    Superseded,
    /// See [`IdempotencyMismatch`].
    #[error(transparent)]
    Mismatch(#[from] IdempotencyMismatch),
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
        self.write(move |connection| {
            let written = start(connection, &run, &step, idempotency.as_ref())?;
            if written == Written::Now {
                append_audits(connection, &audits)?;
            }
            Ok(written)
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
        self.write(move |connection| {
            append(connection, id, next_seq, &step)?;
            append_audits(connection, &audits)?;
            Ok(())
        })
        .await
    }

    /// A run by id.
    pub async fn run(&self, id: Uuid) -> Result<Option<RunRecord>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?
                .query_row([id.to_string()], record)
                .optional()
        })
        .await
    }

    /// The runs that have not ended, oldest first.
    pub async fn open_runs(&self) -> Result<Vec<RunRecord>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE open = 1 ORDER BY seq"))?
                .query_map([], record)?
                .collect()
        })
        .await
    }

    /// A piece of a run's journal, after a place. At most `limit` events, and a few megabytes.
    pub async fn run_events(&self, id: Uuid, after: u64, limit: usize) -> Result<Vec<RunEvent>, StoreError> {
        self.read(move |connection| {
            let run: Option<i64> = connection
                .prepare_cached("SELECT seq FROM runs WHERE id = ?1")?
                .query_row([id.to_string()], |row| row.get(0))
                .optional()?;
            let Some(run) = run else {
                return Ok(Vec::new());
            };
            let mut statement = connection.prepare_cached(
                "SELECT place, bytes, hash FROM run_events WHERE place > ?1 AND place <= ?2 ORDER BY place LIMIT ?3",
            )?;
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut rows = statement.query(params![place(run, after), place(run, LAST), limit])?;
            let (mut events, mut bytes) = (Vec::new(), 0_usize);
            while let Some(row) = rows.next()? {
                let event = event(row)?;
                bytes = bytes.saturating_add(event.bytes.len());
                events.push(event);
                if bytes > PIECE_BYTES {
                    break;
                }
            }
            Ok(events)
        })
        .await
    }

    /// Several runs with their whole journals, in the order asked for: of as many as fit into a few megabytes, and at least of the
    /// first. None where the run is not open any more. All are of one moment, after the call.
    pub async fn open_journals(&self, ids: Vec<Uuid>) -> Result<Vec<Option<OpenRun>>, StoreError> {
        self.read(move |connection| {
            let connection = connection.unchecked_transaction()?;
            let mut run = connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1 AND open = 1"))?;
            let mut entries = connection.prepare_cached(
                "SELECT place, bytes, hash FROM run_events WHERE place BETWEEN ?1 AND ?2 ORDER BY place",
            )?;
            let (mut runs, mut bytes) = (Vec::with_capacity(ids.len()), 0_usize);
            for id in ids {
                let found = run
                    .query_row([id.to_string()], |row| {
                        Ok((record(row)?, row.get::<_, i64>("seq")?))
                    })
                    .optional()?;
                let Some((record, seq)) = found else {
                    runs.push(None);
                    continue;
                };
                let mut events = Vec::new();
                let mut rows = entries.query([place(seq, 1), place(seq, LAST)])?;
                while let Some(row) = rows.next()? {
                    let event = event(row)?;
                    bytes = bytes.saturating_add(event.bytes.len());
                    events.push(event);
                }
                runs.push(Some(OpenRun { record, events }));
                if bytes > PIECE_BYTES {
                    break;
                }
            }
            Ok(runs)
        })
        .await
    }

    /// What a run was made from.
    pub async fn run_definition(&self, hash: [u8; 32]) -> Result<Option<String>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT document FROM run_definitions WHERE hash = ?1")?
                .query_row([hash], |row| row.get(0))
                .optional()
        })
        .await
    }
}

/// Bits of a place in all journals that tell the entry; those above tell the run.
const ENTRY_BITS: u32 = 24;
/// The last entry that a journal can have. A run has a few for every attempt of every step: thousands at most.
pub(crate) const LAST: u64 = (1 << ENTRY_BITS) - 1;

/// Where an entry of a run stands among all entries.
pub(crate) fn place(run: i64, seq: u64) -> i64 {
    (run << ENTRY_BITS) | i64::try_from(seq.min(LAST)).unwrap_or(0)
}

fn event(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunEvent> {
    let place: u64 = row.get(0)?;
    Ok(RunEvent {
        seq: place & LAST,
        bytes: row.get(1)?,
        hash: row.get(2)?,
    })
}

/// How much of a journal is read at once.
const PIECE_BYTES: usize = 4 << 20;

/// The columns of a [`RunRecord`].
pub(crate) const COLUMNS: &str =
    "id, council_id, chain_id, status, started_at, definition, next_seq, head, result, seal, sort_at, seq";

/// Reads a row of [`COLUMNS`].
pub(crate) fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<RunRecord> {
    Ok(RunRecord {
        id: id_column(row, 0)?,
        council_id: id_column(row, 1)?,
        chain_id: id_column(row, 2)?,
        status: row.get(3)?,
        started_at: row.get(4)?,
        definition_hash: row.get(5)?,
        next_seq: row.get(6)?,
        head: row.get(7)?,
        result: row.get(8)?,
        seal: row.get(9)?,
    })
}

/// Where a run stands after a transition, so that its row is written once for all of it.
struct Standing<'a> {
    status: &'a str,
    next_seq: u64,
    head: [u8; 32],
    sealed: Option<&'a Sealed>,
}

impl<'a> Standing<'a> {
    /// None without an event, or when the events do not follow each other.
    fn after(next_seq: u64, step: &'a RunStep) -> Option<Standing<'a>> {
        let (mut next, mut head) = (next_seq, None);
        for event in &step.events {
            if event.seq != next || next > LAST {
                return None;
            }
            (next, head) = (next.saturating_add(1), Some(event.hash));
        }
        if let Some(rewritten) = &step.rewritten {
            // All of it, from the first entry on.
            if rewritten.iter().map(|event| event.seq).ne(1..next) {
                return None;
            }
            head = rewritten.last().map(|event| event.hash);
        }
        Some(Standing {
            status: &step.status,
            next_seq: next,
            head: head?,
            sealed: step.sealed.as_ref(),
        })
    }
}

fn append_audits(connection: &Connection, audits: &[AuditEntry]) -> rusqlite::Result<()> {
    audits
        .iter()
        .try_for_each(|audit| audit::append(connection, audit))
}

/// What runs are made from is the same for many of them, and large: it is looked up before it is handed over.
fn put_definition(connection: &Connection, run: &NewRun) -> rusqlite::Result<()> {
    let known = connection
        .prepare_cached("SELECT 1 FROM run_definitions WHERE hash = ?1")?
        .exists([run.definition_hash])?;
    if !known {
        connection
            .prepare_cached("INSERT INTO run_definitions (hash, document) VALUES (?1, ?2)")?
            .execute(params![run.definition_hash, run.definition])?;
    }
    Ok(())
}

/// Begins a run.
fn start(
    connection: &Connection,
    run: &NewRun,
    step: &RunStep,
    idempotency: Option<&Idempotency>,
) -> Result<Written, Stop<RunRefused>> {
    let id = run.id.to_string();
    if let before @ Written::Before(_) = idempotency::claim(connection, idempotency, &id)? {
        return Ok(before);
    }
    put_definition(connection, run)?;
    let standing = Standing::after(1, step).ok_or(Stop::Refused(RunRefused::Superseded))?;
    let sealed = standing.sealed;
    let completed_at = sealed.map(|sealed| sealed.completed_at);
    connection
        .prepare_cached(
            "INSERT INTO runs (id, council_id, chain_id, status, open, started_at, completed_at, sort_at, definition, next_seq,
                               head, result, seal)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13)",
        )?
        .execute(params![
            id,
            run.council_id.to_string(),
            run.chain_id.to_string(),
            standing.status,
            sealed.is_none(),
            run.started_at,
            completed_at,
            completed_at.unwrap_or(run.started_at),
            run.definition_hash,
            standing.next_seq,
            standing.head,
            sealed.map(|sealed| &sealed.result),
            sealed.and_then(|sealed| sealed.seal.as_ref()),
        ])?;
    put_events(connection, connection.last_insert_rowid(), &id, step)?;
    if sealed.is_some() {
        count_ended(
            connection,
            &run.chain_id.to_string(),
            &run.council_id.to_string(),
            &step.status,
        )?;
    }
    Ok(Written::Now)
}

/// Takes a run further, if its journal still ends where its writer believes.
fn append(connection: &Connection, id: Uuid, next_seq: u64, step: &RunStep) -> Result<(), Stop<RunRefused>> {
    let id = id.to_string();
    let standing = Standing::after(next_seq, step).ok_or(Stop::Refused(RunRefused::Superseded))?;
    let Standing {
        status,
        next_seq: next,
        head,
        sealed,
    } = standing;
    let moved = |row: &rusqlite::Row<'_>| row.get::<_, i64>(0);
    let row = match sealed {
        Some(sealed) => {
            let ended = connection
                .prepare_cached(
                    "UPDATE runs SET status = ?3, next_seq = ?4, head = ?5, open = 0, completed_at = ?6, sort_at = ?6, result = ?7,
                                     seal = ?8
                     WHERE id = ?1 AND next_seq = ?2 AND open = 1 RETURNING seq, chain_id, council_id",
                )?
                .query_row(
                    params![id, next_seq, status, next, head, sealed.completed_at, sealed.result, sealed.seal],
                    |row| Ok((row.get(0)?, row.get::<_, String>(1)?, row.get::<_, String>(2)?)),
                )
                .optional()?;
            match ended {
                Some((row, chain, council)) => {
                    count_ended(connection, &chain, &council, status)?;
                    Some(row)
                }
                None => None,
            }
        }
        None => {
            // Most transitions leave the status as it is, and with it every index of the table.
            let same = connection
                .prepare_cached(
                    "UPDATE runs SET next_seq = ?4, head = ?5
                     WHERE id = ?1 AND next_seq = ?2 AND open = 1 AND status = ?3 RETURNING seq",
                )?
                .query_row(params![id, next_seq, status, next, head], moved)
                .optional()?;
            match same {
                Some(row) => Some(row),
                None => connection
                    .prepare_cached(
                        "UPDATE runs SET status = ?3, next_seq = ?4, head = ?5
                         WHERE id = ?1 AND next_seq = ?2 AND open = 1 RETURNING seq",
                    )?
                    .query_row(params![id, next_seq, status, next, head], moved)
                    .optional()?,
            }
        }
    };
    let row = row.ok_or(Stop::Refused(RunRefused::Superseded))?;
    put_events(connection, row, &id, step)?;
    Ok(())
}

/// Adds to the totals of history: of the chain, of its council, of everything. One row at a time, so that SQLite needs no copy to go
/// back to in the middle.
fn count_ended(connection: &Connection, chain: &str, council: &str, status: &str) -> rusqlite::Result<()> {
    let mut count = connection.prepare_cached(
        "INSERT INTO run_totals (chain_id, council_id, status, ended) VALUES (?1, ?2, ?3, 1)
         ON CONFLICT DO UPDATE SET ended = ended + 1",
    )?;
    for (chain, council) in [(chain, council), ("", council), ("", "")] {
        count.execute([chain, council, status])?;
    }
    Ok(())
}

fn put_events(connection: &Connection, row: i64, id: &str, step: &RunStep) -> rusqlite::Result<()> {
    if step.rewritten.is_some() {
        connection
            .prepare_cached("DELETE FROM run_events WHERE place BETWEEN ?1 AND ?2")?
            .execute([place(row, 0), place(row, LAST)])?;
    }
    let mut insert =
        connection.prepare_cached("INSERT INTO run_events (place, bytes, hash) VALUES (?1, ?2, ?3)")?;
    for event in step.rewritten.as_ref().unwrap_or(&step.events) {
        insert.execute(params![place(row, event.seq), event.bytes, event.hash])?;
    }
    outbox::put(connection, id, &step.deliveries)
}
