//! Gives space back to the disk, and makes sure that what was deleted is in no file any more.
//!
//! The writer overwrites what it deletes (`secure_delete`), but the write-ahead log still has the pages as they were before, until it
//! is folded into the file and cut off. A file that is made by this build can give free pages back a few at a time; one of an earlier
//! build only when it is written anew.

use crate::error::{Never, StoreError};
use crate::open::{BUSY, FILE};
use crate::store::Store;
use rusqlite::{Connection, OpenFlags};
use std::path::Path;

/// Pages that one write gives back: other writes wait for it.
const PAGES: u32 = 256;

impl Store {
    /// Whether free pages can be given back while the database is in use; see [`Store::rebuild`] for one that cannot.
    pub async fn gives_back(&self) -> Result<bool, StoreError> {
        self.read(|connection| {
            let mode: i64 = connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?;
            Ok(mode == INCREMENTAL)
        })
        .await
    }

    /// Gives some free pages back to the disk. Whether there are more.
    pub async fn give_back(&self) -> Result<bool, StoreError> {
        self.write::<_, Never, _>(|connection| {
            // One row for every page.
            let mut statement = connection.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
            let mut rows = statement.query([])?;
            while rows.next()?.is_some() {}
            let mode: i64 = connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?;
            let free: u64 = connection.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
            Ok(mode == INCREMENTAL && free > 0)
        })
        .await
        .map_err(Into::into)
    }

    /// Folds the write-ahead log into the file and cuts it off. False when a reader still needs it: try again.
    pub async fn fold_log(&self) -> Result<bool, StoreError> {
        self.writer().fold().await
    }

    /// Writes the whole file anew: without free pages, without what was left in them, and so that free pages can be given back from
    /// now on. Refused while anybody has it open: a connection knows from its beginning whether the file gives pages back, and would
    /// damage one that does and did not before.
    pub fn rebuild(data: &Path) -> Result<(), StoreError> {
        let rebuild = || {
            let connection = Connection::open_with_flags(data.join(FILE), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(BUSY)?;
            // Before anything else is done with the file: the lock is taken then, and is nobody else's until the end.
            connection.execute_batch(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL; VACUUM;",
            )
        };
        rebuild().map_err(|error: rusqlite::Error| StoreError::from(&error))
    }
}

/// `PRAGMA auto_vacuum` of a file that gives pages back when it is asked to.
const INCREMENTAL: i64 = 2;
