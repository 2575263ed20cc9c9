//! What a person does with an open execution: cancel it, or answer its escalation.

use super::{base, body, id, text};
use crate::call::{Call, Reply};
use crate::problem::{Code, Problem};
use crate::route::{Access, Route};
use axum::http::Method;
use mizzen_ops::Grant;
use serde_json::json;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route {
            method: Method::POST,
            path: "/v1/executions/{id}/cancel",
            operation: "cancelExecution",
            summary: "Cancel an execution",
            description: "Stops what it is doing. Cancelling twice is cancelling once.",
            access: Access::Needs(Grant::RunsCancel),
            parameters: vec![id("The execution's id.")],
            errors: vec![Code::ExecutionNotFound, Code::ExecutionEnded],
            handler: |call| Box::pin(cancel(call)),
            ..base()
        },
        Route {
            method: Method::POST,
            path: "/v1/executions/{id}/decision",
            operation: "decideExecution",
            summary: "Answer an escalation",
            description: "The same answer twice is one answer. Nothing is executed again.",
            access: Access::Needs(Grant::RunsRespond),
            parameters: vec![id("The execution's id.")],
            body: body(
                "DecisionRequest",
                json!({"decision": "approve", "escalation_id": "…", "reason": "checked by hand"}),
            ),
            errors: vec![
                Code::ExecutionNotFound,
                Code::EscalationNotFound,
                Code::DecisionConflict,
                Code::ExecutionEnded,
            ],
            handler: |call| Box::pin(decide(call)),
            ..base()
        },
    ]
}

async fn cancel(call: Call) -> Result<Reply, Problem> {
    let result = call
        .app
        .host
        .cancel_execution(&call.caller, call.id("id")?)
        .await?;
    Ok(Reply::json(text(&result)))
}

async fn decide(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let document = call.document().await?;
    let result = call
        .app
        .host
        .decide_execution(&call.caller, id, &document)
        .await?;
    Ok(Reply::json(text(&result)))
}
