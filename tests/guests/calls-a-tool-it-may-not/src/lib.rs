//! Calls an installed tool that its permissions do not name.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none", permissions = ["tools:hostile.calls-a-tool-it-may-not.*"])]
fn attack() -> Result<Value, ToolError> {
    mizzen_sdk::tools::call_value("hostile.calls-itself.attack", &json!({}))
}

mizzen_sdk::export_plugin! { namespace: "hostile.calls-a-tool-it-may-not", tools: [attack] }
