//! Delivers hooks from the outbox: after the decision is durable, at least once, with growing pauses. They never change it.
//!
//! Deliveries go side by side, few to each destination: one that is slow or dead holds up its own and nobody else's.

#[cfg(test)]
mod tests;

use crate::error::OpError;
use crate::host::Host;
use mizzen_engine::ToolError;
use mizzen_model::rule::Hook;
use mizzen_sandbox::{Http, HttpRequest};
use mizzen_store::{Delivery, DeliveryState};
use serde_json::{Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use uuid::Uuid;

/// Tries before a delivery is given up: a little more than an hour, with pauses that double.
const ATTEMPTS: u32 = 12;
/// The first pause.
const PAUSE_MS: i64 = 1_000;
/// How long one delivery may take.
const TIME: Duration = Duration::from_secs(10);
/// Deliveries under way at once, to all destinations.
const PLACES: usize = 64;
/// And to one of them.
const PLACES_EACH: usize = 4;
/// Who posts.
const USER_AGENT: &str = concat!("mizzen/", env!("CARGO_PKG_VERSION"));
/// How often the outbox is looked at when nothing wakes the deliverer.
const IDLE: Duration = Duration::from_secs(1);

/// The deliveries that are under way.
#[derive(Default)]
struct Flights {
    tasks: JoinSet<(i64, String)>,
    under_way: HashSet<i64>,
    by_destination: HashMap<String, usize>,
}

impl Flights {
    fn has_place_for(&self, delivery: &Delivery) -> bool {
        self.under_way.len() < PLACES
            && !self.under_way.contains(&delivery.seq)
            && self
                .by_destination
                .get(&delivery.destination)
                .is_none_or(|count| *count < PLACES_EACH)
    }

    fn took_off(&mut self, delivery: &Delivery) {
        self.under_way.insert(delivery.seq);
        *self
            .by_destination
            .entry(delivery.destination.clone())
            .or_default() += 1;
    }

    fn landed(&mut self, seq: i64, destination: &str) {
        self.under_way.remove(&seq);
        if let Some(count) = self.by_destination.get_mut(destination) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                self.by_destination.remove(destination);
            }
        }
    }

    /// Destinations without a free place.
    fn crowded(&self) -> Vec<String> {
        let crowded = self
            .by_destination
            .iter()
            .filter(|(_, count)| **count >= PLACES_EACH);
        crowded.map(|(name, _)| name.clone()).collect()
    }
}

impl Host {
    /// Delivers what is due, until the task is dropped.
    pub async fn deliver_hooks(self: Arc<Self>, http: Arc<dyn Http>) {
        let mut flights = Flights::default();
        loop {
            if let Err(error) = self.take_off(&http, &mut flights).await {
                tracing::error!(%error, "hooks cannot be delivered now");
                tokio::time::sleep(IDLE).await;
            }
            tokio::select! {
                Some(ended) = flights.tasks.join_next() => match ended {
                    Ok((seq, destination)) => flights.landed(seq, &destination),
                    // Nobody knows which: all are looked at again. What arrived already arrives twice at worst.
                    Err(error) => {
                        tracing::error!(%error, "a delivery was broken off");
                        flights = Flights::default();
                    }
                },
                () = self.deliveries.notified() => {}
                () = tokio::time::sleep(IDLE) => {}
            }
        }
    }

