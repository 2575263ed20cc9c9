//! `/v1/chains` and `/v1/executions`.

use super::examples;
use super::parameters::{self, PAGE_DEFAULT, PAGE_MAX, query};
use crate::call::{Call, JSON, Reply, invalid_parameter};
use crate::event_stream;
use crate::openapi::component;
use crate::problem::{Code, Problem, vetoed};
use crate::route::{
    Access, BodySpec, DOCUMENT_TIMEOUT, JSON_LIMIT, Parameter, ParameterPlace, Route, Success,
};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use mizzen_ops::{
    ErasureFilter, Executed, ExecutionPlace, Executions, Grant, Host, List, Refusal, RunFilter, Sweep, Wait,
};
use serde_json::{Value, json};
use std::time::Duration;
use uuid::Uuid;

/// A run ends by its own timeout, or waits for a person; whoever waits for it is not given up before.
pub(super) const RUN_TIMEOUT: Duration = Duration::from_secs(7 * 24 * 60 * 60);
/// Executions that one request erases; it is answered within its time.
const ERASED_AT_ONCE: u64 = 1_000;
/// No delivery has a greater number: what every JSON reader takes exactly.
const NUMBER_MAX: i64 = (1 << 53) - 1;
/// No list is that long.
const OFFSET_MAX: usize = 1_000_000_000;

pub(super) const LOCATION: (&str, &str) = ("Location", "Where the execution is.");
pub(super) const APPLIED: (&str, &str) = (
    "Preference-Applied",
    "`respond-async`, when that was preferred and is why the answer comes before the end.",
);

fn base() -> Route {
    Route {
        method: Method::GET,
        path: "/v1/executions",
        operation: "",
        tag: "executions",
        summary: "",
        description: "",
        access: Access::Needs(Grant::RunsRead),
        parameters: Vec::new(),
        body: None,
        success: answer(200, "The execution.", &[]),
        also: None,
        errors: Vec::new(),
        timeout: DOCUMENT_TIMEOUT,
        handler: |call| Box::pin(list(call)),
    }
}

pub(super) fn answer(
    status: u16,
    description: &'static str,
    headers: &'static [(&'static str, &'static str)],
) -> Success {
    Success {
        status,
        description,
        content: Some((JSON, component("ChainExecutionResult"))),
        example: None,
        headers,
    }
}

fn page(schema: &str) -> Success {
    Success {
        status: 200,
        description: "What was asked for.",
        content: Some((JSON, component(schema))),
        example: None,
        headers: &[],
    }
}

fn body(schema: &'static str, example: Value) -> Option<BodySpec> {
    Some(BodySpec {
        types: &[JSON],
        schema: Some(schema),
        example: Some(example),
        limit: JSON_LIMIT,
    })
}

fn id(what: &'static str) -> Parameter {
    Parameter {
        example: Some(json!(examples::COUNCIL_ID)),
        ..parameters::id(what)
    }
}

fn header_parameter(name: &'static str, description: &'static str, schema: Value) -> Parameter {
    Parameter {
        name,
        place: ParameterPlace::Header,
        description,
        schema,
        example: None,
    }
}

pub(super) fn prefer() -> Parameter {
    header_parameter(
        "Prefer",
        "`respond-async`: answer 202 as soon as it is durable that it will be run.",
        json!({"type": "string", "maxLength": 1024}),
    )
}

fn history_parameters() -> Vec<Parameter> {
    let time = || json!({"type": "string", "format": "date-time"});
    let mut list = vec![
        query(
            "status",
            "Only executions with this status.",
            json!({"type": "string", "enum": ExecutionStatus::NAMES}),
        ),
        query(
            "since",
            "Only what ended (or, while open, began) at or after this time.",
            time(),
        ),
        query(
            "until",
            "Only what ended (or, while open, began) before this time.",
            time(),
        ),
        query(
            "offset",
            "How many executions to pass over.",
            json!({"type": "integer", "minimum": 0, "maximum": OFFSET_MAX, "default": 0}),
        ),
    ];
    list.extend(parameters::page(List::Executions));
    list
}

