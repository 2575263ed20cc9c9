//! Which folders and files a store opens, and which it refuses.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store::{FolderInUse, FolderLock, OpenError, Options, Store};

#[test]
fn a_newer_database_a_changed_migration_and_a_foreign_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(Store::open(folder.path(), &Options::default()).unwrap());
    let file = folder.path().join("mizzen.db");
    let by_hand = rusqlite::Connection::open(&file).unwrap();
    by_hand
        .execute("INSERT INTO migrations VALUES (9999, 'later', 'x', 0)", [])
        .unwrap();
    let error = Store::open(folder.path(), &Options::default()).unwrap_err();
    assert!(
        matches!(error, OpenError::Newer { database: 9999, .. }),
        "{error}"
    );
    assert!(error.to_string().contains("use the newer mizzen"));
    by_hand
        .execute("DELETE FROM migrations WHERE number = 9999", [])
        .unwrap();
    by_hand
        .execute("UPDATE migrations SET digest = 'edited' WHERE number = 1", [])
        .unwrap();
    let error = Store::open(folder.path(), &Options::default()).unwrap_err();
    assert!(matches!(error, OpenError::Diverged { number: 1, .. }), "{error}");

    let other = tempfile::tempdir().unwrap();
    let foreign = rusqlite::Connection::open(other.path().join("mizzen.db")).unwrap();
    foreign.execute("CREATE TABLE theirs (x)", []).unwrap();
    assert!(matches!(
        Store::open(other.path(), &Options::default()),
        Err(OpenError::NotOurs)
    ));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(
        Store::open_existing(empty.path(), &Options::default()),
        Err(OpenError::Missing(_))
    ));
}

#[test]
fn a_data_folder_is_served_once_at_a_time() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("deep/data");
    let lock = FolderLock::take(&data).unwrap();
    assert!(matches!(FolderLock::take(&data), Err(FolderInUse::Locked(_))));
    drop(lock);
    FolderLock::take(&data).unwrap();
}
