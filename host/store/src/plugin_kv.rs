//! Keys and values of a plugin's own (the `kv` import): isolated by plugin name, with a quota that is checked in the
//! transaction that would exceed it.

use crate::error::{Never, Stop, StoreError, WriteError};
use crate::store::Store;
use rusqlite::{Connection, OptionalExtension, params};

/// What a plugin may keep.
#[derive(Debug, Clone, Copy)]
pub struct KvLimits {
    /// Bytes of all its keys and values.
    pub quota: u64,
    /// Bytes of one key.
    pub key: usize,
    /// Bytes of one value.
    pub value: usize,
}

impl Default for KvLimits {
    fn default() -> Self {
        Self {
            quota: 16 << 20,
            key: 512,
            value: 1 << 20,
        }
    }
}

/// What a plugin keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KvUsage {
    /// The plugin.
    pub plugin: String,
    /// Bytes of its keys and values.
    pub bytes: u64,
}

/// Why a value was not stored.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KvRefused {
    /// The quota is used up.
    #[error("the quota of {quota} bytes would be exceeded: {needed} bytes are needed")]
    Quota {
        /// The quota.
        quota: u64,
        /// What all keys and values would take.
        needed: u64,
    },
    /// The key is empty or too long.
    #[error("the key has {bytes} bytes; between 1 and {limit} are allowed")]
    Key {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
    /// The value is too long.
    #[error("the value has {bytes} bytes; at most {limit} are allowed")]
    Value {
        /// Its length.
        bytes: usize,
        /// The limit.
        limit: usize,
    },
}

impl Store {
    /// The value of a plugin's key.
    pub async fn kv_get(&self, plugin: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let (plugin, key) = (plugin.to_owned(), key.to_owned());
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT value FROM plugin_kv WHERE plugin = ?1 AND key = ?2")?
                .query_row(params![plugin, key], |row| row.get(0))
                .optional()
        })
        .await
    }

    /// Sets a plugin's key.
    pub async fn kv_set(
        &self,
        plugin: &str,
        key: &str,
        value: Vec<u8>,
        limits: KvLimits,
    ) -> Result<(), WriteError<KvRefused>> {
        if key.is_empty() || key.len() > limits.key {
            return Err(WriteError::Refused(KvRefused::Key {
                bytes: key.len(),
                limit: limits.key,
            }));
        }
        if value.len() > limits.value {
            return Err(WriteError::Refused(KvRefused::Value {
                bytes: value.len(),
                limit: limits.value,
            }));
        }
        let (plugin, key) = (plugin.to_owned(), key.to_owned());
        self.write(move |connection| {
            let before = size(connection, &plugin, &key)?.unwrap_or(0);
            let after = bytes(key.len()).saturating_add(bytes(value.len()));
            let needed = used(connection, &plugin)?
                .saturating_sub(before)
                .saturating_add(after);
            // A smaller value may always replace a larger one, also when the operator has lowered the quota.
            if needed > limits.quota && after > before {
                return Err(Stop::Refused(KvRefused::Quota {
                    quota: limits.quota,
                    needed,
                }));
            }
            connection
                .prepare_cached(
                    "INSERT INTO plugin_kv (plugin, key, value) VALUES (?1, ?2, ?3)
                     ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value",
                )?
                .execute(params![plugin, key, value])?;
            set_used(connection, &plugin, needed)?;
            Ok(())
        })
        .await
    }

    /// Removes a plugin's key. Says whether there was one.
    pub async fn kv_delete(&self, plugin: &str, key: &str) -> Result<bool, StoreError> {
        let (plugin, key) = (plugin.to_owned(), key.to_owned());
        self.write::<_, Never, _>(move |connection| {
            let Some(before) = size(connection, &plugin, &key)? else {
                return Ok(false);
            };
            connection
                .prepare_cached("DELETE FROM plugin_kv WHERE plugin = ?1 AND key = ?2")?
                .execute(params![plugin, key])?;
            let left = used(connection, &plugin)?.saturating_sub(before);
            set_used(connection, &plugin, left)?;
            Ok(true)
        })
        .await
        .map_err(Into::into)
    }

    /// At most `limit` of a plugin's keys that begin with `prefix` and come after `after`, in byte order.
    pub async fn kv_list(
        &self,
        plugin: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Vec<String>, StoreError> {
        let (plugin, prefix, after) = (plugin.to_owned(), prefix.to_owned(), after.map(str::to_owned));
        self.read(move |connection| {
            let mut statement = connection.prepare_cached(
                "SELECT key FROM plugin_kv WHERE plugin = ?1 AND key >= ?2 AND (?3 IS NULL OR key > ?3)
                 ORDER BY key LIMIT ?4",
            )?;
            let rows = statement.query_map(
                params![plugin, prefix, after, i64::try_from(limit).unwrap_or(i64::MAX)],
                |row| row.get::<_, String>(0),
            )?;
            // Keys come in byte order from the prefix on, so the first one without it ends the list.
            rows.take_while(|key| key.as_ref().map_or(true, |key| key.starts_with(&prefix)))
                .collect()
        })
        .await
    }

    /// Removes everything a plugin keeps.
    pub async fn kv_clear(&self, plugin: &str) -> Result<(), StoreError> {
        let plugin = plugin.to_owned();
        self.write::<_, Never, _>(move |connection| {
            connection.execute("DELETE FROM plugin_kv WHERE plugin = ?1", [&plugin])?;
            connection.execute("DELETE FROM plugin_kv_usage WHERE plugin = ?1", [&plugin])?;
            Ok(())
        })
        .await
        .map_err(Into::into)
    }

    /// What every plugin keeps, by name.
    pub async fn kv_usage(&self) -> Result<Vec<KvUsage>, StoreError> {
        self.read(|connection| {
            connection
                .prepare("SELECT plugin, bytes FROM plugin_kv_usage ORDER BY plugin")?
                .query_map([], |row| {
                    Ok(KvUsage {
                        plugin: row.get(0)?,
                        bytes: row.get(1)?,
                    })
                })?
                .collect()
        })
        .await
    }
}

fn bytes(length: usize) -> u64 {
    u64::try_from(length).unwrap_or(u64::MAX)
}

fn size(connection: &Connection, plugin: &str, key: &str) -> rusqlite::Result<Option<u64>> {
    connection
        .prepare_cached(
            "SELECT length(CAST(key AS BLOB)) + length(value) FROM plugin_kv WHERE plugin = ?1 AND key = ?2",
        )?
        .query_row(params![plugin, key], |row| row.get(0))
        .optional()
}

fn used(connection: &Connection, plugin: &str) -> rusqlite::Result<u64> {
    let found = connection
        .prepare_cached("SELECT bytes FROM plugin_kv_usage WHERE plugin = ?1")?
        .query_row([plugin], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(0))
}

fn set_used(connection: &Connection, plugin: &str, bytes: u64) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO plugin_kv_usage (plugin, bytes) VALUES (?1, ?2)
             ON CONFLICT (plugin) DO UPDATE SET bytes = excluded.bytes",
        )?
        .execute(params![plugin, bytes])?;
    Ok(())
}
