//! Declares `random` and imports it, on a host where the operator has not granted it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none", permissions = ["random"])]
fn attack() -> Value {
    json!({ "bytes": mizzen_sdk::random::bytes(8).len() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.wants-randomness-that-is-not-granted", tools: [attack] }
