//! Says what the operator set for it. Honest: shows that settings are checked and arrive.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none", permissions = ["config"])]
fn attack() -> Result<Value, ToolError> {
    mizzen_sdk::config::get()
}

mizzen_sdk::export_plugin! { namespace: "hostile.tells-its-settings", tools: [attack] }
