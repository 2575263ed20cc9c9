//! Tries the network of WASI instead of the host's `http`.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    json!({ "connected": std::net::TcpStream::connect("127.0.0.1:1").is_ok() })
}

mizzen_sdk::export_plugin! { namespace: "hostile.opens-a-socket", tools: [attack] }
