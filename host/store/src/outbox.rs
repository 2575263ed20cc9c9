//! Hooks that are to be delivered: written in the transaction of the decision, delivered later, at least once.

use crate::audit::{self, AuditEntry};
use crate::error::{Never, Stop, StoreError, WriteError};
use crate::sprites::id as id_column;
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, ToSql, params};
use uuid::Uuid;

/// A hook to deliver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewDelivery {
    /// The rule that matched.
    pub rule_id: String,
    /// Where to, as the rule writes it.
    pub hook: String,
    /// What stands there: deliveries with the same destination wait for each other, others do not.
    pub destination: String,
    /// What to send, JSON.
    pub payload: String,
    /// When to begin, in milliseconds since 1970.
    pub due_at: i64,
}

/// Where a delivery stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeliveryState {
    /// It will be tried, again.
    Pending,
    /// It arrived.
    Delivered,
    /// It was given up.
    Failed,
}

impl DeliveryState {
    /// Its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Delivered => "delivered",
            Self::Failed => "failed",
        }
    }
}

/// Why a delivery is not made again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RedeliveryRefused {
    /// The run has no such delivery, or it was erased.
    #[error("there is no such delivery")]
    NotFound,
    /// It is pending, or it arrived.
    #[error("the delivery is {0}")]
    NotFailed(String),
}

/// A hook in the outbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its place.
    pub seq: i64,
    /// The run.
    pub run_id: Uuid,
    /// The rule that matched.
    pub rule_id: String,
    /// Where to.
    pub hook: String,
    /// What stands there.
    pub destination: String,
    /// What to send.
    pub payload: String,
    /// `pending`, `delivered` or `failed`.
    pub state: String,
    /// How often it was tried.
    pub attempts: u32,
    /// Why the last try failed.
    pub last_error: Option<String>,
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

impl Store {
    /// Hooks that are due, oldest first; none for the destinations that are passed over.
    pub async fn due_deliveries(
        &self,
        now: i64,
        limit: usize,
        passed_over: Vec<String>,
    ) -> Result<Vec<Delivery>, StoreError> {
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
        .await
    }

    /// The hooks of a run, in order.
    pub async fn deliveries_of_run(&self, run: Uuid) -> Result<Vec<Delivery>, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE run_id = ?1 ORDER BY seq LIMIT 1000"))?
                .query_map([run.to_string()], delivery)?
                .collect()
        })
        .await
    }

    /// Puts a delivery that was given up back into the outbox, due now and with all of its tries. Returns it as it is then.
    pub async fn redeliver(
        &self,
        run: Uuid,
        seq: i64,
        now: i64,
        audit: AuditEntry,
    ) -> Result<Delivery, WriteError<RedeliveryRefused>> {
        self.write(move |connection| {
            let select = format!("{SELECT} WHERE seq = ?1 AND run_id = ?2 AND payload <> ''");
            let found = connection
                .prepare_cached(&select)?
                .query_row(params![seq, run.to_string()], delivery)
                .optional()?;
            let mut found = found.ok_or(Stop::Refused(RedeliveryRefused::NotFound))?;
            if found.state != DeliveryState::Failed.as_str() {
                return Err(Stop::Refused(RedeliveryRefused::NotFailed(found.state)));
            }
            connection
                .prepare_cached(
                    "UPDATE outbox SET state = 'pending', attempts = 0, due_at = ?2 WHERE seq = ?1",
                )?
                .execute([seq, now])?;
            audit::append(connection, &audit)?;
            (found.state, found.attempts) = (DeliveryState::Pending.as_str().to_owned(), 0);
            Ok(found)
        })
        .await
    }

    /// Records what came of a try; nothing when the delivery has been given up meanwhile, because its run was erased.
    pub async fn record_delivery(
        &self,
        seq: i64,
        state: DeliveryState,
        due_at: i64,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        self.write::<_, Never, _>(move |connection| {
            connection
                .prepare_cached(
                    "UPDATE outbox SET state = ?2, attempts = attempts + 1, due_at = ?3, last_error = ?4
                     WHERE seq = ?1 AND state = 'pending'",
                )?
                .execute(params![seq, state.as_str(), due_at, error])?;
            Ok(())
        })
        .await
        .map_err(Into::into)
    }
}
