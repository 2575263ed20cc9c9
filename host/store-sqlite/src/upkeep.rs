//! What keeps the database in order: probes, checks, numbers.

use crate::audit;
use crate::database::Database;
use crate::error::Stop;
use crate::folder;
use crate::job::{Perform, StoreJob};
use crate::space::{self, GiveBack};
use crate::sqlite_store::SqliteStore;
use mizzen_store::{CheckReport, Durability, Operation, Pending, StoreError, Upkeep, Writes};
use rusqlite::Connection;
use std::convert::Infallible;
use std::path::{Path, PathBuf};

/// Numbers about the database.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Info {
    /// The file.
    pub path: PathBuf,
    /// The newest migration that was applied.
    pub migration: u32,
    /// Bytes of the file.
    pub bytes: u64,
    /// Bytes of the write-ahead log beside it.
    pub wal_bytes: u64,
    /// Bytes inside the file that hold nothing.
    pub free_bytes: u64,
    /// The version of SQLite.
    pub sqlite: String,
    /// Rows by table.
    pub rows: Vec<(String, u64)>,
}

/// A check stops listing after this many problems of one kind.
const PROBLEMS: usize = 100;

/// The smallest write there is: a number in the file's header that nothing reads.
pub(crate) struct Probe;

impl Operation for Probe {
    type Reply = ();
    type Refusal = Infallible;
}

impl Perform for Probe {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        Ok(connection.execute_batch("PRAGMA user_version = 1")?)
    }
}

impl Upkeep for Database {
    fn probe(&self) -> Pending<'_, ()> {
        Box::pin(async {
            match self.durability() {
                Durability::Unknown => return Err(StoreError::Unknown),
                Durability::Full => self.probe_room().await?,
                Durability::Committed => {}
            }
            self.read(|connection| connection.query_row("SELECT count(*) FROM migrations", [], |_| Ok(())))
                .await
        })
    }

    fn check(&self) -> Pending<'_, CheckReport> {
        self.read(check)
    }

    fn give_back(&self) -> Pending<'_, bool> {
        Box::pin(async { Ok(self.writer().run(GiveBack, StoreJob::GiveBack).await?) })
    }

    fn purge_erased(&self) -> Pending<'_, bool> {
        // The log has the pages as they were before the erasure.
        Box::pin(self.writer().fold())
    }
}

impl Database {
    /// Checks that there is room again.
    async fn probe_room(&self) -> Result<(), StoreError> {
        // The probe is smaller than any document, so it may still fit where nothing else does.
        if folder::is_out_of_room(self.path()) {
            return Err(StoreError::Full {
                detail: "less than a megabyte is left".to_owned(),
            });
        }
        Ok(self.writer().run(Probe, StoreJob::Probe).await?)
    }
}

impl SqliteStore {
    /// Numbers about the database.
    pub async fn info(&self) -> Result<Info, StoreError> {
        let path = self.path().to_path_buf();
        self.database()
            .read(move |connection| info(connection, path))
            .await
    }

    /// Whether free pages can be given back while the database is in use; see [`SqliteStore::rebuild`] for one that cannot.
    pub async fn gives_back(&self) -> Result<bool, StoreError> {
        self.database().read(space::gives_back).await
    }
}

