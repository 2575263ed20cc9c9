//! Keeps values until its quota is used up.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "write", permissions = ["kv:read", "kv:write"])]
fn attack() -> Result<Value, ToolError> {
    let value = vec![7; 60 * 1024];
    for number in 0..100 {
        if let Err(error) = mizzen_sdk::kv::set(&format!("key {number}"), &value) {
            // What was kept is still there, and there is room again once something goes.
            mizzen_sdk::kv::delete("key 0")?;
            mizzen_sdk::kv::set("key again", &value)?;
            return Err(ToolError::failed("FULL", format!("after {} KiB: {error}", number * 60)));
        }
    }
    Ok(json!({ "kept": "everything" }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.fills-its-quota", tools: [attack] }
