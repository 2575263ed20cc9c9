//! Opening, closing, probes and counters.

use super::Fixture;
use super::sample::{add_sprite, audit, id, new_run, sprite, start, step};
use crate::{Durability, StoreError, WriteError};

pub(super) async fn what_was_written_is_there_after_closing_and_opening_again(fixture: &dyn Fixture) {
    let store = fixture.open();
    add_sprite(&store, sprite(1, &["core"])).await;
    start(&store, new_run(4, 2), step(1, "running")).await;
    let head = store.audit_head().await.unwrap();
    store.close().await;
    let store = fixture.open();
    let found = store.sprite(id(1)).await.unwrap().unwrap();
    assert_eq!(found.document, "{\"n\":1}");
    assert_eq!(store.open_runs().await.unwrap().len(), 1);
    assert_eq!(store.audit_head().await.unwrap(), head);
}

pub(super) async fn a_closed_store_reads_and_writes_nothing(fixture: &dyn Fixture) {
    let store = fixture.open();
    store.close().await;
    assert!(matches!(store.sprite(id(1)).await, Err(StoreError::Closed)));
    assert!(matches!(
        store.council_revision(id(1)).await,
        Err(StoreError::Closed)
    ));
    assert!(matches!(store.check().await, Err(StoreError::Closed)));
    let audited = store.record_audit(audit("late")).await;
    assert!(matches!(audited, Err(StoreError::Closed)));
    let created = store.create_sprite(sprite(1, &[]), String::new(), None, audit("late"));
    assert!(matches!(
        created.await,
        Err(WriteError::Store(StoreError::Closed))
    ));
    // To close it again changes nothing, and does not hang.
    store.close().await;
    let store = fixture.open();
    assert_eq!(store.count_sprites().await.unwrap(), 0);
    assert_eq!(store.recent_audit(1).await.unwrap().len(), 0);
}

pub(super) async fn an_untouched_store_is_in_order(fixture: &dyn Fixture) {
    let store = fixture.open();
    store.probe().await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!((report.problems, report.audit_entries), (Vec::new(), 0));
    assert_eq!(store.durability(), Durability::Committed);
    assert!(!store.give_back().await.unwrap(), "nothing was erased");
    assert!(store.purge_erased().await.unwrap(), "nothing reads the log");
}

pub(super) async fn writes_and_commits_are_counted(fixture: &dyn Fixture) {
    let store = fixture.open();
    for number in 1..=3 {
        add_sprite(&store, sprite(number, &[])).await;
    }
    let stats = store.stats();
    assert_eq!(
        (stats.commits(), stats.writes(), stats.failed_commits()),
        (3, 3, 0)
    );
    assert_eq!(store.durability(), Durability::Committed);
}
