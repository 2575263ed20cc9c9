//! Fills its memory again and again, with one instruction each time (`memory.fill`). Nothing interrupts an instruction, and each takes
//! as long as dozens of ticks: who counts ticks lets it run for dozens of times its limit.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let mut hold = vec![0_u8; 240 << 20];
    let mut turns = 0_u8;
    loop {
        turns = turns.wrapping_add(1);
        std::hint::black_box(&mut hold).fill(turns);
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.fills-memory", tools: [attack] }
