//! Why the store did not give an answer. Refusals (what the caller can mend) have a type per operation; these are the
//! faults that any operation can meet.

use std::convert::Infallible;

/// A fault of the store: not the caller's mistake.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no room for the write. It was rolled back; reads go on, and writing resumes when space returns.
    #[error("the disk that holds the database is full: {detail}; free some space, writing resumes by itself")]
    Full {
        /// What the backend reports.
        detail: String,
    },
    /// A commit failed, so whether it is durable is unknown. The process must end and read again.
    #[error(
        "the store is poisoned: a commit failed and its outcome is unknown; the process must restart and read again"
    )]
    Unknown,
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

/// What is known of the writes that were made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// What was acknowledged is durable, what was not is not there, and further writes are taken.
    Committed,
    /// A commit failed and may be there all the same: nothing is written any more ([`StoreError::Unknown`]), and the process ends.
    Unknown,
    /// The last transaction found no room and left nothing behind ([`StoreError::Full`]). Writes are tried again.
    Full,
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

impl From<WriteError<Infallible>> for StoreError {
    fn from(error: WriteError<Infallible>) -> Self {
        match error {
            WriteError::Refused(never) => match never {},
            WriteError::Store(error) => error,
        }
    }
}
