//! Writes more lines than anybody wants, then answers. The call succeeds; the log is cut, and says by how much.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    for line in 0..5_000 {
        mizzen_sdk::log::info(&format!("line {line} {}", "x".repeat(100)));
    }
    json!({ "done": true })
}

mizzen_sdk::export_plugin! { namespace: "hostile.floods-the-log", tools: [attack] }
