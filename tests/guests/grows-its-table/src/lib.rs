//! Grows its table while it runs, beyond its limit. Rust has no word for it: the tests put the instruction in.

use mizzen_sdk::prelude::*;

/// The tests replace this constant by `table.grow` by 10,000 elements, whose answer it becomes.
const GROW: i64 = -0x7ab1_e000_7ab1_e000;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "size_before": std::hint::black_box(0_i64) ^ GROW })
}

mizzen_sdk::export_plugin! { namespace: "hostile.grows-its-table", tools: [attack] }
