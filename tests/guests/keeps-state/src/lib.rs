//! Counts its calls. Every call is the first.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    use std::sync::atomic::{AtomicU32, Ordering};
    static CALLS: AtomicU32 = AtomicU32::new(0);
    json!({ "calls": CALLS.fetch_add(1, Ordering::Relaxed) + 1 })
}

mizzen_sdk::export_plugin! { namespace: "hostile.keeps-state", tools: [attack] }
