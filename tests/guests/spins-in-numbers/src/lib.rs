//! Runs for as long as it may, several times at once: more of it than there are threads. Each gets its share, and other calls
//! get theirs.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.spins-in-numbers", tools: [attack] }
