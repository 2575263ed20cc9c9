//! Waits inside of a host call, where no epoch reaches it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    std::thread::sleep(std::time::Duration::from_secs(3600));
    json!({ "slept": true })
}

mizzen_sdk::export_plugin! { namespace: "hostile.sleeps", tools: [attack] }
