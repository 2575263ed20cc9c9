//! Uses an interface that its manifest does not ask for.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "value": mizzen_sdk::kv::get("key").is_ok() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.imports-undeclared", tools: [attack] }
