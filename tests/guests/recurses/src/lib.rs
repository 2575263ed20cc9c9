//! Calls itself for ever: the stack must end before the host's does.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "depth": descend(std::hint::black_box(1)) })
}

/// Uses nothing but the machine's stack, and cannot become a loop: each level needs the result of the next one.
#[inline(never)]
fn descend(depth: u64) -> u64 {
    if depth == u64::MAX { 0 } else { descend(depth + 1).rotate_left(1) ^ depth }
}

mizzen_sdk::export_plugin! { namespace: "hostile.recurses", tools: [attack] }
