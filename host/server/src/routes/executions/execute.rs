//! Executing chains: one, or all of a council.

use super::{LOCATION, answer, base, body, id, location, page, text};
use crate::call::{Call, JSON, Reply};
use crate::problem::{Code, Problem, vetoed};
use crate::route::{Access, Parameter, Route, Success};
use crate::routes::parameters;
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use mizzen_model::execution::ExecutionStatus;
use mizzen_ops::{Executed, Grant, Wait};
use serde_json::json;
use std::time::Duration;

/// A run ends by its own timeout, or waits for a person; a caller that waits for it is not given up before.
pub(in crate::routes) const RUN_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

const RESPOND_ASYNC: &str = "respond-async";
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");
pub(in crate::routes) const APPLIED: (&str, &str) = (
    "Preference-Applied",
    "`respond-async`, when that was preferred and is why the answer comes before the end.",
);

pub(in crate::routes) fn prefer() -> Parameter {
    super::header_parameter(
        "Prefer",
        "`respond-async`: answer 202 as soon as it is durable that it will be run.",
        json!({"type": "string", "maxLength": 1024}),
    )
}

/// The routes.
pub(super) fn routes() -> Vec<Route> {
    let ids = json!({"council": "engineering", "chain": "deliver", "input": {"user_prompt": "hello"}});
    vec![
        Route {
            method: Method::POST,
            path: "/v1/chains/execute",
            operation: "executeChain",
            tag: "chains",
            summary: "Execute a chain",
            description: "Names the council by `council_id` or by its domain (`council`), the chain by `chain_id` or by its name (`chain`). \
                          Answers when the execution has ended: 200 also for one that failed, 409 for one that a gate or a rule stopped. \
                          202 when it waits for a person, or with `Prefer: respond-async`. It goes on when the client goes away.",
            access: Access::Needs(Grant::RunsStart),
            parameters: vec![prefer(), parameters::idempotency_key()],
            body: body("ChainExecuteRequest", ids),
            success: answer(200, "The execution has ended.", &[LOCATION]),
            also: Some(answer(
                202,
                "The execution waits for a person, or goes on by itself.",
                &[LOCATION, APPLIED],
            )),
            errors: vec![
                Code::CouncilNotFound,
                Code::ChainNotFound,
                Code::GateVeto,
                Code::PackVeto,
                Code::RuleDenied,
                Code::TooManyRuns,
            ],
            timeout: RUN_TIMEOUT,
            handler: |call| Box::pin(execute(call)),
        },
        Route {
            method: Method::POST,
            path: "/v1/councils/{id}/execute-all",
            operation: "executeAll",
            summary: "Execute every chain of a council",
            description: "One after the other, in the council's order; what each came to is in its result. 202 with `Prefer: respond-async`.",
            access: Access::Needs(Grant::RunsStart),
            parameters: vec![id("The council's id."), prefer(), parameters::idempotency_key()],
            body: body("ExecuteAllRequest", json!({"input": {"user_prompt": "hello"}})),
            success: page("ExecutionList"),
            also: Some(Success {
                status: 202,
                description: "The executions go on by themselves.",
                headers: &[APPLIED],
                ..page("ExecutionList")
            }),
            errors: vec![Code::CouncilNotFound, Code::TooManyRuns],
            timeout: RUN_TIMEOUT,
            handler: |call| Box::pin(execute_all(call)),
            ..base()
        },
    ]
}

pub(in crate::routes) fn wait(call: &Call) -> Wait {
    if prefers_async(&call.headers) {
        Wait::ForStart
    } else {
        Wait::ForEnd
    }
}

/// RFC 7240: preferences are separated by commas, and each may have parameters.
fn prefers_async(headers: &HeaderMap) -> bool {
    let fields = headers.get_all("prefer").iter();
    let mut preferences = fields.flat_map(|value| value.to_str().unwrap_or_default().split(','));
    preferences.any(|preference| {
        let name = preference.split(';').next().unwrap_or_default();
        name.trim().eq_ignore_ascii_case(RESPOND_ASYNC)
    })
}

async fn execute(call: Call) -> Result<Reply, Problem> {
    let key = call.idempotency_key()?;
    let document = call.document().await?;
    let host = &call.app.host;
    let executed = host
        .execute_chain(&call.caller, &document, key, wait(&call))
        .await?;
    reply(&call, executed).await
}

/// What came of a request to run something.
pub(in crate::routes) async fn reply(call: &Call, executed: Executed) -> Result<Reply, Problem> {
    let host = &call.app.host;
    let place = location(executed.id());
    let reply = match &executed {
        // Of one that was erased nobody knows any more what was against it.
        Executed::Ended(result) if result.status == ExecutionStatus::Vetoed && result.erased.is_none() => {
            return Err(vetoed(result));
        }
        Executed::Ended(result) => Reply::json(result.text().to_owned()),
        Executed::Waiting(result) => Reply::new(StatusCode::ACCEPTED, JSON, text(result)),
        Executed::Accepted(id) => Reply::new(StatusCode::ACCEPTED, JSON, text(&host.execution(*id).await?)),
    };
    // RFC 7240, 3: a client can tell that its preference was understood. An execution that has ended anyway was waited for by nobody.
    let reply = match wait(call) {
        Wait::ForStart if reply.status == StatusCode::ACCEPTED => {
            reply.header(PREFERENCE_APPLIED, RESPOND_ASYNC)
        }
        Wait::ForStart | Wait::ForEnd => reply,
    };
    Ok(reply.header(header::LOCATION, &place))
}

async fn execute_all(call: Call) -> Result<Reply, Problem> {
    let council = call.id("id")?;
    let key = call.idempotency_key()?;
    let document = call.document().await?;
    let wait = wait(&call);
    let host = &call.app.host;
    let mut items = Vec::new();
    for executed in host
        .execute_all(&call.caller, council, &document, key, wait)
        .await?
    {
        items.push(match executed {
            Executed::Ended(result) => result.text().to_owned(),
            Executed::Waiting(result) => text(&result),
            Executed::Accepted(id) => text(&host.execution(id).await?),
        });
    }
    let body = format!("{{\"executions\":[{}]}}", items.join(","));
    Ok(match wait {
        Wait::ForEnd => Reply::json(body),
        Wait::ForStart => {
            Reply::new(StatusCode::ACCEPTED, JSON, body).header(PREFERENCE_APPLIED, RESPOND_ASYNC)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preference_is_found_among_others_and_with_parameters() {
        let check = |fields: &[&'static str], expected: bool| {
            let mut headers = HeaderMap::new();
            for field in fields {
                headers.append("prefer", axum::http::HeaderValue::from_static(field));
            }
            assert_eq!(prefers_async(&headers), expected, "{fields:?}");
        };
        check(&["respond-async"], true);
        check(&["Respond-Async; foo=1, wait=10"], true);
        check(&["wait=10", "return=minimal , respond-async"], true);
        check(&["wait=10"], false);
        check(&["no-respond-async"], false);
        check(&[], false);
    }
}
