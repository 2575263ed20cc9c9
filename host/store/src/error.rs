//! Why the store did not give an answer. Refusals (what the caller can mend) have a type per operation; these are the
//! faults that any operation can meet.

use rusqlite::ErrorCode;

/// A fault of the store: not the caller's mistake.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no room for the write. It was rolled back; reads go on, and writing resumes when space returns.
    #[error("the disk that holds the database is full: {detail}; free some space, writing resumes by itself")]
    Full {
        /// What SQLite said.
        detail: String,
    },
    /// A commit failed, so nobody knows whether it is on disk. The process must end and read again.
    #[error(
        "the store is poisoned: a commit failed and its outcome is unknown; the process must restart and read again"
    )]
    Poisoned,
    /// Another process held the write lock for too long.
    #[error("the database is locked by another process; try again")]
    Busy,
    /// The store has been closed.
    #[error("the store is closed")]
    Closed,
    /// Anything else; a bug or a damaged file.
    #[error("the database failed: {0}")]
    Fault(String),
}

/// What came of a write: a refusal of this operation, or a fault.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WriteError<R> {
    /// The operation was refused and left nothing behind.
    #[error("{0}")]
    Refused(R),
    /// The store could not do it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a unit of work inside the writer's transaction stopped.
pub(crate) enum Stop<R> {
    Refused(R),
    Sql(rusqlite::Error),
}

impl<R> From<rusqlite::Error> for Stop<R> {
    fn from(error: rusqlite::Error) -> Self {
        Stop::Sql(error)
    }
}

/// The refusal of operations that refuse nothing.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Never {}

impl From<WriteError<Never>> for StoreError {
    fn from(error: WriteError<Never>) -> Self {
        match error {
            WriteError::Refused(never) => match never {},
            WriteError::Store(error) => error,
        }
    }
}

/// How bad a SQLite error is for the transaction it happened in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Severity {
    /// Only this statement: a constraint, a mistake in a query.
    Statement,
    /// No room; the transaction is rolled back and the store stays usable.
    Full,
    /// The lock was not free in time.
    Busy,
    /// The file or the disk misbehaves.
    Broken,
}

pub(crate) fn severity(error: &rusqlite::Error) -> Severity {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => Severity::Full,
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Severity::Busy,
        Some(
            ErrorCode::SystemIoFailure
            | ErrorCode::DatabaseCorrupt
            | ErrorCode::NotADatabase
            | ErrorCode::OutOfMemory
            | ErrorCode::ReadOnly
            | ErrorCode::CannotOpen,
        ) => Severity::Broken,
        Some(_) | None => Severity::Statement,
    }
}

/// Whether this is the error of a write call that the operating system refused (`SQLITE_IOERR_WRITE`), which is what SQLite
/// reports for a file-size limit or a quota instead of "full".
pub(crate) fn is_refused_write(error: &rusqlite::Error) -> bool {
    matches!(error, rusqlite::Error::SqliteFailure(failure, _) if failure.extended_code == rusqlite::ffi::SQLITE_IOERR_WRITE)
}

impl From<&rusqlite::Error> for StoreError {
    fn from(error: &rusqlite::Error) -> Self {
        match severity(error) {
            Severity::Full => StoreError::Full {
                detail: error.to_string(),
            },
            Severity::Busy => StoreError::Busy,
            Severity::Statement | Severity::Broken => StoreError::Fault(error.to_string()),
        }
    }
}
