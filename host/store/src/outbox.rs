//! Hooks that are to be delivered: written in the transaction of the decision, delivered later, at least once.

use crate::audit::AuditEntry;
use crate::error::{StoreError, WriteError};
use crate::port::port;
use crate::store::Store;
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
    /// Names it to callers; given by the store, never twice.
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

port! {
    /// Reads of hooks that are to be delivered, or were.
    pub trait Outbox {
        /// Hooks that are due, oldest first; none for the destinations that are passed over.
        fn due_deliveries(now: i64, limit: usize, passed_over: Vec<String>) -> Vec<Delivery>;

        /// The hooks of a run, in order; at most a thousand.
        fn deliveries_of_run(run: Uuid) -> Vec<Delivery>;
    }
}

/// See [`Store::redeliver`].
#[derive(Debug)]
pub struct Redeliver {
    /// The run.
    pub run: Uuid,
    /// The delivery.
    pub seq: i64,
    /// Now, in milliseconds since 1970.
    pub now: i64,
    /// Recorded with it.
    pub audit: AuditEntry,
}

/// See [`Store::record_delivery`].
#[derive(Debug)]
pub struct RecordDelivery {
    /// The delivery.
    pub seq: i64,
    /// Where it stands.
    pub state: DeliveryState,
    /// When it is tried next, in milliseconds since 1970.
    pub due_at: i64,
    /// Why the try failed.
    pub error: Option<String>,
}

impl Store {
    /// Puts a delivery that was given up back into the outbox, due now and with all of its tries. Returns it as it is then.
    pub async fn redeliver(
        &self,
        run: Uuid,
        seq: i64,
        now: i64,
        audit: AuditEntry,
    ) -> Result<Delivery, WriteError<RedeliveryRefused>> {
        self.write(Redeliver { run, seq, now, audit }).await
    }

    /// Records what came of a try; nothing when the delivery has been given up meanwhile, because its run was erased.
    pub async fn record_delivery(
        &self,
        seq: i64,
        state: DeliveryState,
        due_at: i64,
        error: Option<String>,
    ) -> Result<(), StoreError> {
        let recorded = self.write(RecordDelivery {
            seq,
            state,
            due_at,
            error,
        });
        recorded.await.map_err(Into::into)
    }
}
