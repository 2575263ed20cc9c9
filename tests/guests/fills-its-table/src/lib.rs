//! Fills a large table again and again, with one instruction each time (`table.fill`). Rust has no word for it: the tests put the
//! instructions in.

use mizzen_sdk::prelude::*;

/// The tests replace this constant by `table.grow` by 10,000 elements, whose answer it becomes.
const GROW: i64 = -0x7ab1_e000_7ab1_e000;
/// The tests replace these two, and what connects them, by `table.fill` of the whole table.
const FILL: (i64, i64) = (-0x7ab1_f111_7ab1_f111, -0x7ab1_f222_7ab1_f222);

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let mut turns = std::hint::black_box(0_i64) ^ GROW;
    loop {
        turns = (std::hint::black_box(turns) ^ FILL.0).wrapping_add(FILL.1);
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.fills-its-table", tools: [attack] }
