//! Runs for ever without a host call. Only an epoch can stop it.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let mut turns = 0_u64;
    loop {
        turns = std::hint::black_box(turns.wrapping_add(1));
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.spins", tools: [attack] }
