//! Idempotency keys.

use super::Fixture;
use super::sample::{add_sprite, audit, council, id, key, last_step, new_run, sprite, step};
use crate::{
    CouncilRefused, Idempotency, NewRun, Recorded, RunRefused, RunStep, SpriteRefused, Store, WriteError,
    Written,
};
use std::sync::Arc;

async fn create(
    store: &Store,
    number: u128,
    answer: &str,
    key: Idempotency,
) -> Result<Written, WriteError<SpriteRefused>> {
    let created = store.create_sprite(
        sprite(number, &[]),
        answer.to_owned(),
        Some(key),
        audit("create_sprite"),
    );
    created.await
}

pub(super) async fn a_key_gives_the_first_answer_again_and_refuses_another_request(fixture: &dyn Fixture) {
    let store = fixture.open();
    let recorded = |digest, at| {
        let key = key("k", digest, at);
        let store = &store;
        async move { store.recorded_answer(&key).await.unwrap() }
    };
    assert_eq!(recorded(1, 0).await, Ok(Recorded::Nothing));
    let created = create(&store, 1, "first", key("k", 1, 0)).await;
    assert_eq!(created.unwrap(), Written::Now);
    assert_eq!(recorded(1, 5).await, Ok(Recorded::Answer("first".into())));
    assert!(recorded(2, 5).await.is_err());
    let again = create(&store, 2, "second", key("k", 1, 5)).await;
    assert_eq!(again.unwrap(), Written::Before("first".into()));
    assert!(
        store.sprite(id(2)).await.unwrap().is_none(),
        "the repeat wrote nothing"
    );
    assert_eq!(store.recent_audit(10).await.unwrap().len(), 1);
    let other = create(&store, 3, "x", key("k", 2, 5)).await;
    assert!(matches!(
        other,
        Err(WriteError::Refused(SpriteRefused::Mismatch(_)))
    ));
    let day = Idempotency::REMEMBERED;
    assert_eq!(recorded(1, day - 1).await, Ok(Recorded::Answer("first".into())));
    assert_eq!(recorded(2, day).await, Ok(Recorded::Nothing));
    let later = create(&store, 4, "later", key("k", 2, day)).await;
    assert_eq!(later.unwrap(), Written::Now, "forgotten after a day");
}

pub(super) async fn a_run_is_begun_once_for_a_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    let begin = |run: NewRun, step: RunStep, digest| {
        store.start_run(run, Arc::new(step), Some(key("k", digest, 0)), vec![audit("x")])
    };
    let first = begin(new_run(1, 2), step(1, "running"), 1).await;
    assert_eq!(first.unwrap(), Written::Now);
    let again = begin(new_run(2, 2), last_step(1, "completed", 1), 1).await;
    assert_eq!(again.unwrap(), Written::Before(id(1).to_string()));
    assert!(store.run(id(2)).await.unwrap().is_none());
    let other = begin(new_run(3, 2), step(1, "running"), 2).await;
    assert!(matches!(other, Err(WriteError::Refused(RunRefused::Mismatch(_)))));
    assert_eq!(store.recent_audit(10).await.unwrap().len(), 1);
}

pub(super) async fn a_council_is_stored_once_for_a_key(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &[])).await;
    let create = |number, domain: &str, digest| {
        let council = council(number, domain, &[1]);
        let answer = format!("answer {number}");
        store.create_council(council, answer, Some(key("k", digest, 0)), audit("c"))
    };
    assert_eq!(create(10, "a", 1).await.unwrap(), Written::Now);
    let again = create(11, "b", 1).await.unwrap();
    assert_eq!(again, Written::Before("answer 10".into()));
    let other = create(12, "c", 2).await;
    assert!(matches!(
        other,
        Err(WriteError::Refused(CouncilRefused::Mismatch(_)))
    ));
    assert_eq!(store.count_councils().await.unwrap(), 1);
}

pub(super) async fn scopes_do_not_share_keys_and_a_refused_write_keeps_none(fixture: &dyn Fixture) {
    let store = fixture.open();
    let of_other = Idempotency {
        scope: "mzk-1".into(),
        ..key("k", 2, 0)
    };
    let created = create(&store, 1, "first", key("k", 1, 0)).await;
    assert_eq!(created.unwrap(), Written::Now);
    let created = create(&store, 2, "second", of_other).await;
    assert_eq!(created.unwrap(), Written::Now);
    // Refused for another reason than its key: the caller mends the request and sends the key again.
    let taken = crate::NewSprite {
        id: id(3),
        ..sprite(1, &[])
    };
    let refused = store.create_sprite(taken, "x".into(), Some(key("other", 3, 0)), audit("c"));
    assert!(matches!(
        refused.await,
        Err(WriteError::Refused(SpriteRefused::Taken(_)))
    ));
    let recorded = store.recorded_answer(&key("other", 3, 0)).await.unwrap();
    assert_eq!(recorded, Ok(Recorded::Nothing));
}
