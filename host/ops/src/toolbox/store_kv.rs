//! A plugin's keys and values in the host's store: durable, and behind the plugin's own name.

use mizzen_engine::ToolError;
use mizzen_sandbox::{KeyPage, KeyValue, Pending};
use mizzen_store::{KvLimits, Store, StoreError, WriteError};

/// The part of the store that belongs to one plugin. The name comes from the verified manifest, never from the guest.
pub struct StoreKv {
    store: Store,
    plugin: String,
    limits: KvLimits,
}

impl StoreKv {
    /// The values of this plugin.
    pub fn new(store: Store, plugin: &str, limits: KvLimits) -> Self {
        Self {
            store,
            plugin: plugin.to_owned(),
            limits,
        }
    }
}

/// What went wrong in the store is for the operator's log; the guest learns that it did not work.
fn unavailable(error: &StoreError) -> ToolError {
    tracing::error!(%error, "a plugin's values cannot be reached");
    ToolError::Unavailable("the key-value store cannot be reached now".into())
}

impl KeyValue for StoreKv {
    fn get<'a>(&'a self, key: &'a str) -> Pending<'a, Result<Option<Vec<u8>>, ToolError>> {
        Box::pin(async move {
            self.store
                .kv_get(&self.plugin, key)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn set<'a>(&'a self, key: &'a str, value: Vec<u8>) -> Pending<'a, Result<(), ToolError>> {
        Box::pin(async move {
            self.store
                .kv_set(&self.plugin, key, value, self.limits)
                .await
                .map_err(|error| match error {
                    WriteError::Refused(refused) => ToolError::Unavailable(refused.to_string()),
                    WriteError::Store(error) => unavailable(&error),
                })
        })
    }

    fn delete<'a>(&'a self, key: &'a str) -> Pending<'a, Result<bool, ToolError>> {
        Box::pin(async move {
            self.store
                .kv_delete(&self.plugin, key)
                .await
                .map_err(|error| unavailable(&error))
        })
    }

    fn list_keys<'a>(&'a self, asked: KeyPage<'a>) -> Pending<'a, Result<Vec<String>, ToolError>> {
        Box::pin(async move {
            let listed = self
                .store
                .kv_list(&self.plugin, asked.prefix, asked.after, asked.limit as usize)
                .await;
            listed.map_err(|error| unavailable(&error))
        })
    }
}
