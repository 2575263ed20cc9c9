//! Its plugin may know the time; the tool did not ask for it and sees a clock that stands still.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "now": mizzen_sdk::clock::now_ms() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.takes-the-time-unasked", tools: [attack] }
