//! Tools that call tools that call tools, deeper than the host goes.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none", permissions = ["tools:hostile.nests-too-deep.*"])]
fn attack() -> Result<Value, ToolError> {
    mizzen_sdk::tools::call_value("hostile.nests-too-deep.second", &json!({}))
}

/// One deeper.
#[tool(side_effects = "none", permissions = ["tools:hostile.nests-too-deep.*"])]
fn second() -> Result<Value, ToolError> {
    mizzen_sdk::tools::call_value("hostile.nests-too-deep.third", &json!({}))
}

/// One deeper.
#[tool(side_effects = "none", permissions = ["tools:hostile.nests-too-deep.*"])]
fn third() -> Result<Value, ToolError> {
    mizzen_sdk::tools::call_value("hostile.nests-too-deep.fourth", &json!({}))
}

/// One deeper.
#[tool(side_effects = "none", permissions = ["tools:hostile.nests-too-deep.*"])]
fn fourth() -> Result<Value, ToolError> {
    mizzen_sdk::tools::call_value("hostile.nests-too-deep.fifth", &json!({}))
}

/// Too deep.
#[tool(side_effects = "none")]
fn fifth() -> Value {
    json!({ "arrived": true })
}

mizzen_sdk::export_plugin! { namespace: "hostile.nests-too-deep", tools: [attack, second, third, fourth, fifth] }