    /// Begins every delivery that is due and has a place.
    async fn take_off(self: &Arc<Self>, http: &Arc<dyn Http>, flights: &mut Flights) -> Result<(), OpError> {
        while flights.under_way.len() < PLACES {
            // Those under way are still in the outbox: enough rows to see beyond them.
            let limit = PLACES.saturating_mul(2);
            let due = self
                .store
                .due_deliveries(self.now_ms(), limit, flights.crowded())
                .await?;
            let before = flights.under_way.len();
            for delivery in due {
                if flights.has_place_for(&delivery) {
                    flights.took_off(&delivery);
                    let (host, http) = (Arc::clone(self), Arc::clone(http));
                    flights.tasks.spawn(async move {
                        host.try_delivery(http.as_ref(), &delivery).await;
                        (delivery.seq, delivery.destination)
                    });
                }
            }
            if flights.under_way.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// One try, and its record.
    async fn try_delivery(&self, http: &dyn Http, delivery: &Delivery) {
        let (state, error) = match self.deliver(http, delivery).await {
            Ok(()) => (DeliveryState::Delivered, None),
            Err(Undelivered::ForGood(reason)) => (DeliveryState::Failed, Some(reason)),
            Err(Undelivered::ForNow(reason)) if delivery.attempts.saturating_add(1) >= ATTEMPTS => {
                (DeliveryState::Failed, Some(reason))
            }
            Err(Undelivered::ForNow(reason)) => (DeliveryState::Pending, Some(reason)),
        };
        let pause = PAUSE_MS.saturating_mul(1 << delivery.attempts.min(16));
        let due_at = self.now_ms().saturating_add(pause);
        if let Err(error) = self
            .store
            .record_delivery(delivery.seq, state, due_at, error)
            .await
        {
            tracing::error!(%error, delivery = delivery.seq, "what came of a delivery is not recorded; it is made again");
            tokio::time::sleep(IDLE).await;
        }
    }

    async fn deliver(&self, http: &dyn Http, delivery: &Delivery) -> Result<(), Undelivered> {
        let hook = Hook::parse(&delivery.hook).map_err(|error| Undelivered::ForGood(error.to_string()))?;
        let endpoint = self.hooks.endpoint(&hook).map_err(Undelivered::ForGood)?;
        let body = body(&hook, &delivery.payload);
        let timestamp = self.now_ms().div_euclid(1_000).to_string();
        let signed = format!("{timestamp}.{body}");
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            // Stable over tries: whoever receives it twice can tell.
            (
                "x-mizzen-delivery".to_owned(),
                format!("{}/{}", delivery.run_id, delivery.seq),
            ),
            // Of this try, and under the signatures: whoever receives an old request again can tell.
            ("x-mizzen-timestamp".to_owned(), timestamp),
            ("user-agent".to_owned(), USER_AGENT.to_owned()),
        ];
        if let Some(key) = self.host_key() {
            headers.push(("x-mizzen-signature".to_owned(), key.sign_hook(&signed)));
            headers.push(("x-mizzen-key".to_owned(), key.public()));
        }
        if let Some(secret) = endpoint.secret {
            headers.push((
                "x-mizzen-signature-256".to_owned(),
                secret.sign(signed.as_bytes()),
            ));
        }
        let request = HttpRequest {
            method: "POST".to_owned(),
            url: endpoint.url,
            headers,
            body: body.into_bytes(),
            timeout: Some(TIME),
            host_named: endpoint.named,
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
        Ok(deliveries.into_iter().map(shown).collect())
    }
}

/// A delivery as callers see it. Its number is in `x-mizzen-delivery` too.
pub(crate) fn shown(delivery: Delivery) -> Value {
    json!({
        "number": delivery.seq, "rule_id": delivery.rule_id, "hook": delivery.hook, "state": delivery.state,
        "attempts": delivery.attempts, "last_error": delivery.last_error,
    })
}

/// What is posted: the payload, and through a channel also whom it is for, with a sentence that chats can show as it is.
fn body(hook: &Hook, payload: &str) -> String {
    let (Hook::Notify { channel, target }, Ok(Value::Object(mut members))) =
        (hook, serde_json::from_str(payload))
    else {
        return payload.to_owned();
    };
    let rule = members.get("rule").cloned().unwrap_or_default();
    let text = |value: &Value, name: &str| {
        let text = value.get(name).and_then(Value::as_str).unwrap_or_default();
        text.to_owned()
    };
    let execution = members
        .get("execution_id")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let said = format!(
        "rule {:?} says {} for execution {execution}",
        text(&rule, "name"),
        text(&rule, "action")
    );
    members.insert("channel".to_owned(), channel.as_str().into());
    members.insert("target".to_owned(), target.as_str().into());
    members.insert("text".to_owned(), said.into());
    Value::Object(members).to_string()
}

enum Undelivered {
    /// Later may be better.
    ForNow(String),
    /// It will not be.
    ForGood(String),
}
