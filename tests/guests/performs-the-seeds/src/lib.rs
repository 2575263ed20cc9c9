//! Performs the capabilities that the specification's examples name. Honest: the examples are run on it to the letter.

use mizzen_sdk::prelude::*;

#[input]
struct Specification {
    language: String,
    spec: String,
}

/// Generate production-ready code from a specification
#[tool(side_effects = "none")]
fn generate_code(input: Specification) -> Value {
    let _ = (input.language, input.spec);
    json!({ "code": "def hello(): ...", "confidence": 0.9 })
}

#[input]
struct Code {
    code: String,
}

/// Review a pull request
#[tool(side_effects = "none")]
fn review_pull_request(input: Code) -> Value {
    json!({ "approved": !input.code.is_empty(), "confidence": 0.9 })
}

#[input]
struct Approved {
    approved: bool,
}

/// Deploy what was approved
#[tool(side_effects = "none")]
fn deploy(input: Approved) -> Result<Value, ToolError> {
    if !input.approved {
        return Err(ToolError::failed("NOT_APPROVED", "the review did not approve it"));
    }
    Ok(json!({ "url": "https://iris.dev/hello", "confidence": 0.9 }))
}

mizzen_sdk::export_plugin! { namespace: "iris", tools: [generate_code, review_pull_request, deploy] }
