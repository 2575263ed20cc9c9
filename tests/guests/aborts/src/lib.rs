//! Aborts without a word.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    std::process::abort()
}

mizzen_sdk::export_plugin! { namespace: "hostile.aborts", tools: [attack] }
