//! Keys and values of a plugin's own (the `kv` import): isolated by plugin name, with a quota that is checked in the
//! transaction that would exceed it.

use crate::error::{StoreError, WriteError};
use crate::port::port;
use crate::store::Store;

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

port! {
    /// Reads of what plugins keep.
    pub trait PluginKv {
        /// The value of a plugin's key.
        fn kv_get(plugin: &str, key: &str) -> Option<Vec<u8>>;

        /// At most `limit` of a plugin's keys that begin with `prefix` and come after `after`, in byte order.
        fn kv_list(plugin: &str, prefix: &str, after: Option<&str>, limit: usize) -> Vec<String>;

        /// What every plugin keeps, by name.
        fn kv_usage() -> Vec<KvUsage>;
    }
}

/// See [`Store::kv_set`].
#[derive(Debug)]
pub struct SetKv {
    /// The plugin.
    pub plugin: String,
    /// The key, no longer than it may be.
    pub key: String,
    /// The value, no longer than it may be.
    pub value: Vec<u8>,
    /// Bytes of all its keys and values. A value may always replace a larger one, also when the operator has lowered the quota.
    pub quota: u64,
}

/// See [`Store::kv_delete`].
#[derive(Debug)]
pub struct DeleteKv {
    /// The plugin.
    pub plugin: String,
    /// The key.
    pub key: String,
}

/// See [`Store::kv_clear`].
#[derive(Debug)]
pub struct ClearKv {
    /// The plugin.
    pub plugin: String,
}

impl Store {
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
        self.write(SetKv {
            plugin: plugin.to_owned(),
            key: key.to_owned(),
            value,
            quota: limits.quota,
        })
        .await
    }

    /// Removes a plugin's key. Returns whether there was one.
    pub async fn kv_delete(&self, plugin: &str, key: &str) -> Result<bool, StoreError> {
        let deleted = self.write(DeleteKv {
            plugin: plugin.to_owned(),
            key: key.to_owned(),
        });
        deleted.await.map_err(Into::into)
    }

    /// Removes everything a plugin keeps.
    pub async fn kv_clear(&self, plugin: &str) -> Result<(), StoreError> {
        let cleared = self.write(ClearKv {
            plugin: plugin.to_owned(),
        });
        cleared.await.map_err(Into::into)
    }
}
