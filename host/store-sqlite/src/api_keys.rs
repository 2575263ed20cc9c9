//! API keys in SQL.

use crate::audit;
use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use mizzen_store::{ApiKey, ApiKeys, CreateApiKey, Pending, RevokeApiKey};
use rusqlite::{Connection, OptionalExtension, params};
use std::convert::Infallible;

impl ApiKeys for Database {
    fn api_key(&self, id: String) -> Pending<'_, Option<ApiKey>> {
        self.look(move |connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
                .query_row([id], record)
                .optional()
        })
    }

    fn has_any_api_key(&self) -> Pending<'_, bool> {
        self.look(|connection| {
            connection
                .prepare_cached("SELECT 1 FROM api_keys LIMIT 1")?
                .exists([])
        })
    }

    fn list_api_keys(&self) -> Pending<'_, Vec<ApiKey>> {
        self.read(|connection| {
            connection
                .prepare(&format!("{SELECT} ORDER BY seq"))?
                .query_map([], record)?
                .collect()
        })
    }

    fn has_live_api_key(&self, now: i64) -> Pending<'_, bool> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)",
                )?
                .exists([now])
        })
    }
}

impl Perform for CreateApiKey {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        let Self { key, audit } = self;
        connection.execute(
            "INSERT INTO api_keys (id, name, digest, grants, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![key.id, key.name, key.digest, key.grants.join(" "), key.created_at, key.expires_at],
        )?;
        audit::append(connection, audit).map_err(Stop::Sql)
    }
}

impl Perform for RevokeApiKey {
    fn perform(&self, connection: &Connection) -> Result<bool, Stop<Infallible>> {
        let changed = connection.execute(
            "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
            params![self.id, self.at],
        )?;
        if changed > 0 {
            audit::append(connection, &self.audit)?;
        }
        Ok(changed > 0)
    }
}

const SELECT: &str = "SELECT id, name, grants, created_at, expires_at, revoked_at, digest FROM api_keys";

fn record(row: &rusqlite::Row<'_>) -> rusqlite::Result<ApiKey> {
    let grants: String = row.get(2)?;
    Ok(ApiKey {
        id: row.get(0)?,
        name: row.get(1)?,
        grants: grants.split_whitespace().map(str::to_owned).collect(),
        created_at: row.get(3)?,
        expires_at: row.get(4)?,
        revoked_at: row.get(5)?,
        digest: row.get(6)?,
    })
}
