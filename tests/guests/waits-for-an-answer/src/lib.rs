//! Waits in a host call for a server that never answers.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:*"])]
fn attack() -> Value {
    json!({ "answered": Request::get("http://silent.example.com/").send().is_ok() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.waits-for-an-answer", tools: [attack] }
