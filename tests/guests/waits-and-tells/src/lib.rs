//! Waits for an answer from outside and then says which edition it is. Honest: the others are measured by it.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:*"])]
fn attack() -> Result<Value, ToolError> {
    Request::get("http://gate.example.com/").send()?;
    Ok(json!({ "edition": std::hint::black_box("edition-1") }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.waits-and-tells", tools: [attack] }
