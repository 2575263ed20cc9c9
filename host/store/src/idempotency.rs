//! `Idempotency-Key`: the answer to a write, stored in the transaction of the write itself.

use crate::port::port;

/// A caller's key and what it was used for.
#[derive(Debug, Clone)]
pub struct Idempotency {
    /// Whose key it is: two API keys never share one.
    pub scope: String,
    /// The key, as sent.
    pub key: String,
    /// Digest of the operation and its body.
    pub digest: [u8; 32],
    /// Now, in milliseconds since 1970.
    pub at: i64,
}

/// The key was used before, with another operation or body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the idempotency key was used before with another request")]
pub struct IdempotencyMismatch;

/// What is known of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recorded {
    /// Nothing: go on.
    Nothing,
    /// The same request was answered with this.
    Answer(String),
}

/// What came of a write that may carry a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// It was done now.
    Now,
    /// It was done before; this was the answer.
    Before(String),
}

impl Idempotency {
    /// How long a key is remembered, in milliseconds: a day.
    pub const REMEMBERED: i64 = 24 * 60 * 60 * 1_000;

    /// A key that was first used at this time or before is forgotten.
    pub fn forgotten_until(&self) -> i64 {
        self.at.saturating_sub(Self::REMEMBERED)
    }
}

port! {
    /// Reads of idempotency keys.
    pub trait IdempotencyKeys {
        /// Looks a key up before the work begins, so that a repeated request is not validated against what it made itself.
        fn recorded_answer(idempotency: &Idempotency) -> Result<Recorded, IdempotencyMismatch>;
    }
}
