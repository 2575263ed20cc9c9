//! Looks for files, arguments, the environment, the time and standard input. Finds nothing at all.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "none")]
fn attack() -> Value {
    let files = std::fs::read_dir("/").map_or(0, |entries| entries.count());
    let secrets = std::fs::read_to_string("/etc/passwd").is_ok() || std::fs::write("/out", "x").is_ok();
    let mut line = String::new();
    let typed = std::io::stdin().read_line(&mut line).unwrap_or(0);
    json!({
        "files": files,
        "secrets": secrets,
        "arguments": std::env::args().count(),
        "environment": std::env::vars().count(),
        "typed": typed,
    })
}

mizzen_sdk::export_plugin! { namespace: "hostile.snoops", tools: [attack] }
