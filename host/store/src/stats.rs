//! What a backend counts, for the metrics.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Upper bounds of the commit-duration histogram, in microseconds.
pub const COMMIT_BUCKETS: [u64; 8] = [500, 1_000, 2_500, 5_000, 10_000, 50_000, 250_000, 1_000_000];

/// Counters of a backend's transactions since start.
#[derive(Debug, Default)]
pub struct Stats {
    commits: AtomicU64,
    failed_commits: AtomicU64,
    writes: AtomicU64,
    micros: AtomicU64,
    buckets: [AtomicU64; COMMIT_BUCKETS.len()],
}

impl Stats {
    /// Counts a transaction of so many writes that was committed.
    pub fn committed(&self, writes: usize, took: Duration) {
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.writes
            .fetch_add(u64::try_from(writes).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.micros.fetch_add(micros, Ordering::Relaxed);
        for (bound, bucket) in COMMIT_BUCKETS.iter().zip(&self.buckets) {
            if micros <= *bound {
                bucket.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Counts a transaction that was not committed.
    pub fn failed(&self) {
        self.failed_commits.fetch_add(1, Ordering::Relaxed);
    }

    /// Transactions that were committed.
    pub fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    /// Transactions that were rolled back because of a fault.
    pub fn failed_commits(&self) -> u64 {
        self.failed_commits.load(Ordering::Relaxed)
    }

    /// Writes in the committed transactions; more than [`Stats::commits`] when writes were grouped.
    pub fn writes(&self) -> u64 {
        self.writes.load(Ordering::Relaxed)
    }

    /// Time spent in committed transactions, in microseconds.
    pub fn micros(&self) -> u64 {
        self.micros.load(Ordering::Relaxed)
    }

    /// Commits at or below each bound of [`COMMIT_BUCKETS`].
    pub fn buckets(&self) -> [u64; COMMIT_BUCKETS.len()] {
        std::array::from_fn(|index| {
            self.buckets
                .get(index)
                .map_or(0, |bucket| bucket.load(Ordering::Relaxed))
        })
    }
}
