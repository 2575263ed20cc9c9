//! Reading executions: one, or pages of them.

use super::{base, id, page, text, uuid, uuid_schema};
use crate::call::{Call, Reply, invalid_parameter};
use crate::problem::{Code, Problem};
use crate::route::{Parameter, Route};
use crate::routes::parameters::{self, PAGE_DEFAULT, PAGE_MAX, query};
use mizzen_model::execution::ExecutionStatus;
use mizzen_ops::{ExecutionPlace, Executions, Host, List, RunFilter};
use serde_json::json;

/// No list is that long.
const OFFSET_MAX: usize = 1_000_000_000;

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
pub(super) fn routes() -> Vec<Route> {
    let mut of_chain = vec![id("The chain's id.")];
    of_chain.extend(history_parameters());
    let mut all = history_parameters();
    all.push(query(
        "council_id",
        "Only executions of this council.",
        uuid_schema(),
    ));
    all.push(query("chain_id", "Only executions of this chain.", uuid_schema()));
    all.push(query(
        "tool",
        "Only calls of this tool without a council.",
        json!({"type": "string", "minLength": 3, "maxLength": 256}),
    ));
    vec![
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
    ]
}

/// Filter, place and limit of a list.
struct Asked {
    filter: RunFilter,
    place: ExecutionPlace,
    limit: usize,
    offset: usize,
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

pub(super) async fn list(call: Call) -> Result<Reply, Problem> {
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
