//! Calls a neighbour that calls it back.

use mizzen_sdk::prelude::*;

#[input]
struct Attack {
    /// The tools that are still to be called, each by the one before.
    #[serde(default)]
    path: Vec<String>,
}

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["tools:hostile.*"])]
fn attack(input: Attack) -> Result<Value, ToolError> {
    let Some((next, rest)) = input.path.split_first() else {
        return Ok(json!({ "arrived": true }));
    };
    mizzen_sdk::tools::call_value(next, &json!({ "path": rest }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.calls-itself-through-another", tools: [attack] }
