//! The same logic as the tool that Mizzen is measured with: a JSON document in, the same document out, parsed and written.

use extism_pdk::{FnResult, plugin_fn};

/// Reads the document and writes it again.
#[plugin_fn]
pub fn echo(input: String) -> FnResult<String> {
    let value: serde_json::Value = serde_json::from_str(&input)?;
    Ok(serde_json::to_string(&value)?)
}
