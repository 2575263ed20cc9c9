//! API keys: only a digest of the secret is kept.

use crate::audit::{self, AuditEntry};
use crate::error::{Never, Stop, StoreError};
use crate::store::Store;
use rusqlite::{OptionalExtension, params};

/// A key to be stored.
#[derive(Debug, Clone)]
pub struct NewApiKey {
    /// Names the key in lists and logs; not secret.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// Digest of the secret. The secret itself is random and long, so a fast hash is enough.
    pub digest: [u8; 32],
    /// What it may do.
    pub grants: Vec<String>,
    /// Now, in milliseconds since 1970.
    pub created_at: i64,
    /// When it stops working.
    pub expires_at: Option<i64>,
}

/// A stored key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiKey {
    /// Names the key.
    pub id: String,
    /// What the operator calls it.
    pub name: String,
    /// Digest of the secret.
    pub digest: [u8; 32],
    /// What it may do.
    pub grants: Vec<String>,
    /// When it was made, in milliseconds since 1970.
    pub created_at: i64,
    /// When it stops working.
    pub expires_at: Option<i64>,
    /// When it was revoked.
    pub revoked_at: Option<i64>,
}

impl ApiKey {
    /// Whether the key works at `now`.
    pub fn is_live(&self, now: i64) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|expires| now < expires)
    }
}

impl Store {
    /// Stores a key.
    pub async fn create_api_key(&self, key: NewApiKey, audit: AuditEntry) -> Result<(), StoreError> {
        self.write::<_, Never, _>(move |connection| {
            connection.execute(
                "INSERT INTO api_keys (id, name, digest, grants, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                params![key.id, key.name, key.digest, key.grants.join(" "), key.created_at, key.expires_at],
            )?;
            audit::append(connection, &audit).map_err(Stop::Sql)
        })
        .await
        .map_err(Into::into)
    }

    /// A key by id; whoever asks compares the digests.
    pub async fn api_key(&self, id: String) -> Result<Option<ApiKey>, StoreError> {
        self.look(move |connection| {
            connection
                .prepare_cached(&format!("{SELECT} WHERE id = ?1"))?
                .query_row([id], record)
                .optional()
        })
        .await
    }

    /// Whether a key was ever made, working or not.
    pub async fn has_any_api_key(&self) -> Result<bool, StoreError> {
        self.look(|connection| {
            connection
                .prepare_cached("SELECT 1 FROM api_keys LIMIT 1")?
                .exists([])
        })
        .await
    }

    /// Every key, oldest first.
    pub async fn list_api_keys(&self) -> Result<Vec<ApiKey>, StoreError> {
        self.read(|connection| {
            connection
                .prepare(&format!("{SELECT} ORDER BY seq"))?
                .query_map([], record)?
                .collect()
        })
        .await
    }

    /// Whether a key exists that works at `now`.
    pub async fn has_live_api_key(&self, now: i64) -> Result<bool, StoreError> {
        self.read(move |connection| {
            connection
                .prepare_cached(
                    "SELECT 1 FROM api_keys WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ?1)",
                )?
                .exists([now])
        })
        .await
    }

    /// Revokes a key. Says whether there was one that was not revoked yet.
    pub async fn revoke_api_key(&self, id: String, at: i64, audit: AuditEntry) -> Result<bool, StoreError> {
        self.write::<_, Never, _>(move |connection| {
            let changed = connection.execute(
                "UPDATE api_keys SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL",
                params![id, at],
            )?;
            if changed > 0 {
                audit::append(connection, &audit)?;
            }
            Ok(changed > 0)
        })
        .await
        .map_err(Into::into)
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
