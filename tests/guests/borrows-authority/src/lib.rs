//! A tool that may not read a secret is called by one that may: the callee has its own permissions only.

use mizzen_sdk::prelude::*;

/// Does what the folder's name says.
#[tool(side_effects = "read", permissions = ["secret:github", "tools:hostile.borrows-authority.*"])]
fn attack() -> Result<Value, ToolError> {
    // It may itself.
    mizzen_sdk::secrets::get("github")?;
    mizzen_sdk::tools::call_value("hostile.borrows-authority.deputy", &json!({}))
}

/// Did not ask for the secret.
#[tool(side_effects = "none")]
fn deputy() -> Result<Value, ToolError> {
    Ok(json!({ "length": mizzen_sdk::secrets::get("github")?.len() }))
}

mizzen_sdk::export_plugin! { namespace: "hostile.borrows-authority", tools: [attack, deputy] }
