//! What becomes of the space of erased runs.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{
    AuditEntry, ErasureAudit, ErasureFilter, NewDelivery, NewErasure, NewRun, RunEvent, RunStep, Sealed,
    Store,
};
use mizzen_store_sqlite::{Options, SqliteStore};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, &Options::default()).unwrap()
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
        .start_run(run, Arc::new(step), None, vec![audit()])
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
    let audit = ErasureAudit::Entry(audit());
    store
        .erase_runs(erasures.collect(), 5, "ada".to_owned(), audit)
        .await
        .unwrap()
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
    let database = open(folder.path());
    let store = database.store();
    for id in 1..=50 {
        begin(&store, id, 1, Some(100)).await;
    }
    assert!(store.purge_erased().await.unwrap());
    let before = size(folder.path());
    assert_eq!(erase(&store, ErasureFilter::default()).await, 50);
    assert!(database.gives_back().await.unwrap());
    while store.give_back().await.unwrap() {}
    assert!(store.purge_erased().await.unwrap());
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
    let database = open(folder.path());
    let store = database.store();
    for id in 1..=50 {
        begin(&store, id, 1, Some(100)).await;
    }
    assert_eq!(erase(&store, ErasureFilter::default()).await, 50);
    assert!(!database.gives_back().await.unwrap());
    assert!(!store.give_back().await.unwrap());
    assert!(store.purge_erased().await.unwrap());
    let before = size(folder.path());
    assert!(
        SqliteStore::rebuild(folder.path()).is_err(),
        "not while somebody has it open"
    );
    store.close().await;
    SqliteStore::rebuild(folder.path()).unwrap();
    let database = open(folder.path());
    let after = size(folder.path());
    assert!(after < before / 4, "{before} bytes before, {after} after");
    assert!(database.gives_back().await.unwrap());
    assert!(!holds(folder.path(), "WIPE4711"));
    assert_eq!(
        database.store().check().await.unwrap().problems,
        Vec::<String>::new()
    );
}
