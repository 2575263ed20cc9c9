//! Answers with 100 MB of JSON that is valid otherwise.

use mizzen_sdk::prelude::*;

#[output]
struct Answer {
    text: String,
}

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Answer {
    Answer { text: "x".repeat(100 * 1024 * 1024) }
}

mizzen_sdk::export_plugin! { namespace: "hostile.returns-100-mb", tools: [attack] }
