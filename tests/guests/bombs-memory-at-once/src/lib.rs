//! Asks for more memory than there is in one piece.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let bomb = std::hint::black_box(vec![1_u8; 1024 * 1024 * 1024]);
    json!({ "got": bomb.len() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.bombs-memory-at-once", tools: [attack] }
