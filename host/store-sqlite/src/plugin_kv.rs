//! What plugins keep, in SQL: the quota is checked in the transaction that would exceed it.

use crate::database::Database;
use crate::error::Stop;
use crate::job::Perform;
use mizzen_store::{ClearKv, DeleteKv, KvRefused, KvUsage, Pending, PluginKv, SetKv};
use rusqlite::{Connection, OptionalExtension, params};
use std::convert::Infallible;

impl PluginKv for Database {
    fn kv_get(&self, plugin: &str, key: &str) -> Pending<'_, Option<Vec<u8>>> {
        let (plugin, key) = (plugin.to_owned(), key.to_owned());
        self.read(move |connection| {
            connection
                .prepare_cached("SELECT value FROM plugin_kv WHERE plugin = ?1 AND key = ?2")?
                .query_row(params![plugin, key], |row| row.get(0))
                .optional()
        })
    }

    fn kv_list(
        &self,
        plugin: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
    ) -> Pending<'_, Vec<String>> {
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
    }

    fn kv_usage(&self) -> Pending<'_, Vec<KvUsage>> {
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
    }
}

impl Perform for SetKv {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<KvRefused>> {
        let Self {
            plugin,
            key,
            value,
            quota,
        } = self;
        let before = size(connection, plugin, key)?.unwrap_or(0);
        let after = bytes(key.len()).saturating_add(bytes(value.len()));
        let needed = used(connection, plugin)?
            .saturating_sub(before)
            .saturating_add(after);
        if needed > *quota && after > before {
            return Err(Stop::Refused(KvRefused::Quota {
                quota: *quota,
                needed,
            }));
        }
        connection
            .prepare_cached(
                "INSERT INTO plugin_kv (plugin, key, value) VALUES (?1, ?2, ?3)
                 ON CONFLICT (plugin, key) DO UPDATE SET value = excluded.value",
            )?
            .execute(params![plugin, key, value])?;
        set_used(connection, plugin, needed)?;
        Ok(())
    }
}

impl Perform for DeleteKv {
    fn perform(&self, connection: &Connection) -> Result<bool, Stop<Infallible>> {
        let Self { plugin, key } = self;
        let Some(before) = size(connection, plugin, key)? else {
            return Ok(false);
        };
        connection
            .prepare_cached("DELETE FROM plugin_kv WHERE plugin = ?1 AND key = ?2")?
            .execute(params![plugin, key])?;
        let left = used(connection, plugin)?.saturating_sub(before);
        set_used(connection, plugin, left)?;
        Ok(true)
    }
}

impl Perform for ClearKv {
    fn perform(&self, connection: &Connection) -> Result<(), Stop<Infallible>> {
        connection.execute("DELETE FROM plugin_kv WHERE plugin = ?1", [&self.plugin])?;
        connection.execute("DELETE FROM plugin_kv_usage WHERE plugin = ?1", [&self.plugin])?;
        Ok(())
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
