//! What an error of SQLite means.

use mizzen_store::StoreError;
use rusqlite::ErrorCode;

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

/// The fault that callers see.
pub(crate) fn fault(error: &rusqlite::Error) -> StoreError {
    match severity(error) {
        Severity::Full => StoreError::Full {
            detail: error.to_string(),
        },
        Severity::Busy => StoreError::Busy,
        Severity::Statement | Severity::Broken => StoreError::Fault(error.to_string()),
    }
}
