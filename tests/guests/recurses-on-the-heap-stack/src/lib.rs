//! Recurses with large frames: overflows the stack that the guest keeps in its own memory, before the machine's.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "depth": descend(1) })
}

#[inline(never)]
fn descend(depth: u64) -> u64 {
    let frame = std::hint::black_box([depth; 512]);
    std::hint::black_box(descend(depth + 1)) + frame[511]
}

mizzen_sdk::export_plugin! { namespace: "hostile.recurses-on-the-heap-stack", tools: [attack] }
