//! Which folders and files a store opens, and which it refuses.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_store_sqlite::{FolderInUse, FolderLock, OpenError, Options, SqliteStore};

#[test]
fn a_newer_database_a_changed_migration_and_a_foreign_file_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    drop(SqliteStore::open(folder.path(), &Options::default()).unwrap());
    let file = folder.path().join("mizzen.db");
    let by_hand = rusqlite::Connection::open(&file).unwrap();
    by_hand
        .execute("INSERT INTO migrations VALUES (9999, 'later', 'x', 0)", [])
        .unwrap();
    let error = SqliteStore::open(folder.path(), &Options::default()).unwrap_err();
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
    let error = SqliteStore::open(folder.path(), &Options::default()).unwrap_err();
    assert!(matches!(error, OpenError::Diverged { number: 1, .. }), "{error}");

    let other = tempfile::tempdir().unwrap();
    let foreign = rusqlite::Connection::open(other.path().join("mizzen.db")).unwrap();
    foreign.execute("CREATE TABLE theirs (x)", []).unwrap();
    assert!(matches!(
        SqliteStore::open(other.path(), &Options::default()),
        Err(OpenError::NotOurs)
    ));
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(
        SqliteStore::open_existing(empty.path(), &Options::default()),
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

fn mode(path: &std::path::Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).unwrap().permissions().mode() & 0o777
}

fn set_mode(path: &std::path::Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// R16: a folder that somebody made beforehand is open to others; what is in it is not.
#[tokio::test]
async fn the_database_is_its_owners_alone_whatever_the_folder_is() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::create_dir(&data).unwrap();
    set_mode(&data, 0o755);
    let store = SqliteStore::open(&data, &Options::default()).unwrap();
    for file in ["mizzen.db", "mizzen.db-wal", "mizzen.db-shm"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}");
    }
    let backup = folder.path().join("backup.db");
    store.backup(&backup).await.unwrap();
    assert_eq!(mode(&backup), 0o600);
    store.store().close().await;
    let _lock = FolderLock::take(&data).unwrap();
    assert_eq!(mode(&data.join("lock")), 0o600);

    // One that an earlier build made, or a careless copy.
    set_mode(&data.join("mizzen.db"), 0o644);
    std::fs::write(data.join("mizzen.db-wal"), "").unwrap();
    set_mode(&data.join("mizzen.db-wal"), 0o666);
    let store = SqliteStore::open(&data, &Options::default()).unwrap();
    for file in ["mizzen.db", "mizzen.db-wal", "mizzen.db-shm"] {
        assert_eq!(mode(&data.join(file)), 0o600, "{file}, opened again");
    }
    store.store().close().await;
}
