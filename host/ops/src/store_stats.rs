//! What the store counts, for the metrics.

use crate::host::Host;
use mizzen_store::{COMMIT_BUCKETS, Durability};

/// Numbers of the store since start.
#[derive(Debug, Clone, PartialEq)]
pub struct StoreStats {
    /// Transactions that were committed.
    pub commits: u64,
    /// Transactions that were not.
    pub failed_commits: u64,
    /// Writes in committed transactions.
    pub writes: u64,
    /// Time in committed transactions.
    pub seconds: f64,
    /// Commits at or below each bound, in seconds.
    pub buckets: Vec<(f64, u64)>,
    /// Whether a commit has an unknown outcome.
    pub poisoned: bool,
}

impl Host {
    /// Numbers of the store since start.
    pub fn store_stats(&self) -> StoreStats {
        // Microseconds as a float: exact for the first 285 years.
        let seconds = |micros: u64| micros as f64 / 1e6;
        let stats = self.store.stats();
        StoreStats {
            commits: stats.commits(),
            failed_commits: stats.failed_commits(),
            writes: stats.writes(),
            seconds: seconds(stats.micros()),
            buckets: COMMIT_BUCKETS
                .iter()
                .map(|bound| seconds(*bound))
                .zip(stats.buckets())
                .collect(),
            poisoned: self.store.durability() == Durability::Unknown,
        }
    }
}
