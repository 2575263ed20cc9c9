//! Durable keys and values of the plugin's own. Needs `kv:read` and `kv:write`.

use crate::ToolError;
#[cfg(target_family = "wasm")]
use crate::bindings::mizzen::plugin::kv as host;

/// The value of a key, or none.
pub fn get(key: &str) -> Result<Option<Vec<u8>>, ToolError> {
    #[cfg(target_family = "wasm")]
    {
        host::get(key).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    Ok(crate::testing::with(|host| host.kv.get(key).cloned()))
}

/// Sets a key. `unavailable` when the plugin's quota is used up: the value is not stored then.
pub fn set(key: &str, value: &[u8]) -> Result<(), ToolError> {
    #[cfg(target_family = "wasm")]
    {
        host::set(key, value).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    {
        crate::testing::with(|host| host.kv.insert(key.to_owned(), value.to_owned()));
        Ok(())
    }
}

/// Removes a key. Returns whether there was one.
pub fn delete(key: &str) -> Result<bool, ToolError> {
    #[cfg(target_family = "wasm")]
    {
        host::delete(key).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    Ok(crate::testing::with(|host| host.kv.remove(key).is_some()))
}

/// At most `limit` keys that begin with `prefix` and come after `after`, in byte order.
pub fn list_keys(prefix: &str, after: Option<&str>, limit: u32) -> Result<Vec<String>, ToolError> {
    #[cfg(target_family = "wasm")]
    {
        host::list_keys(prefix, after, limit).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    Ok(crate::testing::with(|host| {
        host.kv
            .keys()
            .filter(|key| key.starts_with(prefix) && after.is_none_or(|after| key.as_str() > after))
            .take(usize::try_from(limit).unwrap_or(usize::MAX))
            .cloned()
            .collect()
    }))
}
