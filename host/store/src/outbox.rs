//! Hooks that are to be delivered: written in the transaction of the decision, delivered later, at least once.

use crate::error::{Never, StoreError};
use crate::sprites::id as id_column;
use crate::store::Store;
use rusqlite::{Connection, ToSql, params};
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
