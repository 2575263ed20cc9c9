//! Delivers hooks from the outbox: after the decision is durable, at least once, with growing pauses. They never change it.

use crate::error::OpError;
use crate::host::Host;
use mizzen_engine::{ToolError, WebUrl};
use mizzen_model::rule::Hook;
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use mizzen_store::{Delivery, DeliveryState};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use uuid::Uuid;

/// Tries before a delivery is given up: a little more than an hour, with pauses that double.
const ATTEMPTS: u32 = 12;
/// The first pause.
const PAUSE_MS: i64 = 1_000;
/// How long one delivery may take.
const TIME: Duration = Duration::from_secs(10);
/// Deliveries that are looked at together.
const BATCH: usize = 64;
/// How often the outbox is looked at when nothing wakes the deliverer.
const IDLE: Duration = Duration::from_secs(1);

impl Host {
    /// Delivers what is due, until the task is dropped.
    pub async fn deliver_hooks(self: Arc<Self>, http: Arc<dyn Http>) {
        loop {
            match self.deliver_due(http.as_ref()).await {
                Ok(0) => {
                    let woken = self.deliveries.notified();
                    let _ = tokio::time::timeout(IDLE, woken).await;
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::error!(%error, "hooks cannot be delivered now");
                    tokio::time::sleep(IDLE).await;
                }
            }
        }
    }

    async fn deliver_due(&self, http: &dyn Http) -> Result<usize, OpError> {
        let due = self.store.due_deliveries(self.now_ms(), BATCH).await?;
        let count = due.len();
        for delivery in due {
            let (state, error) = match self.deliver(http, &delivery).await {
                Ok(()) => (DeliveryState::Delivered, None),
                Err(Undelivered::ForGood(reason)) => (DeliveryState::Failed, Some(reason)),
                Err(Undelivered::ForNow(reason)) if delivery.attempts + 1 >= ATTEMPTS => {
                    (DeliveryState::Failed, Some(reason))
                }
                Err(Undelivered::ForNow(reason)) => (DeliveryState::Pending, Some(reason)),
            };
            let pause = PAUSE_MS.saturating_mul(1 << delivery.attempts.min(16));
            let due_at = self.now_ms().saturating_add(pause);
            self.store
                .record_delivery(delivery.seq, state, due_at, error)
                .await?;
        }
        Ok(count)
    }

    async fn deliver(&self, http: &dyn Http, delivery: &Delivery) -> Result<(), Undelivered> {
        let url = match Hook::parse(&delivery.hook) {
            Ok(Hook::Webhook { url }) => url,
            Ok(Hook::Notify { channel, .. }) => {
                return Err(Undelivered::ForGood(format!(
                    "no channel {channel:?} is configured on this host"
                )));
            }
            Err(error) => return Err(Undelivered::ForGood(error.to_string())),
        };
        let url = WebUrl::parse(&url).map_err(|error| Undelivered::ForGood(error.to_string()))?;
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            // Stable over tries: whoever receives it twice can tell.
            (
                "x-mizzen-delivery".to_owned(),
                format!("{}/{}", delivery.run_id, delivery.seq),
            ),
        ];
        if let Some(key) = self.host_key() {
            headers.push(("x-mizzen-signature".to_owned(), key.sign_hook(&delivery.payload)));
            headers.push(("x-mizzen-key".to_owned(), key.public()));
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url,
            headers,
            body: delivery.payload.clone().into_bytes(),
            timeout: Some(TIME),
            // A rule's author is not the operator: private addresses are not reachable through a hook.
            host_named: HostNamed::ByPattern,
        };
        match http.fetch(request).await {
            Ok(response) if (200..300).contains(&response.status) => Ok(()),
            Ok(response) => Err(Undelivered::ForNow(format!("the answer was {}", response.status))),
            Err(ToolError::Denied(reason)) => Err(Undelivered::ForGood(reason)),
            Err(error) => Err(Undelivered::ForNow(error.to_string())),
        }
    }

    /// The hooks of an execution and where each stands.
    pub async fn list_deliveries(&self, id: Uuid) -> Result<Vec<Value>, OpError> {
        self.execution(id).await?;
        let deliveries = self.store.deliveries_of_run(id).await?;
        Ok(deliveries
            .into_iter()
            .map(|delivery| {
                json!({
                    "rule_id": delivery.rule_id, "hook": delivery.hook, "state": delivery.state,
                    "attempts": delivery.attempts, "last_error": delivery.last_error,
                })
            })
            .collect())
    }
}

enum Undelivered {
    /// Later may be better.
    ForNow(String),
    /// It will not be.
    ForGood(String),
}
