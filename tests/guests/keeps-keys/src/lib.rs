//! Keeps something under its own keys; its neighbours try to find it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "write", permissions = ["kv:read", "kv:write"])]
fn attack() -> Result<Value, ToolError> {
    let before = mizzen_sdk::kv::get("treasure")?.is_some();
    mizzen_sdk::kv::set("treasure", b"doubloons")?;
    Ok(json!({ "before": before, "kept": mizzen_sdk::kv::get("treasure")?.is_some() }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.keeps-keys", tools: [attack] }
