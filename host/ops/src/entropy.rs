//! Where ids and secrets come from.

use std::sync::atomic::{AtomicU64, Ordering};
use uuid::Uuid;

/// Gives random bytes.
pub trait Entropy: Send + Sync + std::fmt::Debug {
    /// Thirty-two random bytes, or none when the system has no entropy to give.
    fn bytes(&self) -> Option<[u8; 32]>;
}

/// The operating system's randomness.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    fn bytes(&self) -> Option<[u8; 32]> {
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).ok()?;
        Some(bytes)
    }
}

/// Counts instead of drawing: for tests and simulations that want the same ids every time.
#[derive(Debug, Default)]
pub struct CountingEntropy {
    count: AtomicU64,
}

impl Entropy for CountingEntropy {
    fn bytes(&self) -> Option<[u8; 32]> {
        let count = self.count.fetch_add(1, Ordering::SeqCst);
        Some(*blake3::hash(&count.to_be_bytes()).as_bytes())
    }
}

/// A random id (RFC 4122, version 4).
pub(crate) fn uuid(bytes: [u8; 32]) -> Uuid {
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(bytes) {
        *to = from;
    }
    uuid::Builder::from_random_bytes(half).into_uuid()
}

/// An id that sorts by time (RFC 9562, version 7): of things of which there are millions, so that new ones stand together in every
/// index and a write touches few pages.
pub(crate) fn uuid_at(now_ms: i64, bytes: [u8; 32]) -> Uuid {
    let mut tail = [0; 10];
    for (to, from) in tail.iter_mut().zip(bytes) {
        *to = from;
    }
    let millis = u64::try_from(now_ms).unwrap_or(0);
    uuid::Builder::from_unix_timestamp_millis(millis, &tail).into_uuid()
}
