//! Lists of runs: newest first, by chain, council, status and time.

use crate::cursor::Cursor;
use crate::error::StoreError;
use crate::runs::{COLUMNS, RunRecord, record};
use crate::store::Store;
use rusqlite::{Connection, ToSql};
use uuid::Uuid;

/// Which runs. What is not said does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only of this chain.
    pub chain: Option<Uuid>,
    /// Only of this council.
    pub council: Option<Uuid>,
    /// Only of this status.
    pub status: Option<String>,
    /// Only those that ended (or, while open, began) at or after this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only those before this time.
    pub until: Option<i64>,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPlace {
    /// After so many runs. Costs as much as the runs that are passed.
    Offset(u64),
    /// After a cursor. Costs nothing.
    After(Cursor),
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPage {
    /// The runs, newest first.
    pub runs: Vec<RunRecord>,
    /// How many there are, on all pages. Exact, except with a time in the filter: then no more than [`TOTAL_CAP`] are counted.
    pub total: u64,
    /// Where the next page begins; none on the last one.
    pub next: Option<Cursor>,
}

/// Runs that are counted for a total when the filter has a time in it; every other total is kept, not counted.
pub const TOTAL_CAP: u64 = 10_000;

/// Results on one page, in bytes; a page that would be larger is cut, and has a next one.
const PAGE_BYTES: usize = 16 << 20;

impl Store {
    /// A page of runs, by the time they ended (or began, while open), newest first.
    pub async fn list_runs(
        &self,
        filter: RunFilter,
        place: RunPlace,
        limit: usize,
    ) -> Result<RunPage, StoreError> {
        self.read(move |connection| {
            // One snapshot: the total and the page speak of the same moment.
            let connection = connection.unchecked_transaction()?;
            let (clause, mut values) = filter.clause();
            let total = filter.total(&connection)?;
            let fetch = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
            let mut sql = format!("SELECT {COLUMNS} FROM runs WHERE {clause}");
            let mut offset = 0_i64;
            match place {
                RunPlace::Offset(rows) => offset = i64::try_from(rows).unwrap_or(i64::MAX),
                RunPlace::After(cursor) => {
                    let [sort_at, seq] = cursor.position();
                    sql.push_str(" AND (sort_at, seq) < (?, ?)");
                    values.push(Box::new(sort_at));
                    values.push(Box::new(seq));
                }
            }
            sql.push_str(" ORDER BY sort_at DESC, seq DESC LIMIT ? OFFSET ?");
            values.push(Box::new(fetch));
            values.push(Box::new(offset));
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            let mut statement = connection.prepare_cached(&sql)?;
            let mut rows = statement.query(values.as_slice())?;
            let (mut runs, mut next, mut last, mut bytes) = (Vec::new(), None, [0; 2], 0_usize);
            while let Some(row) = rows.next()? {
                let run = record(row)?;
                bytes = bytes.saturating_add(run.result.as_ref().map_or(0, String::len));
                if runs.len() >= limit || !runs.is_empty() && bytes > PAGE_BYTES {
                    next = Some(Cursor::at(last));
                    break;
                }
                last = [row.get("sort_at")?, row.get("seq")?];
                runs.push(run);
            }
            Ok(RunPage { runs, total, next })
        })
        .await
    }

    /// Whether a chain was ever run.
    pub async fn has_runs_of_chain(&self, chain: Uuid) -> Result<bool, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT 1 FROM runs WHERE chain_id = ?1 LIMIT 1")?
                .exists([chain.to_string()])
        })
        .await
    }
}

impl RunFilter {
    fn total(&self, connection: &Connection) -> rusqlite::Result<u64> {
        let (clause, values) = self.clause();
        let count = |sql: &str, values: &[Box<dyn ToSql>]| -> rusqlite::Result<u64> {
            let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
            connection
                .prepare_cached(sql)?
                .query_row(values.as_slice(), |row| row.get(0))
        };
        if self.since.is_some() || self.until.is_some() {
            return count(
                &format!("SELECT count(*) FROM (SELECT 1 FROM runs WHERE {clause} LIMIT {TOTAL_CAP})"),
                &values,
            );
        }
        // Named, because the planner would rather walk all runs of a chain than the few that are open.
        let open = count(
            &format!("SELECT count(*) FROM runs INDEXED BY runs_open WHERE open = 1 AND {clause}"),
            &values,
        )?;
        let mut parts = vec!["chain_id = ?"];
        let mut values: Vec<Box<dyn ToSql>> =
            vec![Box::new(self.chain.map(|id| id.to_string()).unwrap_or_default())];
        if self.chain.is_none() || self.council.is_some() {
            parts.push("council_id = ?");
            values.push(Box::new(
                self.council.map(|id| id.to_string()).unwrap_or_default(),
            ));
        }
        if let Some(status) = &self.status {
            parts.push("status = ?");
            values.push(Box::new(status.clone()));
        }
        let ended = count(
            &format!(
                "SELECT coalesce(sum(ended), 0) FROM run_totals WHERE {}",
                parts.join(" AND ")
            ),
            &values,
        )?;
        Ok(open.saturating_add(ended))
    }

    fn clause(&self) -> (String, Vec<Box<dyn ToSql>>) {
        let mut parts = vec!["1"];
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        if let Some(chain) = self.chain {
            parts.push("chain_id = ?");
            values.push(Box::new(chain.to_string()));
        }
        if let Some(council) = self.council {
            parts.push("council_id = ?");
            values.push(Box::new(council.to_string()));
        }
        if let Some(status) = &self.status {
            parts.push("status = ?");
            values.push(Box::new(status.clone()));
        }
        if let Some(since) = self.since {
            parts.push("sort_at >= ?");
            values.push(Box::new(since));
        }
        if let Some(until) = self.until {
            parts.push("sort_at < ?");
            values.push(Box::new(until));
        }
        (parts.join(" AND "), values)
    }
}