/// The routes.
pub fn routes() -> Vec<Route> {
    let ids = json!({"council": "engineering", "chain": "deliver", "input": {"user_prompt": "hello"}});
    let mut of_chain = vec![id("The chain's id.")];
    of_chain.extend(history_parameters());
    let mut all = history_parameters();
    let uuid = || json!({"type": "string", "format": "uuid", "pattern": mizzen_model::id::UUID_PATTERN});
    all.push(query("council_id", "Only executions of this council.", uuid()));
    all.push(query("chain_id", "Only executions of this chain.", uuid()));
    all.push(query(
        "tool",
        "Only calls of this tool without a council.",
        json!({"type": "string", "minLength": 3, "maxLength": 256}),
    ));
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
            path: "/v1/chains/{id}/history",
            operation: "getChainHistory",
            tag: "chains",
            summary: "The executions of a chain",
            description: "Newest first, by the time they ended (or began, while they are open). `total` is exact; with `since` or `until` \
                          no more than 10,000 are counted.",
            parameters: of_chain,
            success: page("ExecutionHistory"),
            errors: vec![Code::ChainNotFound],
            handler: |call| Box::pin(history(call)),
            ..base()
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
        Route {
            operation: "listExecutions",
            summary: "List executions",
            description: "Newest first, by the time they ended (or began, while they are open). `total` is exact; with `since` or `until` \
                          no more than 10,000 are counted.",
            parameters: all,
            success: page("ExecutionHistory"),
            ..base()
        },
        Route {
            path: "/v1/executions/{id}",
            operation: "getExecution",
            summary: "Read an execution",
            description: "Its result, or how far it has come.",
            parameters: vec![id("The execution's id.")],
            errors: vec![Code::ExecutionNotFound],
            handler: |call| Box::pin(get(call)),
            ..base()
        },
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
                    ..query("council_id", "The council.", uuid())
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
        Route {
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
        },
    ]
}

const RESPOND_ASYNC: &str = "respond-async";
const PREFERENCE_APPLIED: HeaderName = HeaderName::from_static("preference-applied");

pub(super) fn wait(call: &Call) -> Wait {
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

fn text(result: &ChainExecutionResult) -> String {
    serde_json::to_string(result).unwrap_or_default()
}

fn location(id: Uuid) -> String {
    format!("/v1/executions/{id}")
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
pub(super) async fn reply(call: &Call, executed: Executed) -> Result<Reply, Problem> {
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

/// Filter, place and limit of a list.
struct Asked {
    filter: RunFilter,
    place: ExecutionPlace,
    limit: usize,
    offset: usize,
}

fn uuid(call: &Call, name: &str) -> Result<Option<Uuid>, Problem> {
    let Some(text) = call.parameter(name) else {
        return Ok(None);
    };
    let id = mizzen_model::id::CouncilId::parse(text).map(|id| Some(id.uuid()));
    id.map_err(|_| {
        invalid_parameter(
            name,
            text,
            "a lowercase UUID such as 3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35",
        )
    })
}

fn asked(call: &Call) -> Result<Asked, Problem> {
    let status = match call.parameter("status") {
        None => None,
        Some(text) => Some(ExecutionStatus::parse(text).ok_or_else(|| {
            invalid_parameter(
                "status",
                text,
                &format!("one of {}", ExecutionStatus::NAMES.join(", ")),
            )
        })?),
    };
    let offset = call.number("offset", (0, OFFSET_MAX), 0)?;
    // A cursor says where the page begins; an offset beside it has nothing to add.
    let place = match call.parameter("cursor") {
        Some(cursor) => ExecutionPlace::Cursor(cursor.to_owned()),
        None => ExecutionPlace::Offset(u64::try_from(offset).unwrap_or(u64::MAX)),
    };
    Ok(Asked {
        filter: RunFilter {
            chain: uuid(call, "chain_id")?,
            council: uuid(call, "council_id")?,
            status: status.map(|status| status.as_str().to_owned()),
            since: call.time("since")?,
            until: call.time("until")?,
        },
        place,
        limit: call.number("limit", (1, PAGE_MAX), PAGE_DEFAULT)?,
        offset,
    })
}

fn rendered(page: &Executions, limit: usize, offset: usize) -> Reply {
    // Exactly the seed's four members; a fifth only where there is another page.
    let next = page
        .next_cursor
        .as_ref()
        .map_or_else(String::new, |cursor| format!(",\"next_cursor\":\"{cursor}\""));
    Reply::json(format!(
        "{{\"executions\":[{}],\"total\":{},\"limit\":{limit},\"offset\":{offset}{next}}}",
        page.items.join(","),
        page.total
    ))
}

async fn history(call: Call) -> Result<Reply, Problem> {
    let chain = call.id("id")?;
    let Asked {
        filter,
        place,
        limit,
        offset,
    } = asked(&call)?;
    let page = call.app.host.chain_history(chain, filter, place, limit).await?;
    Ok(rendered(&page, limit, offset))
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let Asked {
        mut filter,
        place,
        limit,
        offset,
    } = asked(&call)?;
    // No execution is of a chain and of another tool. The other parameters are read all the same.
    let mut is_of_none = false;
    if let Some(tool) = call.parameter("tool") {
        let chain = Host::executions_of_tool(tool);
        is_of_none = filter.chain.replace(chain).is_some_and(|other| other != chain);
    }
    let page = call.app.host.list_executions(filter, place, limit).await?;
    let page = if is_of_none { Executions::default() } else { page };
    Ok(rendered(&page, limit, offset))
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let result = call.app.host.execution(call.id("id")?).await?;
    Ok(Reply::json(text(&result)))
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
