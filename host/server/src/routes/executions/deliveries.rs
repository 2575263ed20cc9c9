//! The hooks of an execution.

use super::{base, id, page};
use crate::call::{Call, JSON, Reply, invalid_parameter};
use crate::problem::{Code, Problem};
use crate::route::{Access, Parameter, ParameterPlace, Route, Success};
use axum::http::{Method, StatusCode};
use mizzen_ops::Grant;
use serde_json::json;

/// No delivery has a greater number: what every JSON reader takes exactly.
const NUMBER_MAX: i64 = (1 << 53) - 1;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route {
            path: "/v1/executions/{id}/deliveries",
            operation: "listDeliveries",
            summary: "The hooks of an execution",
            description: "What its rules' hooks came to: pending, delivered or failed. They never change a decision.",
            parameters: vec![id("The execution's id.")],
            success: page("DeliveryList"),
            errors: vec![Code::ExecutionNotFound],
            handler: |call| Box::pin(deliveries(call)),
            ..base()
        },
        Route {
            method: Method::POST,
            path: "/v1/executions/{id}/deliveries/{number}/redeliver",
            operation: "redeliverHook",
            summary: "Deliver a hook again",
            description: "One that was given up: it is due at once, and is tried as often as a new one. One that is pending or was delivered is a 409.",
            access: Access::Needs(Grant::RunsRespond),
            parameters: vec![
                id("The execution's id."),
                Parameter {
                    name: "number",
                    place: ParameterPlace::Path,
                    description: "The delivery's number, from the list.",
                    schema: json!({"type": "integer", "minimum": 1, "maximum": NUMBER_MAX}),
                    example: Some(json!(7)),
                },
            ],
            success: Success {
                status: 202,
                description: "It is pending.",
                ..page("Delivery")
            },
            errors: vec![
                Code::ExecutionNotFound,
                Code::ExecutionErased,
                Code::DeliveryNotFound,
                Code::DeliveryConflict,
            ],
            handler: |call| Box::pin(redeliver(call)),
            ..base()
        },
    ]
}

async fn deliveries(call: Call) -> Result<Reply, Problem> {
    let deliveries = call.app.host.list_deliveries(call.id("id")?).await?;
    Ok(Reply::json(json!({ "deliveries": deliveries }).to_string()))
}

async fn redeliver(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let text = call.segment("number");
    let number = text
        .bytes()
        .all(|byte| byte.is_ascii_digit())
        .then(|| text.parse().ok())
        .flatten()
        .filter(|number| (1..=NUMBER_MAX).contains(number))
        .ok_or_else(|| invalid_parameter("number", text, "the number of a delivery"))?;
    let delivery = call.app.host.redeliver_hook(&call.caller, id, number).await?;
    Ok(Reply::new(StatusCode::ACCEPTED, JSON, delivery.to_string()))
}
