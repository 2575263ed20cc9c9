//! Erasure of runs, and what becomes of the space.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{
    AuditEntry, DeliveryState, ErasureFilter, NewDelivery, NewErasure, NewRun, Options, RunEvent, RunFilter,
    RunPlace, RunStep, Sealed, Store,
};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

fn open(folder: &Path) -> Store {
    Store::open(folder, &Options::default()).unwrap()
}

fn audit(detail: String) -> AuditEntry {
    AuditEntry {
        at: 1,
        actor: "local".into(),
        action: "test".into(),
        subject: "x".into(),
        outcome: "done".into(),
        request_id: "req-1".into(),
        detail,
    }
}

/// A run of three entries that ended at a time, or is open.
async fn begin(store: &Store, id: u128, definition: u8, ended: Option<i64>) {
    let events = (1..=3_u8).map(|seq| RunEvent {
        seq: seq.into(),
        bytes: format!("WIPE4711 {id} {}", "x".repeat(20_000)),
        hash: [seq; 32],
    });
    let step = RunStep {
        events: events.collect(),
        status: if ended.is_some() { "completed" } else { "running" }.to_owned(),
        sealed: ended.map(|completed_at| Sealed {
            completed_at,
            result: "WIPE4711 result".into(),
            seal: Some("{}".to_owned()),
        }),
        rewritten: None,
        deliveries: vec![NewDelivery {
            rule_id: "r".into(),
            hook: "webhook:http://a.example/".into(),
            destination: "webhook:a.example:80".into(),
            payload: "WIPE4711 payload".into(),
            due_at: 0,
        }],
    };
    let run = NewRun {
        id: Uuid::from_u128(id),
        council_id: Uuid::from_u128(u128::from(definition)),
        chain_id: Uuid::from_u128(9),
        started_at: 1,
        definition_hash: [definition; 32],
        definition: format!("WIPE4711 definition {definition}").into(),
    };
    store
        .start_run(run, Arc::new(step), None, vec![audit("{}".into())])
        .await
        .unwrap();
}

async fn erase(store: &Store, filter: ErasureFilter) -> u64 {
    let page = store.erasable_runs(filter, None, 100).await.unwrap();
    assert_eq!(page.next, None);
    let erasures = page.runs.iter().map(|run| {
        assert_eq!(run.hashes, [[1; 32], [2; 32], [3; 32]].concat());
        NewErasure {
            id: run.record.id,
            head: run.record.head,
            hashes: run.hashes.clone(),
            result: "{}".to_owned(),
            statement: "{\"statement\":1}".to_owned(),
        }
    });
    let count = |erased: u64| audit(erased.to_string());
    store
        .erase_runs(erasures.collect(), 5, "ada".to_owned(), count)
        .await
        .unwrap()
}

