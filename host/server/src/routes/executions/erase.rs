//! Erasing executions that have ended.

use super::{base, id, page, uuid, uuid_schema};
use crate::call::{Call, Reply};
use crate::problem::{Code, Problem};
use crate::route::{Access, Parameter, ParameterPlace, Route, Success};
use crate::routes::parameters::query;
use axum::http::Method;
use mizzen_ops::{ErasureFilter, Grant, Sweep};
use serde_json::json;

/// Executions that one request erases; it is answered within its time.
const ERASED_AT_ONCE: u64 = 1_000;

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    vec![
        Route {
            method: Method::DELETE,
            path: "/v1/executions/{id}",
            operation: "eraseExecution",
            summary: "Erase an execution",
            description: "What callers and plugins wrote is erased: its journal, its result, what its hooks carried. Hashes and a statement \
                          that the host signs stay, so that an export still verifies and says what was erased. Erasing twice is erasing \
                          once. An execution that is open is a 409: cancel it first.",
            access: Access::Needs(Grant::RunsErase),
            parameters: vec![id("The execution's id.")],
            success: Success {
                status: 204,
                description: "It is erased.",
                content: None,
                example: None,
                headers: &[],
            },
            errors: vec![Code::ExecutionNotFound, Code::ExecutionOpen],
            handler: |call| Box::pin(erase(call)),
            ..base()
        },
        Route {
            method: Method::DELETE,
            operation: "eraseExecutions",
            summary: "Erase the executions of a council",
            description: "Those that have ended, oldest first, as `DELETE /v1/executions/{id}` does. At most 1,000 with one request: send it \
                          again while `more` is true. The council need not exist any more.",
            access: Access::Needs(Grant::RunsErase),
            parameters: vec![
                Parameter {
                    place: ParameterPlace::RequiredQuery,
                    ..query("council_id", "The council.", uuid_schema())
                },
                query(
                    "until",
                    "Only what ended before this time.",
                    json!({"type": "string", "format": "date-time"}),
                ),
            ],
            success: Success {
                description: "What was erased.",
                example: Some(json!({"erased": 12, "open": 0, "more": false})),
                ..page("ErasureReport")
            },
            handler: |call| Box::pin(erase_many(call)),
            ..base()
        },
    ]
}

async fn erase(call: Call) -> Result<Reply, Problem> {
    call.app
        .host
        .erase_execution(&call.caller, call.id("id")?)
        .await?;
    Ok(Reply::no_content())
}

async fn erase_many(call: Call) -> Result<Reply, Problem> {
    let until = call.time("until")?;
    // Never of everything by a parameter that was forgotten.
    let council = uuid(&call, "council_id")?.ok_or_else(|| {
        Problem::new(
            Code::ValidationError,
            "council_id says whose executions are to be erased; add it",
        )
        .with("parameter", "council_id")
    })?;
    let filter = ErasureFilter {
        council: Some(council),
        before: until,
    };
    let host = &call.app.host;
    let (mut sweep, mut erased) = (Sweep::of(&call.caller, filter), 0_u64);
    let more = loop {
        let left = ERASED_AT_ONCE.saturating_sub(erased);
        let swept = host
            .sweep(&mut sweep, usize::try_from(left).unwrap_or(usize::MAX))
            .await?;
        erased = erased.saturating_add(swept.erased);
        if !swept.more || erased >= ERASED_AT_ONCE {
            break swept.more;
        }
    };
    host.settle_sweep().await?;
    let open = host.count_open(filter).await?;
    Ok(Reply::json(
        json!({"erased": erased, "open": open, "more": more}).to_string(),
    ))
}
