//! What the operator set for this plugin. Needs the permission `config`.

use crate::ToolError;
use serde::de::DeserializeOwned;

/// The operator's settings, read into a type of the plugin's own.
pub fn get<T: DeserializeOwned>() -> Result<T, ToolError> {
    let text = text();
    serde_json::from_str(&text).map_err(|error| {
        ToolError::failed("BAD_CONFIG", format!("the plugin's settings do not fit: {error}"))
    })
}

fn text() -> String {
    #[cfg(target_family = "wasm")]
    {
        crate::bindings::mizzen::plugin::config::get()
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.config_text())
}
