//! Rate limits: a token bucket per name.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Names that are kept. Beyond it, full buckets are dropped first: they equal new ones.
const NAMES: usize = 8_192;

#[derive(Debug)]
pub(crate) struct RateLimit {
    per_second: f64,
    burst: f64,
    buckets: Mutex<HashMap<String, Bucket>>,
}

#[derive(Debug, Clone, Copy)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl RateLimit {
    pub(crate) fn new(per_second: u32, burst: u32) -> Self {
        Self {
            per_second: f64::from(per_second.max(1)),
            burst: f64::from(burst.max(1)),
            buckets: Mutex::new(HashMap::new()),
        }
    }

    /// Takes one token, or returns after how many seconds there will be one.
    pub(crate) fn take(&self, name: &str, now: Instant) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= NAMES && !buckets.contains_key(name) {
            buckets.retain(|_, bucket| self.filled(*bucket, now) < self.burst);
            if buckets.len() >= NAMES {
                return Err(1);
            }
        }
        let bucket = buckets.entry(name.to_owned()).or_insert(Bucket {
            tokens: self.burst,
            at: now,
        });
        let tokens = self.filled(*bucket, now);
        *bucket = Bucket { tokens, at: now };
        if tokens >= 1.0 {
            bucket.tokens = tokens - 1.0;
            return Ok(());
        }
        let seconds = ((1.0 - tokens) / self.per_second).ceil();
        // At most a burst of seconds: small, positive, exact.
        Err(if seconds < 1.0 { 1 } else { seconds as u64 })
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> f64 {
        let elapsed = now.saturating_duration_since(bucket.at).as_secs_f64();
        elapsed.mul_add(self.per_second, bucket.tokens).min(self.burst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_burst_is_served_then_refused_then_served_again_after_the_wait() {
        let limit = RateLimit::new(2, 3);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(limit.take("a", start), Ok(()));
        }
        assert_eq!(limit.take("a", start), Err(1));
        assert_eq!(limit.take("b", start), Ok(()), "another name has its own bucket");
        assert_eq!(limit.take("a", start + Duration::from_millis(500)), Ok(()));
        assert_eq!(limit.take("a", start + Duration::from_millis(500)), Err(1));
    }

    #[test]
    fn many_names_do_not_grow_the_table_without_bound() {
        let limit = RateLimit::new(1, 2);
        let start = Instant::now();
        for number in 0..NAMES * 2 {
            let _ = limit.take(&number.to_string(), start);
        }
        assert!(limit.buckets.lock().unwrap().len() <= NAMES);
        assert_eq!(limit.take("later", start + Duration::from_secs(60)), Ok(()));
    }
}
