//! Reaches a private address under a grant that names the host in full, on a host that lists it. Honest: shows what `net:*` does not give.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:inside.example.com"])]
fn attack() -> Result<Value, ToolError> {
    let response = Request::get("http://inside.example.com/").send()?;
    Ok(json!({ "status": response.status }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.reaches-a-host-by-its-name", tools: [attack] }
