//! Answers, fails, spins or waits, as its input says. Honest: runs of chains are tried on it.

use mizzen_sdk::Context;
use mizzen_sdk::prelude::*;
use std::collections::BTreeMap;

#[input]
struct Orders {
    /// `answer`, `say`, `fail`, `refuse`, `break`, `spin` or `wait`.
    act: String,
    /// What is asked for; calls are counted by it.
    order: String,
    /// Fails this many times before it answers.
    times: u32,
}

fn obey(orders: &Orders, calls: u32, key: Option<&str>) -> Result<Value, ToolError> {
    if calls <= orders.times {
        return Err(ToolError::unavailable(format!("call {calls} of {}", orders.order)));
    }
    match orders.act.as_str() {
        "spin" => {
            let mut turns = 0_u64;
            loop {
                turns = std::hint::black_box(turns.wrapping_add(1));
            }
        }
        "say" => mizzen_sdk::log::info(&format!("order {} is told", orders.order)),
        "wait" => std::thread::sleep(std::time::Duration::from_secs(3600)),
        "fail" => return Err(ToolError::unavailable("as told")),
        "refuse" => return Err(ToolError::denied("as told")),
        "break" => return Err(ToolError::failed("OUT_OF_STOCK", "as told")),
        _ => {}
    }
    Ok(json!({ "order": orders.order, "calls": calls, "key": key }))
}

fn counted(order: &str) -> Result<u32, ToolError> {
    let before = mizzen_sdk::kv::get(order)?;
    let calls = before.and_then(|bytes| String::from_utf8(bytes).ok()?.parse().ok());
    Ok(calls.unwrap_or(0))
}

fn count(order: &str) -> Result<u32, ToolError> {
    let calls = counted(order)? + 1;
    mizzen_sdk::kv::set(order, calls.to_string().as_bytes())?;
    Ok(calls)
}

/// Touches nothing.
#[tool(side_effects = "none")]
fn act(orders: Orders, context: &Context) -> Result<Value, ToolError> {
    obey(&orders, 1, context.idempotency_key.as_deref())
}

/// Changes the world, and tells a repeated call by its key.
#[tool(side_effects = "write", permissions = ["kv:read", "kv:write"], idempotency_key = "order")]
fn keep(orders: Orders, context: &Context) -> Result<Value, ToolError> {
    let calls = count(&orders.order)?;
    obey(&orders, calls, context.idempotency_key.as_deref())
}

/// Changes the world, and cannot tell a repeated call from a second one.
#[tool(side_effects = "external", permissions = ["kv:read", "kv:write"])]
fn pay(orders: Orders, context: &Context) -> Result<Value, ToolError> {
    let calls = count(&orders.order)?;
    obey(&orders, calls, context.idempotency_key.as_deref())
}

/// How often something was kept or paid.
#[tool(side_effects = "read", permissions = ["kv:read"])]
fn calls(orders: Orders) -> Result<Value, ToolError> {
    Ok(json!({ "calls": counted(&orders.order)? }))
}

/// A gate agent's opinion: the chain's input says what it is.
#[tool(side_effects = "none")]
fn evaluate_gate(asked: BTreeMap<String, Value>) -> Value {
    let opinion = asked.get("input").and_then(|input| input.get("agent"));
    match opinion.and_then(Value::as_str) {
        None => json!({ "decision": "allow" }),
        Some("nonsense") => json!({ "decision": 7 }),
        Some(reason) => json!({ "decision": "veto", "reason": reason }),
    }
}

mizzen_sdk::export_plugin! { namespace: "hostile.does-as-told", tools: [act, keep, pay, calls, evaluate_gate] }
