//! Lists of runs: newest first, by chain, council, status and time.

use crate::cursor::Cursor;
use crate::port::port;
use crate::runs::RunRecord;
use uuid::Uuid;

/// Which runs. What is left out does not matter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunFilter {
    /// Only of this chain.
    pub chain: Option<Uuid>,
    /// Only of this council.
    pub council: Option<Uuid>,
    /// Only of this status.
    pub status: Option<String>,
    /// Only those that ended (or, while open, began) at or after this time, in milliseconds since 1970.
    pub since: Option<i64>,
    /// Only those before this time.
    pub until: Option<i64>,
}

/// Where a page begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunPlace {
    /// After so many runs. Costs as much as the runs that are passed.
    Offset(u64),
    /// After a cursor. Costs nothing.
    After(Cursor),
}

/// A page of runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunPage {
    /// The runs, newest first.
    pub runs: Vec<RunRecord>,
    /// How many there are, on all pages. Exact, except with a time in the filter: then no more than [`TOTAL_CAP`] are counted.
    pub total: u64,
    /// Where the next page begins; none on the last one.
    pub next: Option<Cursor>,
}

/// Runs that are counted for a total when the filter has a time in it; every other total is kept, not counted.
pub const TOTAL_CAP: u64 = 10_000;

/// Results on one page of history, in bytes; a page that would be larger is cut, and has a next one.
pub const HISTORY_BYTES: usize = 16 << 20;

port! {
    /// Reads of lists of runs.
    pub trait RunHistory {
        /// A page of runs, by the time they ended (or began, while open), newest first: at most `limit`, and [`HISTORY_BYTES`].
        /// The page and its total are of one moment.
        fn list_runs(filter: RunFilter, place: RunPlace, limit: usize) -> RunPage;

        /// Whether a chain was ever run.
        fn has_runs_of_chain(chain: Uuid) -> bool;
    }
}
