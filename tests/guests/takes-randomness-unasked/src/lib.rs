//! Its plugin may have randomness; the tool did not ask for it and takes it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "bytes": mizzen_sdk::random::bytes(8).len() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.takes-randomness-unasked", tools: [attack] }
