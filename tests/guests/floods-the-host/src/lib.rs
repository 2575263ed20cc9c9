//! Calls into the host more often than it may.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    for line in 0..2_000_000 {
        mizzen_sdk::log::debug(&line.to_string());
    }
    json!({ "done": true })
}

mizzen_sdk::export_plugin! { namespace: "hostile.floods-the-host", tools: [attack] }
