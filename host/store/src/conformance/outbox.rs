//! The outbox.

use super::Fixture;
use super::sample::{audit, delivery, id, new_run, start, step};
use crate::{Delivery, DeliveryState, NewDelivery, RedeliveryRefused, RunStep, Store, WriteError};

async fn begin(store: &Store, number: u128, deliveries: Vec<NewDelivery>) {
    let step = RunStep {
        deliveries,
        ..step(1, "running")
    };
    start(store, new_run(number, 2), step).await;
}

fn destinations(deliveries: &[Delivery]) -> Vec<&str> {
    deliveries
        .iter()
        .map(|delivery| delivery.destination.as_str())
        .collect()
}

pub(super) async fn deliveries_are_due_in_order_and_pass_over_destinations(fixture: &dyn Fixture) {
    let store = fixture.open();
    let first = vec![delivery("c", 300), delivery("a", 100), delivery("b", 200)];
    begin(&store, 1, first).await;
    begin(&store, 2, vec![delivery("a", 100), delivery("late", 301)]).await;
    let due = |now, limit, passed: &[&str]| {
        let passed = passed.iter().map(|host| format!("webhook:{host}:80")).collect();
        store.due_deliveries(now, limit, passed)
    };
    let found = due(300, 10, &[]).await.unwrap();
    assert_eq!(
        destinations(&found),
        ["webhook:a:80", "webhook:a:80", "webhook:b:80", "webhook:c:80"]
    );
    assert_eq!((found[0].run_id, found[1].run_id), (id(1), id(2)));
    assert_eq!(destinations(&due(300, 2, &[]).await.unwrap()).len(), 2);
    assert_eq!(due(99, 10, &[]).await.unwrap(), []);
    let found = due(1_000, 10, &["a", "b"]).await.unwrap();
    assert_eq!(destinations(&found), ["webhook:c:80", "webhook:late:80"]);
    let of_run = store.deliveries_of_run(id(1)).await.unwrap();
    assert_eq!(
        destinations(&of_run),
        ["webhook:c:80", "webhook:a:80", "webhook:b:80"],
        "as they were written"
    );
    let Delivery {
        seq,
        run_id,
        rule_id,
        hook,
        payload,
        state,
        attempts,
        last_error,
        ..
    } = of_run[0].clone();
    assert!(seq > 0 && of_run[1].seq > seq);
    assert_eq!(
        (run_id, rule_id.as_str(), hook.as_str()),
        (id(1), "r", "webhook:http://c/")
    );
    assert_eq!((payload.as_str(), state.as_str()), ("{\"payload\":1}", "pending"));
    assert_eq!((attempts, last_error), (0, None));
    assert_eq!(store.deliveries_of_run(id(9)).await.unwrap(), []);
}

pub(super) async fn a_try_is_counted_and_one_that_is_not_pending_stays(fixture: &dyn Fixture) {
    let store = fixture.open();
    begin(&store, 1, vec![delivery("a", 0)]).await;
    let only = || async { store.deliveries_of_run(id(1)).await.unwrap().pop().unwrap() };
    let seq = only().await.seq;
    let record = |state, due_at, error: Option<&str>| {
        store.record_delivery(seq, state, due_at, error.map(str::to_owned))
    };
    record(DeliveryState::Pending, 500, Some("refused"))
        .await
        .unwrap();
    let tried = only().await;
    assert_eq!(
        (tried.attempts, tried.state.as_str(), tried.last_error.as_deref()),
        (1, "pending", Some("refused"))
    );
    assert_eq!(store.due_deliveries(499, 10, Vec::new()).await.unwrap(), []);
    assert_eq!(store.due_deliveries(500, 10, Vec::new()).await.unwrap().len(), 1);
    record(DeliveryState::Delivered, 500, None).await.unwrap();
    record(DeliveryState::Failed, 500, Some("late")).await.unwrap();
    let delivered = only().await;
    assert_eq!(
        (delivered.attempts, delivered.state.as_str(), delivered.last_error),
        (2, "delivered", None)
    );
    let missing = store.record_delivery(seq + 100, DeliveryState::Delivered, 0, None);
    missing.await.unwrap();
}

pub(super) async fn only_a_delivery_that_was_given_up_is_made_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    begin(&store, 1, vec![delivery("a", 0)]).await;
    begin(&store, 2, Vec::new()).await;
    let seq = store.deliveries_of_run(id(1)).await.unwrap()[0].seq;
    let again = |run, seq| store.redeliver(id(run), seq, 900, audit("redeliver_hook"));
    let refused = again(1, seq).await;
    assert!(
        matches!(refused, Err(WriteError::Refused(RedeliveryRefused::NotFailed(state))) if state == "pending")
    );
    let given_up = store.record_delivery(seq, DeliveryState::Failed, 0, Some("gone".into()));
    given_up.await.unwrap();
    for (run, seq) in [(2, seq), (1, seq + 1), (9, seq)] {
        let refused = again(run, seq).await;
        assert!(matches!(
            refused,
            Err(WriteError::Refused(RedeliveryRefused::NotFound))
        ));
    }
    let delivery = again(1, seq).await.unwrap();
    assert_eq!((delivery.state.as_str(), delivery.attempts), ("pending", 0));
    assert_eq!(store.deliveries_of_run(id(1)).await.unwrap(), [delivery]);
    assert_eq!(store.due_deliveries(900, 10, Vec::new()).await.unwrap().len(), 1);
    let newest = store.recent_audit(1).await.unwrap().pop().unwrap();
    assert_eq!(newest.entry.action, "redeliver_hook");
}
