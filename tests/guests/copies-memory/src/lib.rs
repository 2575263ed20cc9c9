//! Copies one half of its memory over the other again and again, with one instruction each time (`memory.copy`). Nothing interrupts an
//! instruction, and each takes as long as dozens of ticks.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let half = 120 << 20;
    let mut hold = vec![1_u8; 2 * half];
    loop {
        std::hint::black_box(&mut hold).copy_within(..half, half);
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.copies-memory", tools: [attack] }