#[tokio::test]
async fn an_erased_run_leaves_its_hashes_and_shared_definitions_stay_for_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for (id, definition, ended) in [
        (1, 1, Some(100)),
        (2, 1, Some(200)),
        (3, 2, Some(300)),
        (4, 2, None),
    ] {
        begin(&store, id, definition, ended).await;
    }
    let early = ErasureFilter {
        before: Some(200),
        ..ErasureFilter::default()
    };
    assert_eq!(store.count_erasable(early).await.unwrap(), (1, 1));
    assert_eq!(erase(&store, early).await, 1);
    assert_eq!(erase(&store, early).await, 0);
    let id = Uuid::from_u128;
    let (first, second) = (
        store.run(id(1)).await.unwrap().unwrap(),
        store.run(id(2)).await.unwrap().unwrap(),
    );
    assert!(first.is_erased() && !second.is_erased());
    assert_eq!((first.next_seq, first.head), (second.next_seq, second.head));
    assert!(store.run_definition([1; 32]).await.unwrap().is_some());
    assert_eq!(store.run_events(id(1), 0, 10).await.unwrap(), []);
    let left = store.run_erasure(id(1)).await.unwrap().unwrap();
    assert_eq!(
        (left.at, left.actor.as_str(), left.hashes),
        (5, "ada", vec![[1; 32], [2; 32], [3; 32]])
    );
    let hook = &store.deliveries_of_run(id(1)).await.unwrap()[0];
    assert_eq!((hook.state.as_str(), hook.payload.as_str()), ("failed", ""));
    // A try that was under way when its run was erased does not bring it back.
    store
        .record_delivery(hook.seq, DeliveryState::Pending, 0, None)
        .await
        .unwrap();
    assert_eq!(store.deliveries_of_run(id(1)).await.unwrap()[0].state, "failed");

    let of_council = ErasureFilter {
        council: Some(id(1)),
        before: None,
    };
    assert_eq!(erase(&store, of_council).await, 1);
    assert!(store.run_definition([1; 32]).await.unwrap().is_none());
    assert_eq!(erase(&store, ErasureFilter::default()).await, 1);
    // The open run needs it.
    assert!(store.run_definition([2; 32]).await.unwrap().is_some());
    assert_eq!(store.run_events(id(4), 0, 10).await.unwrap().len(), 3);
    let page = store.list_runs(RunFilter::default(), RunPlace::Offset(0), 10);
    assert_eq!(page.await.unwrap().total, 4);
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
    // One entry of the audit log for every transaction that erased something.
    let log = store.recent_audit(10).await.unwrap();
    assert_eq!(log.iter().filter(|entry| entry.entry.detail == "1").count(), 3);
}

fn holds(folder: &Path, text: &str) -> bool {
    std::fs::read_dir(folder).unwrap().any(|file| {
        let bytes = std::fs::read(file.unwrap().path()).unwrap();
        bytes.windows(text.len()).any(|window| window == text.as_bytes())
    })
}

fn size(folder: &Path) -> u64 {
    std::fs::metadata(folder.join("mizzen.db")).unwrap().len()
}

#[tokio::test]
async fn what_is_erased_is_in_no_file_and_its_space_is_given_back() {
    let folder = tempfile::tempdir().unwrap();
    let store = open(folder.path());
    for id in 1..=50 {
        begin(&store, id, 1, Some(100)).await;
    }
    assert!(store.fold_log().await.unwrap());
    let before = size(folder.path());
    assert_eq!(erase(&store, ErasureFilter::default()).await, 50);
    assert!(store.gives_back().await.unwrap());
    while store.give_back().await.unwrap() {}
    assert!(store.fold_log().await.unwrap());
    assert!(!holds(folder.path(), "WIPE4711"));
    let after = size(folder.path());
    assert!(after < before / 4, "{before} bytes before, {after} after");
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}

#[tokio::test]
async fn a_file_of_an_earlier_build_gives_its_space_back_when_it_is_rebuilt() {
    let folder = tempfile::tempdir().unwrap();
    let old = rusqlite::Connection::open(folder.path().join("mizzen.db")).unwrap();
    old.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA application_id = 0x6d7a6e31; CREATE TABLE x (y); DROP TABLE x;",
    )
    .unwrap();
    drop(old);
    let store = open(folder.path());
    for id in 1..=50 {
        begin(&store, id, 1, Some(100)).await;
    }
    assert_eq!(erase(&store, ErasureFilter::default()).await, 50);
    assert!(!store.gives_back().await.unwrap());
    assert!(!store.give_back().await.unwrap());
    assert!(store.fold_log().await.unwrap());
    let before = size(folder.path());
    assert!(
        Store::rebuild(folder.path()).is_err(),
        "not while somebody has it open"
    );
    store.close().await;
    Store::rebuild(folder.path()).unwrap();
    let store = open(folder.path());
    let after = size(folder.path());
    assert!(after < before / 4, "{before} bytes before, {after} after");
    assert!(store.gives_back().await.unwrap());
    assert!(!holds(folder.path(), "WIPE4711"));
    assert_eq!(store.check().await.unwrap().problems, Vec::<String>::new());
}
