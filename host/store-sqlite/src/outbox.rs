//! The outbox in SQL.

use crate::audit;
use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use crate::sprites::id as id_column;
use mizzen_store::{
    Delivery, DeliveryState, NewDelivery, Outbox, Pending, RecordDelivery, Redeliver, RedeliveryRefused,
};
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use std::convert::Infallible;
use uuid::Uuid;

impl Outbox for Database {
    fn due_deliveries(&self, now: i64, limit: usize, passed_over: Vec<String>) -> Pending<'_, Vec<Delivery>> {
        self.read(move |connection| {
            let places = vec!["?"; passed_over.len()].join(", ");
            let limit = i64::try_from(limit).unwrap_or(i64::MAX);
            let mut values: Vec<&dyn ToSql> = vec![&now];
            values.extend(passed_over.iter().map(|name| name as &dyn ToSql));
            values.push(&limit);
            connection
                .prepare(&format!(
                    "{SELECT} WHERE state = 'pending' AND due_at <= ? AND destination NOT IN ({places})
                     ORDER BY due_at, seq LIMIT ?"
                ))?
                .query_map(values.as_slice(), delivery)?
                .collect()
        })
    }

    fn deliveries_of_run(&self, run: Uuid) -> Pending<'_, Vec<Delivery>> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE run_id = ?1 ORDER BY seq LIMIT 1000"))?
                .query_map([run.to_string()], delivery)?
                .collect()
        })
    }
}

impl Perform for Redeliver {
    fn perform(&self, connection: &Connection) -> Result<Delivery, Stop<RedeliveryRefused>> {
        let select = format!("{SELECT} WHERE seq = ?1 AND run_id = ?2 AND payload <> ''");
        let found = connection
            .prepare_cached(&select)?
            .query_row(params![self.seq, self.run.to_string()], delivery)
            .optional()?;
        let mut found = found.ok_or(Stop::Refused(RedeliveryRefused::NotFound))?;
        if found.state != DeliveryState::Failed.as_str() {
            return Err(Stop::Refused(RedeliveryRefused::NotFailed(found.state)));
        }
        connection
            .prepare_cached("UPDATE outbox SET state = 'pending', attempts = 0, due_at = ?2 WHERE seq = ?1")?
            .execute([self.seq, self.now])?;
        audit::append(connection, &self.audit)?;
        (found.state, found.attempts) = (DeliveryState::Pending.as_str().to_owned(), 0);
        Ok(found)
    }
}

impl Perform for RecordDelivery {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        connection
            .prepare_cached(
                "UPDATE outbox SET state = ?2, attempts = attempts + 1, due_at = ?3, last_error = ?4
                 WHERE seq = ?1 AND state = 'pending'",
            )?
            .execute(params![self.seq, self.state.as_str(), self.due_at, self.error])?;
        Ok(())
    }
}

pub(crate) fn put(connection: &Connection, run: &str, deliveries: &[NewDelivery]) -> rusqlite::Result<()> {
    for delivery in deliveries {
        connection
            .prepare_cached(
                "INSERT INTO outbox (run_id, rule_id, hook, payload, state, attempts, due_at, destination)
                 VALUES (?1, ?2, ?3, ?4, 'pending', 0, ?5, ?6)",
            )?
            .execute(params![
                run,
                delivery.rule_id,
                delivery.hook,
                delivery.payload,
                delivery.due_at,
                delivery.destination
            ])?;
    }
    Ok(())
}

const SELECT: &str =
    "SELECT seq, run_id, rule_id, hook, payload, state, attempts, last_error, destination FROM outbox";

fn delivery(row: &rusqlite::Row<'_>) -> rusqlite::Result<Delivery> {
    Ok(Delivery {
        seq: row.get(0)?,
        run_id: id_column(row, 1)?,
        rule_id: row.get(2)?,
        hook: row.get(3)?,
        payload: row.get(4)?,
        state: row.get(5)?,
        attempts: row.get(6)?,
        last_error: row.get(7)?,
        destination: row.get(8)?,
    })
}
