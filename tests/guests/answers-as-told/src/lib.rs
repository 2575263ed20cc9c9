//! A tool with everything a descriptor can say. Honest: the stages of a call are tried on it.

use mizzen_sdk::Context;
use mizzen_sdk::prelude::*;

#[input]
struct Attack {
    /// What makes two calls the same call.
    order: String,
}

/// Does what the folder's name says.
#[tool(
    side_effects = "external",
    permissions = ["kv:read"],
    idempotency_key = "order",
    cost_estimate = "0.0025",
    tags = ["test"],
    deprecated
)]
fn attack(_input: Attack, context: &Context) -> Value {
    json!({ "key": context.idempotency_key })
}

mizzen_sdk::export_plugin! { namespace: "hostile.answers-as-told", tools: [attack] }
