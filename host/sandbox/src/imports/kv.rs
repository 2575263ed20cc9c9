//! `kv`: durable keys and values of the plugin's own.

use super::{absent, guest_error};
use crate::bindings::mizzen::plugin::{kv, types};
use crate::services::{KeyPage, KeyValue};
use crate::state::CallState;
use mizzen_model::permission::{Access, Use};
use std::sync::Arc;

/// Keys are names, not data.
const MAX_KEY: usize = 512;
/// The most keys of one page.
const MAX_PAGE: u32 = 1000;

type Answer<T> = wasmtime::Result<Result<T, types::Error>>;

impl CallState {
    fn open_kv(&mut self, access: Access, key: &str) -> Answer<Arc<dyn KeyValue>> {
        if let Err(denied) = self.check(&Use::Kv(access))? {
            return Ok(Err(denied));
        }
        if key.len() > MAX_KEY {
            let message = format!("a key has at most {MAX_KEY} bytes, this one has {}", key.len());
            return Ok(Err(types::Error::InvalidInput(types::InvalidInput {
                path: String::new(),
                message,
            })));
        }
        Ok(self
            .services()
            .kv
            .clone()
            .ok_or_else(|| absent("key-value store")))
    }
}

impl kv::Host for CallState {
    async fn get(&mut self, key: String) -> Answer<Option<Vec<u8>>> {
        let kv = match self.open_kv(Access::Read, &key)? {
            Ok(kv) => kv,
            Err(error) => return Ok(Err(error)),
        };
        Ok(kv.get(&key).await.map_err(guest_error))
    }

    async fn set(&mut self, key: String, value: Vec<u8>) -> Answer<()> {
        let kv = match self.open_kv(Access::Write, &key)? {
            Ok(kv) => kv,
            Err(error) => return Ok(Err(error)),
        };
        Ok(kv.set(&key, value).await.map_err(guest_error))
    }

    async fn delete(&mut self, key: String) -> Answer<bool> {
        let kv = match self.open_kv(Access::Write, &key)? {
            Ok(kv) => kv,
            Err(error) => return Ok(Err(error)),
        };
        Ok(kv.delete(&key).await.map_err(guest_error))
    }

    async fn list_keys(&mut self, prefix: String, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        let kv = match self.open_kv(Access::Read, &prefix)? {
            Ok(kv) => kv,
            Err(error) => return Ok(Err(error)),
        };
        let page = KeyPage {
            prefix: &prefix,
            after: after.as_deref(),
            limit: limit.min(MAX_PAGE),
        };
        Ok(kv.list_keys(page).await.map_err(guest_error))
    }
}
