//! Runs and their journals in SQL.

use crate::audit;
use crate::database::Database;
use crate::error::Stop;
use crate::idempotency;
use crate::job::Perform;
use crate::outbox;
use crate::sprites::id as id_column;
use mizzen_store::{
    AppendRun, AuditEntry, Idempotency, JOURNAL_BYTES, NewRun, OpenRun, Pending, RunEvent, RunRecord,
    RunRefused, RunStep, Runs, Standing, StartRun, Written,
};
use rusqlite::{Connection, OptionalExtension, params};
use uuid::Uuid;

impl Runs for Database {
    fn run(&self, id: Uuid) -> Pending<'_, Option<RunRecord>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE id = ?1"))?
                .query_row([id.to_string()], record)
                .optional()
        })
    }

    fn open_runs(&self) -> Pending<'_, Vec<RunRecord>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("SELECT {COLUMNS} FROM runs WHERE open = 1 ORDER BY seq"))?
                .query_map([], record)?
                .collect()
        })
    }

    fn run_events(&self, id: Uuid, after: u64, limit: usize) -> Pending<'_, Vec<RunEvent>> {
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
                if bytes > JOURNAL_BYTES {
                    break;
                }
            }
            Ok(events)
        })
    }

    fn open_journals(&self, ids: Vec<Uuid>) -> Pending<'_, Vec<Option<OpenRun>>> {
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
                if bytes > JOURNAL_BYTES {
                    break;
                }
            }
            Ok(runs)
        })
    }

    fn run_definition(&self, hash: [u8; 32]) -> Pending<'_, Option<String>> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT document FROM run_definitions WHERE hash = ?1")?
                .query_row([hash], |row| row.get(0))
                .optional()
        })
    }
}

impl Perform for StartRun {
    fn perform(&self, connection: &Connection) -> Result<Written, Stop<RunRefused>> {
        let written = start(connection, &self.run, &self.step, self.idempotency.as_ref())?;
        if written == Written::Now {
            append_audits(connection, &self.audits)?;
        }
        Ok(written)
    }
}

impl Perform for AppendRun {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<RunRefused>> {
        append(connection, self.id, self.next_seq, &self.step)?;
        append_audits(connection, &self.audits)?;
        Ok(())
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

fn append_audits(connection: &Connection, audits: &[AuditEntry]) -> rusqlite::Result<()> {
    audits
        .iter()
        .try_for_each(|audit| audit::append(connection, audit))
}

/// Where a run stands after a step, if its place has room for the step's entries.
fn standing(next_seq: u64, step: &RunStep) -> Option<Standing<'_>> {
    step.standing_after(next_seq)
        .filter(|standing| standing.next_seq <= LAST + 1)
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
    let standing = standing(1, step).ok_or(Stop::Refused(RunRefused::Superseded))?;
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
    let standing = standing(next_seq, step).ok_or(Stop::Refused(RunRefused::Superseded))?;
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
