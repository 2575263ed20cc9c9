//! Answers with a little more than its limit.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "text": "x".repeat(64 * 1024) })
}

mizzen_sdk::export_plugin! { namespace: "hostile.returns-too-much", tools: [attack] }
