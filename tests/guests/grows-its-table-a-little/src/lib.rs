//! Grows its table within its limit: shows that the other guest is refused and not merely unable.

use mizzen_sdk::prelude::*;

/// The tests replace this constant by `table.grow` by 10,000 elements, whose answer it becomes.
const GROW: i64 = -0x7ab1_e000_7ab1_e000;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "grown": (std::hint::black_box(0_i64) ^ GROW) > 0 })
}

mizzen_sdk::export_plugin! { namespace: "hostile.grows-its-table-a-little", tools: [attack] }
