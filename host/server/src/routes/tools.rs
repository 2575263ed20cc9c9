//! `/v1/tools/{id}`: one tool, read and called. The list of all is in `plugins.rs`, with everything else that plugins provide.

use super::executions::{APPLIED, LOCATION, RUN_TIMEOUT, answer, prefer, reply, wait};
use super::parameters;
use crate::call::{Call, JSON, Reply};
use crate::openapi::component;
use crate::problem::{Code, Problem};
use crate::route::{
    Access, BodySpec, DOCUMENT_TIMEOUT, JSON_LIMIT, Parameter, ParameterPlace, Route, Success,
};
use axum::http::Method;
use mizzen_ops::Grant;
use serde_json::json;

fn tool_id() -> Parameter {
    Parameter {
        name: "id",
        place: ParameterPlace::Path,
        description: "The tool's id: `namespace.name`.",
        schema: json!({"type": "string", "minLength": 3, "maxLength": 256}),
        example: Some(json!("hello.greet")),
    }
}

/// The routes.
pub fn routes() -> Vec<Route> {
    vec![
        Route {
            method: Method::GET,
            path: "/v1/tools/{id}",
            operation: "getTool",
            tag: "registry",
            summary: "Read a tool",
            description: "Its description with schemas; of several installed versions, the highest one.",
            access: Access::Needs(Grant::PluginsRead),
            parameters: vec![tool_id()],
            body: None,
            success: Success {
                status: 200,
                description: "The tool.",
                content: Some((JSON, component("Tool"))),
                example: None,
                headers: &[],
            },
            also: None,
            errors: vec![Code::ToolNotFound],
            timeout: DOCUMENT_TIMEOUT,
            handler: |call| Box::pin(get(call)),
        },
        Route {
            method: Method::POST,
            path: "/v1/tools/{id}/call",
            operation: "callTool",
            tag: "registry",
            summary: "Call a tool",
            description: "A run of one step, without a council: governed by the packs that the host mounts, journaled, and found among the \
                          executions. Answers when the call has ended: 200 also for one that failed, 409 for one that a pack stopped. \
                          202 when it waits for a person, or with `Prefer: respond-async`. It goes on when the client goes away.",
            access: Access::Needs(Grant::ToolsCall),
            parameters: vec![tool_id(), prefer(), parameters::idempotency_key()],
            body: Some(BodySpec {
                types: &[JSON],
                schema: Some("ToolCallRequest"),
                example: Some(json!({"input": {"name": "Ada"}})),
                limit: JSON_LIMIT,
            }),
            success: answer(200, "The call has ended.", &[LOCATION]),
            also: Some(answer(
                202,
                "The call waits for a person, or goes on by itself.",
                &[LOCATION, APPLIED],
            )),
            errors: vec![Code::ToolNotFound, Code::PackVeto, Code::TooManyRuns],
            timeout: RUN_TIMEOUT,
            handler: |call| Box::pin(call_tool(call)),
        },
    ]
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let tool = call.app.host.get_tool(call.segment("id"))?;
    Ok(Reply::json(tool.to_string()))
}

async fn call_tool(call: Call) -> Result<Reply, Problem> {
    let key = call.idempotency_key()?;
    let document = call.document().await?;
    let executed = call
        .app
        .host
        .call_tool(&call.caller, call.segment("id"), &document, key, wait(&call))
        .await?;
    reply(&call, executed).await
}
