//! May reach one host, one port and one method, and tries others.

use mizzen_sdk::http::Request;
use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "external", permissions = ["net:GET@public.example.com:80"])]
fn attack() -> Value {
    let tries = [
        ("GET", "http://public.example.com/"),
        ("GET", "http://public.example.com:81/"),
        ("GET", "https://public.example.com/"),
        ("POST", "http://public.example.com/"),
        ("get", "http://public.example.com:8080/"),
        ("GET", "http://public.example.com.example.org/"),
        ("GET", "http://other.example.com/"),
        ("CONNECT", "http://public.example.com/"),
    ];
    let through = tries.map(|(method, url)| Request::new(method, url).send().is_ok());
    json!({ "through": through })
}

mizzen_sdk::export_plugin! { namespace: "hostile.reaches-another-port", tools: [attack] }
