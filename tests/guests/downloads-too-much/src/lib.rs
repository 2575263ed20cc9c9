//! Fetches an answer that is larger than any answer may be.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:*"])]
fn attack() -> Result<Value, ToolError> {
    let response = Request::get("http://endless.example.com/").send()?;
    Ok(json!({ "bytes": response.body.len() }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.downloads-too-much", tools: [attack] }
