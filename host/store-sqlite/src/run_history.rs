//! Lists of runs in SQL.

use crate::cursor::{cursor_at, position};
use crate::database::Database;
use crate::runs::{COLUMNS, record};
use mizzen_store::{HISTORY_BYTES, Pending, RunFilter, RunHistory, RunPage, RunPlace, TOTAL_CAP};
use rusqlite::{Connection, ToSql};
use uuid::Uuid;

impl RunHistory for Database {
    fn list_runs(&self, filter: RunFilter, place: RunPlace, limit: usize) -> Pending<'_, RunPage> {
        self.read(move |connection| {
            // One snapshot: the total and the page speak of the same moment.
            let connection = connection.unchecked_transaction()?;
            let (clause, mut values) = clause(&filter);
            let total = total(&filter, &connection)?;
            let fetch = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
            let mut sql = format!("SELECT {COLUMNS} FROM runs WHERE {clause}");
            let mut offset = 0_i64;
            match place {
                RunPlace::Offset(rows) => offset = i64::try_from(rows).unwrap_or(i64::MAX),
                RunPlace::After(cursor) => {
                    let [sort_at, seq] = position(&cursor)?;
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
                if runs.len() >= limit || !runs.is_empty() && bytes > HISTORY_BYTES {
                    next = Some(cursor_at(last));
                    break;
                }
                last = [row.get("sort_at")?, row.get("seq")?];
                runs.push(run);
            }
            Ok(RunPage { runs, total, next })
        })
    }

    fn has_runs_of_chain(&self, chain: Uuid) -> Pending<'_, bool> {
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT 1 FROM runs WHERE chain_id = ?1 LIMIT 1")?
                .exists([chain.to_string()])
        })
    }
}

fn total(filter: &RunFilter, connection: &Connection) -> rusqlite::Result<u64> {
    let (clause, values) = clause(filter);
    let count = |sql: &str, values: &[Box<dyn ToSql>]| -> rusqlite::Result<u64> {
        let values: Vec<&dyn ToSql> = values.iter().map(AsRef::as_ref).collect();
        connection
            .prepare_cached(sql)?
            .query_row(values.as_slice(), |row| row.get(0))
    };
    if filter.since.is_some() || filter.until.is_some() {
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
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(
        filter.chain.map(|id| id.to_string()).unwrap_or_default(),
    )];
    if filter.chain.is_none() || filter.council.is_some() {
        parts.push("council_id = ?");
        values.push(Box::new(
            filter.council.map(|id| id.to_string()).unwrap_or_default(),
        ));
    }
    if let Some(status) = &filter.status {
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

fn clause(filter: &RunFilter) -> (String, Vec<Box<dyn ToSql>>) {
    let mut parts = vec!["1"];
    let mut values: Vec<Box<dyn ToSql>> = Vec::new();
    if let Some(chain) = filter.chain {
        parts.push("chain_id = ?");
        values.push(Box::new(chain.to_string()));
    }
    if let Some(council) = filter.council {
        parts.push("council_id = ?");
        values.push(Box::new(council.to_string()));
    }
    if let Some(status) = &filter.status {
        parts.push("status = ?");
        values.push(Box::new(status.clone()));
    }
    if let Some(since) = filter.since {
        parts.push("sort_at >= ?");
        values.push(Box::new(since));
    }
    if let Some(until) = filter.until {
        parts.push("sort_at < ?");
        values.push(Box::new(until));
    }
    (parts.join(" AND "), values)
}
