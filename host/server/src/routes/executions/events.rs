//! The journal of an execution as a stream.

use super::{base, header_parameter, id};
use crate::call::{Call, Reply, invalid_parameter};
use crate::event_stream;
use crate::problem::{Code, Problem};
use crate::route::{Route, Success};
use mizzen_ops::Refusal;
use serde_json::json;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![Route {
        path: "/v1/executions/{id}/events",
        operation: "streamExecutionEvents",
        summary: "Follow an execution",
        description: "Server-Sent Events: the journal from its beginning (or after `Last-Event-ID`) to the end of the execution, \
                          without gaps and without repetitions. The stream ends early when its key is revoked, expires or loses \
                          its grant.",
        parameters: vec![
            id("The execution's id."),
            header_parameter(
                "Last-Event-ID",
                "The id of the last event that was received.",
                json!({"type": "string", "pattern": "^[0-9]{1,15}$"}),
            ),
        ],
        success: Success {
            status: 200,
            description: "The events.",
            content: Some((event_stream::MEDIA_TYPE, json!({"type": "string"}))),
            example: None,
            headers: &[],
        },
        also: Some(Success {
            status: 204,
            description: "The execution has ended, and `Last-Event-ID` is its last event: there is nothing to come back for.",
            content: None,
            example: None,
            headers: &[],
        }),
        errors: vec![
            Code::ExecutionNotFound,
            Code::ExecutionErased,
            Code::TooManyEventStreams,
        ],
        handler: |call| Box::pin(events(call)),
        ..base()
    }]
}

async fn events(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let after = match call
        .headers
        .get("last-event-id")
        .map(|value| value.to_str().unwrap_or("?"))
    {
        None | Some("") => 0,
        Some(text) => text
            .bytes()
            .all(|byte| byte.is_ascii_digit())
            .then(|| text.parse().ok())
            .flatten()
            .ok_or_else(|| invalid_parameter("Last-Event-ID", text, "the id of an event"))?,
    };
    // Refused here and not in the stream: an unknown execution is a 404.
    let shown = call.app.host.execution(id).await?;
    if shown.erased.is_some() {
        return Err(Refusal::ExecutionErased(id).into());
    }
    // An EventSource comes back when a stream ends, and stays away after a 204.
    let has_all =
        after > 0 && shown.completed_at.is_some() && call.app.host.next_events(id, after).await?.is_none();
    if has_all {
        return Ok(Reply::no_content());
    }
    event_stream::reply(call, id, after)
}
