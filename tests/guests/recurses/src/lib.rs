//! Calls itself for ever: the stack must end before the host's does.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "depth": descend(1) })
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let depth = std::hint::black_box(depth);
    // Used after the call, so that it cannot become a loop.
    std::hint::black_box(descend(depth + 1)) + depth
}

mizzen_sdk::export_plugin! { namespace: "hostile.recurses", tools: [attack] }
