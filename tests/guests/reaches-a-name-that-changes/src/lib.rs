//! Asks twice for a name that leads outside at the first look and inside at the second.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

#[input]
struct Attack {
    /// Where to go.
    urls: Vec<String>,
}

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:*"])]
fn attack(input: Attack) -> Value {
    let mut through = Vec::new();
    for url in input.urls {
        if let Ok(response) = Request::get(&url).send() {
            through.push(json!([url, response.status]));
        }
    }
    json!({ "through": through })
}

mizzen_sdk::export_plugin! { namespace: "hostile.reaches-a-name-that-changes", tools: [attack] }
