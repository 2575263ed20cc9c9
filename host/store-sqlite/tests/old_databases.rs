//! Databases that earlier builds made: their totals are filled and their journals moved when they are opened.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{AuditEntry, NewRun, RunEvent, RunFilter, RunPlace, RunStep, Sealed, Store};
use mizzen_store_sqlite::{Options, SqliteStore};
use std::path::Path;
use std::sync::Arc;
use uuid::Uuid;

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, &Options::default()).unwrap()
}

fn step(seq: u64, status: &str, ended: bool) -> RunStep {
    RunStep {
        events: vec![RunEvent {
            seq,
            bytes: format!("{{\"seq\":{seq}}}"),
            hash: [u8::try_from(seq).unwrap(); 32],
        }],
        status: status.to_owned(),
        sealed: ended.then(|| Sealed {
            completed_at: 2_000,
            result: "{}".into(),
            seal: None,
        }),
        rewritten: None,
        deliveries: Vec::new(),
    }
}

fn new_run(id: u128, chain: u128) -> NewRun {
    NewRun {
        id: Uuid::from_u128(id),
        council_id: Uuid::from_u128(1),
        chain_id: Uuid::from_u128(chain),
        started_at: 1_000,
        definition_hash: [7; 32],
        definition: "{}".into(),
    }
}

fn audit() -> AuditEntry {
    AuditEntry {
        at: 1,
        actor: "local".into(),
        action: "execute_chain".into(),
        subject: "x".into(),
        outcome: "done".into(),
        request_id: "req-1".into(),
        detail: "{}".into(),
    }
}

async fn begin(store: &Store, run: NewRun, step: RunStep) {
    store
        .start_run(run, Arc::new(step), None, vec![audit()])
        .await
        .unwrap();
}

/// Six runs of two chains; half of them end in the write that begins them.
async fn fill(store: &Store) {
    for (id, chain, status, ended) in [
        (1, 2, "completed", true),
        (2, 2, "completed", true),
        (3, 2, "vetoed", true),
        (4, 2, "running", false),
        (5, 3, "failed", true),
        (6, 3, "awaiting_approval", false),
    ] {
        if id % 2 == 0 {
            begin(store, new_run(id, chain), step(1, "running", false)).await;
            let id = Uuid::from_u128(id);
            store
                .append_run(id, 2, Arc::new(step(2, status, ended)), Vec::new())
                .await
                .unwrap();
        } else {
            begin(store, new_run(id, chain), step(1, status, ended)).await;
        }
    }
}

async fn check_totals(store: &Store) {
    let expected = [
        (None, None, None, 6),
        (None, None, Some("completed"), 2),
        (None, None, Some("running"), 1),
        (Some(2), None, None, 4),
        (Some(2), None, Some("vetoed"), 1),
        (Some(3), None, Some("completed"), 0),
        (Some(3), Some(1), None, 2),
        (Some(3), Some(8), None, 0),
        (None, Some(1), None, 6),
        (None, Some(1), Some("failed"), 1),
        (None, Some(8), None, 0),
    ];
    for (chain, council, status, total) in expected {
        let filter = RunFilter {
            chain: chain.map(Uuid::from_u128),
            council: council.map(Uuid::from_u128),
            status: status.map(str::to_owned),
            ..RunFilter::default()
        };
        // With a time the runs are counted, without one the total is kept: both say the same.
        let timed = RunFilter {
            since: Some(0),
            ..filter.clone()
        };
        for filter in [filter, timed] {
            let page = store.list_runs(filter.clone(), RunPlace::Offset(0), 1);
            assert_eq!(page.await.unwrap().total, total, "{filter:?}");
        }
    }
}

#[tokio::test]
async fn totals_are_filled_and_journals_moved_when_an_old_database_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let store = database.store();
    fill(&store).await;
    check_totals(&store).await;
    assert!(store.check().await.unwrap().problems.is_empty());
    let path = database.path().to_path_buf();
    store.close().await;
    // A database from before the totals were kept, with journals as they were then.
    let old = rusqlite::Connection::open(&path).unwrap();
    old.execute_batch(
        "DROP TRIGGER run_forgotten; DROP TABLE run_totals; DROP TABLE governance; DROP INDEX sprites_by_version;
         DROP TABLE run_erasures; DROP INDEX runs_by_definition; DELETE FROM run_definitions WHERE document = '';
         CREATE TABLE before (
            run INTEGER NOT NULL REFERENCES runs (seq), seq INTEGER NOT NULL, bytes TEXT NOT NULL, hash BLOB NOT NULL,
            PRIMARY KEY (run, seq)
         ) STRICT, WITHOUT ROWID;
         INSERT INTO before SELECT place >> 24, place & 0xffffff, bytes, hash FROM run_events;
         DROP TABLE run_events;
         ALTER TABLE before RENAME TO run_events;
         DELETE FROM migrations WHERE number >= 4;",
    )
    .unwrap();
    drop(old);
    let store = open(folder.path()).store();
    check_totals(&store).await;
    assert!(store.check().await.unwrap().problems.is_empty());
    let entries = store.run_events(Uuid::from_u128(4), 0, 10).await.unwrap();
    let seqs: Vec<(u64, &str)> = entries
        .iter()
        .map(|entry| (entry.seq, entry.bytes.as_str()))
        .collect();
    assert_eq!(seqs, [(1, "{\"seq\":1}"), (2, "{\"seq\":2}")]);
    let entries = store.run_events(Uuid::from_u128(4), 1, 10).await.unwrap();
    assert_eq!(entries.len(), 1);
    assert_eq!((entries[0].seq, entries[0].hash), (2, [2; 32]));
    store.close().await;
    let tampered = rusqlite::Connection::open(&path).unwrap();
    tampered
        .execute_batch("UPDATE run_totals SET ended = 9 WHERE status = 'vetoed'")
        .unwrap();
    drop(tampered);
    let problems = open(folder.path()).store().check().await.unwrap().problems;
    assert_eq!(
        problems.len(),
        3,
        "of the chain, of its council and of all: {problems:?}"
    );
}
