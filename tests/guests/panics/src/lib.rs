//! Panics with a message that must reach its caller.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    panic!("the reef was not on the chart")
}

mizzen_sdk::export_plugin! { namespace: "hostile.panics", tools: [attack] }