fn check(connection: &Connection) -> rusqlite::Result<CheckReport> {
    let mut problems = Vec::new();
    let mut integrity = connection.prepare(&format!("PRAGMA integrity_check({PROBLEMS})"))?;
    for line in integrity.query_map([], |row| row.get::<_, String>(0))? {
        let line = line?;
        if line != "ok" {
            problems.push(format!("the file is damaged: {line}; restore a backup"));
        }
    }
    let mut references = connection.prepare("PRAGMA foreign_key_check")?;
    let rows = references.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(2)?)))?;
    for row in rows.take(PROBLEMS) {
        let (table, parent) = row?;
        problems.push(format!("a row of {table} points to nothing in {parent}"));
    }
    let mut sums = connection.prepare(
        "SELECT u.plugin, u.bytes, s.bytes FROM plugin_kv_usage AS u LEFT JOIN (
            SELECT plugin, sum(length(CAST(key AS BLOB)) + length(value)) AS bytes FROM plugin_kv GROUP BY plugin
         ) AS s ON s.plugin = u.plugin WHERE u.bytes <> coalesce(s.bytes, 0)",
    )?;
    let rows = sums.query_map([], |row| {
        Ok((
            row.get::<_, String>(0)?,
            row.get::<_, i64>(1)?,
            row.get::<_, Option<i64>>(2)?,
        ))
    })?;
    for row in rows.take(PROBLEMS) {
        let (plugin, kept, real) = row?;
        problems.push(format!(
            "plugin {plugin} is booked with {kept} bytes but keeps {}",
            real.unwrap_or(0)
        ));
    }
    let mut strays = connection
        .prepare("SELECT DISTINCT place >> 24 FROM run_events WHERE place >> 24 NOT IN (SELECT seq FROM runs) LIMIT ?1")?;
    let rows = strays.query_map([PROBLEMS], |row| row.get::<_, i64>(0))?;
    for row in rows {
        problems.push(format!(
            "there are journal entries of run {}, which is not there",
            row?
        ));
    }
    let mut leftovers = connection.prepare(
        "SELECT r.id FROM run_erasures AS e JOIN runs AS r ON r.seq = e.run
         WHERE EXISTS (SELECT 1 FROM run_events WHERE place BETWEEN e.run << 24 AND (e.run << 24) | 0xffffff) LIMIT ?1",
    )?;
    let rows = leftovers.query_map([PROBLEMS], |row| row.get::<_, String>(0))?;
    for row in rows {
        problems.push(format!("run {} was erased and has journal entries", row?));
    }
    // Both ways: a sum that is wrong or left over, and runs that no sum knows.
    let mut totals = connection.prepare(
        "SELECT k.chain_id, k.status, k.ended, coalesce(c.ended, 0) FROM run_totals AS k LEFT JOIN (
            SELECT chain_id, council_id, status, count(*) AS ended FROM runs WHERE open = 0 GROUP BY 1, 2, 3
            UNION ALL SELECT '', council_id, status, count(*) FROM runs WHERE open = 0 GROUP BY 2, 3
            UNION ALL SELECT '', '', status, count(*) FROM runs WHERE open = 0 GROUP BY 3
         ) AS c USING (chain_id, council_id, status) WHERE k.ended <> coalesce(c.ended, 0)
         UNION ALL SELECT DISTINCT r.chain_id, r.status, 0, 1 FROM runs AS r WHERE r.open = 0 AND NOT EXISTS (
            SELECT 1 FROM run_totals AS k WHERE k.chain_id = r.chain_id AND k.council_id = r.council_id AND k.status = r.status)",
    )?;
    let rows = totals.query_map([], |row| {
        let (chain, status): (String, String) = (row.get(0)?, row.get(1)?);
        let (kept, real): (i64, i64) = (row.get(2)?, row.get(3)?);
        Ok((chain, status, kept, real))
    })?;
    for row in rows.take(PROBLEMS) {
        let (chain, status, kept, real) = row?;
        let what = if chain.is_empty() { "all chains" } else { &chain };
        problems.push(format!(
            "history says that {kept} runs of {what} are {status}, but there are {real}"
        ));
    }
    if let Some(seq) = audit::first_broken(connection)? {
        problems.push(format!(
            "the audit log was changed: entry {seq} does not follow from the ones before it"
        ));
    }
    match audit::cut_off(connection)? {
        0 => {}
        missing @ 1.. => problems.push(format!(
            "the audit log was cut off: its last {missing} entries are gone"
        )),
        _ => problems.push("the audit log was changed: it has more entries than were written".to_owned()),
    }
    let audit_entries = connection.query_row("SELECT count(*) FROM audit", [], |row| row.get(0))?;
    Ok(CheckReport {
        problems,
        audit_entries,
    })
}

fn info(connection: &Connection, path: PathBuf) -> rusqlite::Result<Info> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, u64>(0));
    let page = number("PRAGMA page_size")?;
    let mut wal = path.as_os_str().to_owned();
    wal.push("-wal");
    let length = |path: &Path| std::fs::metadata(path).map_or(0, |metadata| metadata.len());
    let mut rows = Vec::new();
    for table in [
        "sprites",
        "councils",
        "runs",
        "run_events",
        "run_erasures",
        "outbox",
        "api_keys",
        "idempotency_keys",
        "audit",
        "plugin_kv",
    ] {
        rows.push((
            table.to_owned(),
            number(&format!("SELECT count(*) FROM {table}"))?,
        ));
    }
    Ok(Info {
        migration: connection.query_row("SELECT max(number) FROM migrations", [], |row| row.get(0))?,
        bytes: length(&path),
        wal_bytes: length(Path::new(&wal)),
        free_bytes: number("PRAGMA freelist_count")?.saturating_mul(page),
        sqlite: rusqlite::version().to_owned(),
        rows,
        path,
    })
}
