//! Secrets that the operator gives by name. Needs the permission `secret:NAME` for each.

use crate::ToolError;

/// The secret's value. The host never writes it to a log or a journal; neither should the plugin.
pub fn get(name: &str) -> Result<String, ToolError> {
    #[cfg(target_family = "wasm")]
    {
        crate::bindings::mizzen::plugin::secrets::get(name).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.secret_value(name))
}
