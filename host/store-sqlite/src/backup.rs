//! A copy of the database in a file of its own.

use crate::error::fault;
use crate::folder::PRIVATE;
use crate::sqlite_store::SqliteStore;
use mizzen_store::StoreError;
use rusqlite::{Connection, OpenFlags};
use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

impl SqliteStore {
    /// Copies the database, consistent and complete, into a new file, while it is in use. Only its owner can read it, as with the
    /// data folder.
    pub async fn backup(&self, target: &Path) -> Result<(), StoreError> {
        let unusable = |error: std::io::Error| {
            StoreError::Fault(format!("the backup {} cannot be made: {error}", target.display()))
        };
        OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(PRIVATE)
            .open(target)
            .map_err(unusable)?;
        let copied = self.copy_into(target).await;
        if copied.is_err() {
            // It was made above, and holds nothing that could be restored.
            let _ = std::fs::remove_file(target);
        }
        copied
    }

    async fn copy_into(&self, target: &Path) -> Result<(), StoreError> {
        let target = target.to_string_lossy().into_owned();
        let source = self.path().to_path_buf();
        // A connection of its own: a reader's `query_only` forbids the statement, and the copy may take long. `VACUUM INTO`
        // reads one snapshot, refuses to overwrite what is not empty, and syncs the file before it returns.
        let copy = tokio::task::spawn_blocking(move || {
            let connection = Connection::open_with_flags(source, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.execute("VACUUM INTO ?1", [target]).map(|_| ())
        });
        let copied = copy
            .await
            .map_err(|error| StoreError::Fault(format!("the backup did not finish: {error}")))?;
        copied.map_err(|error| fault(&error))
    }
}
