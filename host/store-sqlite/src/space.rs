//! Gives space back to the disk, and makes sure that what was deleted is in no file any more.
//!
//! The writer overwrites what it deletes (`secure_delete`), but the write-ahead log still has the pages as they were before, until it
//! is folded into the file and cut off. A file that is made by this build can give free pages back a few at a time; one of an earlier
//! build only when it is written anew.

use crate::error::{Stop, fault};
use crate::job::Perform;
use crate::open::{BUSY, FILE};
use crate::sqlite_store::SqliteStore;
use mizzen_store::{Operation, StoreError};
use rusqlite::{Connection, OpenFlags};
use std::convert::Infallible;
use std::path::Path;

/// Pages that one write gives back: other writes wait for it.
const PAGES: u32 = 256;

/// `PRAGMA auto_vacuum` of a file that gives pages back when it is asked to.
const INCREMENTAL: i64 = 2;

/// Gives some free pages back to the disk. Replies whether there are more.
pub(crate) struct GiveBack;

impl Operation for GiveBack {
    type Reply = bool;
    type Refusal = Infallible;
}

impl Perform for GiveBack {
    fn perform(&self, connection: &Connection) -> Result<bool, Stop<Infallible>> {
        // One row for every page.
        let mut statement = connection.prepare_cached(&format!("PRAGMA incremental_vacuum({PAGES})"))?;
        let mut rows = statement.query([])?;
        while rows.next()?.is_some() {}
        let free: u64 = connection.query_row("PRAGMA freelist_count", [], |row| row.get(0))?;
        Ok(gives_back(connection)? && free > 0)
    }
}

/// Whether a file gives pages back.
pub(crate) fn gives_back(connection: &Connection) -> rusqlite::Result<bool> {
    let mode: i64 = connection.query_row("PRAGMA auto_vacuum", [], |row| row.get(0))?;
    Ok(mode == INCREMENTAL)
}

impl SqliteStore {
    /// Writes the whole file anew: without free pages, without what was left in them, and so that free pages can be given back from
    /// now on. Refused while anything has it open: a connection knows from its beginning whether the file gives pages back, and would
    /// damage one that does and did not before.
    pub fn rebuild(data: &Path) -> Result<(), StoreError> {
        let rebuild = || {
            let connection = Connection::open_with_flags(data.join(FILE), OpenFlags::SQLITE_OPEN_READ_WRITE)?;
            connection.busy_timeout(BUSY)?;
            // Before anything else is done with the file: the lock is taken then, and kept until the end.
            connection.execute_batch(
                "PRAGMA locking_mode = EXCLUSIVE; PRAGMA secure_delete = ON; PRAGMA auto_vacuum = INCREMENTAL; VACUUM;",
            )
        };
        rebuild().map_err(|error| fault(&error))
    }
}
