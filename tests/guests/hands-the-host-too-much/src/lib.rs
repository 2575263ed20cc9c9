//! Gives one host call an argument of 60 MB.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    mizzen_sdk::log::info(&"x".repeat(60 * 1024 * 1024));
    json!({ "done": true })
}

mizzen_sdk::export_plugin! { namespace: "hostile.hands-the-host-too-much", tools: [attack] }
