//! Ends the process that it thinks it is.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    std::process::exit(0)
}

mizzen_sdk::export_plugin! { namespace: "hostile.exits", tools: [attack] }
