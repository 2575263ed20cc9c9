//! Idempotency keys in SQL: claimed in the transaction of the write itself.

use crate::database::Database;
use crate::error::Stop;
use mizzen_store::{Idempotency, IdempotencyKeys, IdempotencyMismatch, Pending, Recorded, Written};
use rusqlite::{Connection, OptionalExtension, params};

impl IdempotencyKeys for Database {
    fn recorded_answer(
        &self,
        idempotency: &Idempotency,
    ) -> Pending<'_, Result<Recorded, IdempotencyMismatch>> {
        let idempotency = idempotency.clone();
        self.read(move |connection| lookup(connection, &idempotency))
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
            params![idempotency.scope, idempotency.key, idempotency.forgotten_until()],
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
        .execute([idempotency.forgotten_until()])?;
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO idempotency_keys (scope, key, digest, answer, created_at) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?
        .execute(params![idempotency.scope, idempotency.key, idempotency.digest, answer, idempotency.at])?;
    Ok(Written::Now)
}
