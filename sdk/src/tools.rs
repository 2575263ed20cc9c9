//! Calls of other tools. Needs `tools:NAMESPACE.NAME` for each; the callee runs with its own permissions only.

use crate::{ToolError, Value};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Calls the tool `namespace.name` (or `namespace.name@REQUIREMENT`) and waits for its output.
pub fn call<T: DeserializeOwned>(tool: &str, input: &impl Serialize) -> Result<T, ToolError> {
    let input = crate::exchange::write(input)?;
    let output = call_text(tool, &input)?;
    serde_json::from_str(&output).map_err(|error| {
        ToolError::failed(
            "BAD_OUTPUT",
            format!("the output of `{tool}` does not fit: {error}"),
        )
    })
}

/// The same with untyped JSON.
pub fn call_value(tool: &str, input: &Value) -> Result<Value, ToolError> {
    call(tool, input)
}

fn call_text(tool: &str, input: &str) -> Result<String, ToolError> {
    #[cfg(target_family = "wasm")]
    {
        crate::bindings::mizzen::plugin::tools::call(tool, input).map_err(Into::into)
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::answer_tool(tool, input)
}
