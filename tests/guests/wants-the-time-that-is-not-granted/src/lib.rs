//! Declares `clock` and imports it, on a host where the operator has not granted it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none", permissions = ["clock"])]
fn attack() -> Value {
    json!({ "now": mizzen_sdk::clock::now_ms() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.wants-the-time-that-is-not-granted", tools: [attack] }
