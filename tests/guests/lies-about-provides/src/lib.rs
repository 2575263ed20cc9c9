//! Says that it provides skills beside tools, and does not.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({})
}

mizzen_sdk::export_plugin! { namespace: "hostile.lies-about-provides", tools: [attack] }
