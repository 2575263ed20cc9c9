//! `/v1/audit`.

use super::parameters::{self, PAGE_DEFAULT, PAGE_MAX, query};
use crate::call::{Call, JSON, Reply, invalid_parameter};
use crate::openapi::component;
use crate::problem::Problem;
use crate::route::{Access, DOCUMENT_TIMEOUT, Route, Success};
use axum::http::Method;
use mizzen_ops::{AUDIT_OUTCOMES, AuditFilter, Grant, List};
use serde_json::{Value, json};

/// Characters of a text that a filter compares with.
const TEXT_MAX: usize = 256;

/// The routes.
pub fn routes() -> Vec<Route> {
    let time = || json!({"type": "string", "format": "date-time"});
    let text = || json!({"type": "string", "minLength": 1, "maxLength": TEXT_MAX});
    let mut parameters = vec![
        query("since", "Only what happened at or after this time.", time()),
        query("until", "Only what happened before this time.", time()),
        query(
            "actor",
            "Only what this caller did: the id of an API key, `local` or `anonymous`.",
            text(),
        ),
        query("action", "Only this operation, e.g. `create_sprite`.", text()),
        query("subject", "Only what was about this id or path.", text()),
        query(
            "outcome",
            "Only with this outcome.",
            json!({"type": "string", "enum": AUDIT_OUTCOMES}),
        ),
    ];
    parameters.extend(parameters::page(List::Audit));
    vec![Route {
        method: Method::GET,
        path: "/v1/audit",
        operation: "readAudit",
        tag: "audit",
        summary: "Read the audit log",
        description: "What every caller did and was refused, newest first. Every entry is hashed together with all before it; \
                      `mizzen doctor` checks the chain. With a filter a page may be empty and still have a next one.",
        access: Access::Needs(Grant::AuditRead),
        parameters,
        body: None,
        success: Success {
            status: 200,
            description: "A page of the log.",
            content: Some((JSON, component("AuditPage"))),
            example: Some(json!({"entries": [example()], "next_cursor": null})),
            headers: &[],
        },
        also: None,
        errors: Vec::new(),
        timeout: DOCUMENT_TIMEOUT,
        handler: |call| Box::pin(read(call)),
    }]
}

fn example() -> Value {
    json!({
        "seq": 7, "at": "2026-04-27T10:00:00Z", "actor": "local", "action": "create_sprite",
        "subject": super::examples::SPRITE_ID, "outcome": "done", "request_id": "req-1", "detail": {}, "hash": "0".repeat(64),
    })
}

async fn read(call: Call) -> Result<Reply, Problem> {
    let text = |name: &str| match call.parameter(name) {
        Some(text) if text.is_empty() || text.chars().count() > TEXT_MAX => {
            Err(invalid_parameter(name, text, "a text of 1 to 256 characters"))
        }
        other => Ok(other.map(str::to_owned)),
    };
    // A word that no entry has would find nothing, and look like a quiet log.
    let outcome = match call.parameter("outcome") {
        Some(text) if !AUDIT_OUTCOMES.contains(&text) => {
            let expected = format!("one of {}", AUDIT_OUTCOMES.join(", "));
            return Err(invalid_parameter("outcome", text, &expected));
        }
        other => other.map(str::to_owned),
    };
    let filter = AuditFilter {
        since: call.time("since")?,
        until: call.time("until")?,
        actor: text("actor")?,
        action: text("action")?,
        subject: text("subject")?,
        outcome,
    };
    let limit = call.number("limit", (1, PAGE_MAX), PAGE_DEFAULT)?;
    let page = call
        .app
        .host
        .read_audit(filter, call.parameter("cursor"), limit)
        .await?;
    Ok(Reply::page("entries", page))
}
