//! `Idempotency-Key`: the answer to a write, stored in the transaction of the write itself.

use crate::error::{Stop, StoreError};
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};

/// How long a key is remembered, in milliseconds: a day.
const REMEMBERED: i64 = 24 * 60 * 60 * 1_000;

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

impl Store {
    /// Looks a key up before the work begins, so that a repeated request is not validated against what it made itself.
    pub async fn recorded_answer(
        &self,
        idempotency: &Idempotency,
    ) -> Result<Result<Recorded, IdempotencyMismatch>, StoreError> {
        let idempotency = idempotency.clone();
        self.read(move |connection| lookup(connection, &idempotency))
            .await
    }
}

fn lookup(
    connection: &Connection,
    idempotency: &Idempotency,
) -> rusqlite::Result<Result<Recorded, IdempotencyMismatch>> {
    let found: Option<([u8; 32], String)> = connection
        .prepare_cached(
            "SELECT digest, answer FROM idempotency_keys WHERE scope = ?1 AND key = ?2 AND created_at > ?3",
        )?
        .query_row(
            params![idempotency.scope, idempotency.key, idempotency.at - REMEMBERED],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .optional()?;
    Ok(match found {
        None => Ok(Recorded::Nothing),
        Some((digest, answer)) if digest == idempotency.digest => Ok(Recorded::Answer(answer)),
        Some(_) => Err(IdempotencyMismatch),
    })
}

/// Decides inside the write's transaction whether it is new, and records its answer when it is.
pub(crate) fn claim<R: From<IdempotencyMismatch>>(
    connection: &Connection,
    idempotency: Option<&Idempotency>,
    answer: &str,
) -> Result<Written, Stop<R>> {
    let Some(idempotency) = idempotency else {
        return Ok(Written::Now);
    };
    match lookup(connection, idempotency)? {
        Err(mismatch) => return Err(Stop::Refused(R::from(mismatch))),
        Ok(Recorded::Answer(answer)) => return Ok(Written::Before(answer)),
        Ok(Recorded::Nothing) => {}
    }
    // Old keys go a few at a time, with the writes that make new ones: no separate sweep, no long transaction.
    connection
        .prepare_cached(
            "DELETE FROM idempotency_keys WHERE (scope, key) IN (
                SELECT scope, key FROM idempotency_keys WHERE created_at <= ?1 ORDER BY created_at LIMIT 16)",
        )?
        .execute([idempotency.at - REMEMBERED])?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO idempotency_keys (scope, key, digest, answer, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![idempotency.scope, idempotency.key, idempotency.digest, answer, idempotency.at])?;
    Ok(Written::Now)
}
