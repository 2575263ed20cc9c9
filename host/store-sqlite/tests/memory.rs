//! What only the store in memory has: writes whose fate is given.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_store::{AuditEntry, Durability, StoreError};
use mizzen_store_sqlite::{Fate, Fates, MemoryStore};
use std::sync::{Arc, Mutex};

/// Fates in order; done, when there are no more.
struct Script(Mutex<Vec<Fate>>);

impl Fates for Script {
    fn next(&self) -> Fate {
        self.0.lock().unwrap().pop().unwrap_or(Fate::Done)
    }
}

fn script(fates: &[Fate]) -> Arc<Script> {
    Arc::new(Script(Mutex::new(fates.iter().rev().copied().collect())))
}

fn audit() -> AuditEntry {
    AuditEntry {
        at: 1,
        actor: "local".into(),
        action: "test".into(),
        subject: "x".into(),
        outcome: "done".into(),
        request_id: "req-1".into(),
        detail: "{}".into(),
    }
}

#[tokio::test]
async fn a_write_without_room_leaves_nothing_and_the_next_one_is_made() {
    let memory = MemoryStore::new(script(&[Fate::NoRoom])).unwrap();
    let store = memory.store();
    let refused = store.record_audit(audit()).await;
    assert!(matches!(refused, Err(StoreError::Full { .. })));
    assert_eq!(store.durability(), Durability::Full);
    assert_eq!(store.audit_head().await.unwrap().seq, 0);
    store.record_audit(audit()).await.unwrap();
    assert_eq!(store.durability(), Durability::Committed);
    assert_eq!((store.stats().commits(), store.stats().failed_commits()), (1, 1));
}

/// Whether something ends, given as many turns as anything here needs.
async fn ends<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> bool {
    let task = tokio::spawn(work);
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    let is_finished = task.is_finished();
    task.abort();
    is_finished
}

#[tokio::test]
async fn a_process_that_dies_is_never_answered_and_the_next_one_finds_what_was_done() {
    for (fate, left) in [(Fate::DiesBefore, 1), (Fate::DiesAfter, 2)] {
        let memory = MemoryStore::new(script(&[Fate::Done, fate])).unwrap();
        let (first, second, read) = (memory.store(), memory.store(), memory.store());
        assert!(ends(async move { first.record_audit(audit()).await }).await);
        assert!(!memory.is_dead());
        assert!(!ends(async move { second.record_audit(audit()).await }).await);
        assert!(memory.is_dead(), "{fate:?}");
        assert!(!ends(async move { read.audit_head().await }).await);
        let next = memory.after_death(script(&[]));
        assert_eq!(next.store().audit_head().await.unwrap().seq, left, "{fate:?}");
    }
}
