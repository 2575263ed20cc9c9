//! What a store leaves in its files, and finds in them when others have edited them.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{AuditEntry, NewSprite, Store, Written};
use mizzen_store_sqlite::{Options, SqliteStore};
use std::path::Path;
use uuid::Uuid;

fn open(folder: &Path) -> SqliteStore {
    SqliteStore::open(folder, &Options::default()).unwrap()
}

fn audit(action: &str) -> AuditEntry {
    AuditEntry {
        at: 1,
        actor: "local".into(),
        action: action.into(),
        subject: "x".into(),
        outcome: "done".into(),
        request_id: "req-1".into(),
        detail: "{}".into(),
    }
}

fn sprite(number: u128) -> NewSprite {
    NewSprite {
        id: Uuid::from_u128(number),
        name: format!("SPRITE-{}", number % 10),
        version: format!("1.0.{number}"),
        role: number.is_multiple_of(2).then(|| "planner".into()),
        fingerprint: format!("blake3:{number:064x}"),
        tags: vec!["core".into()],
        capabilities: vec![format!("cap_{}", number % 5)],
        document: format!("{{\"n\":{number}}}"),
        at: 5,
    }
}

async fn add(store: &Store, sprite: NewSprite) {
    let written = store
        .create_sprite(sprite, String::new(), None, audit("create_sprite"))
        .await
        .unwrap();
    assert_eq!(written, Written::Now);
}

#[tokio::test]
async fn a_clean_close_leaves_one_file_with_everything_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let store = database.store();
    add(&store, sprite(1)).await;
    store.close().await;
    assert!(
        !folder.path().join("mizzen.db-wal").exists(),
        "a clean close leaves one file"
    );
    let database = open(folder.path());
    let store = database.store();
    assert_eq!(
        store.sprite(Uuid::from_u128(1)).await.unwrap().unwrap().document,
        "{\"n\":1}"
    );
    assert!(store.sprite(Uuid::from_u128(2)).await.unwrap().is_none());
}

#[tokio::test]
async fn an_edited_audit_log_and_a_wrong_sum_are_found_by_the_check() {
    let folder = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let store = database.store();
    for number in 1..=5 {
        add(&store, sprite(number)).await;
    }
    store.record_audit(audit("denied")).await.unwrap();
    let report = store.check().await.unwrap();
    assert_eq!((report.problems.len(), report.audit_entries), (0, 6));
    // A copy knows as well how many there were.
    let copy = tempfile::tempdir().unwrap();
    database.backup(&copy.path().join("mizzen.db")).await.unwrap();
    let cut = rusqlite::Connection::open(copy.path().join("mizzen.db")).unwrap();
    cut.execute("DELETE FROM audit WHERE seq > 4", []).unwrap();
    drop(cut);
    let copied = open(copy.path()).store();
    let problems = copied.check().await.unwrap().problems;
    assert_eq!(
        problems,
        ["the audit log was cut off: its last 2 entries are gone"]
    );
    let head = store.audit_head().await.unwrap();
    assert_eq!(head.to_string().parse(), Ok(head));
    assert!(store.audit_holds(head).await.unwrap() && !copied.audit_holds(head).await.unwrap());
    assert_eq!(store.recent_audit(1).await.unwrap()[0].entry.action, "denied");
    let by_hand = rusqlite::Connection::open(database.path()).unwrap();
    by_hand
        .execute("UPDATE audit SET actor = 'nobody' WHERE seq = 3", [])
        .unwrap();
    by_hand
        .execute("INSERT INTO plugin_kv_usage VALUES ('p', 5)", [])
        .unwrap();
    let problems = store.check().await.unwrap().problems;
    assert!(
        problems.iter().any(|problem| problem.contains("entry 3")),
        "{problems:?}"
    );
    assert!(
        problems.iter().any(|problem| problem.contains("plugin p")),
        "{problems:?}"
    );
}

#[tokio::test]
async fn a_backup_is_a_database_of_its_own_and_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let copy = tempfile::tempdir().unwrap();
    let database = open(folder.path());
    let store = database.store();
    add(&store, sprite(1)).await;
    let target = copy.path().join("mizzen.db");
    database.backup(&target).await.unwrap();
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&target).unwrap().permissions());
    assert_eq!(
        mode & 0o777,
        0o600,
        "what the folder hides must not be shown beside it"
    );
    assert!(database.backup(&target).await.is_err());
    let restored = SqliteStore::open_existing(copy.path(), &Options::default()).unwrap();
    assert!(
        restored
            .store()
            .sprite(Uuid::from_u128(1))
            .await
            .unwrap()
            .is_some()
    );
    assert!(
        restored
            .info()
            .await
            .unwrap()
            .rows
            .contains(&("sprites".to_owned(), 1))
    );
}
