//! `/v1/chains` and `/v1/executions`. To add a route: a file here with its `routes()`, and a line in [`routes`].

mod decide;
mod deliveries;
mod erase;
mod events;
mod execute;
mod history;

pub(super) use execute::{APPLIED, RUN_TIMEOUT, prefer, reply, wait};

use super::examples;
use super::parameters;
use crate::call::{Call, JSON, invalid_parameter};
use crate::openapi::component;
use crate::problem::Problem;
use crate::route::{
    Access, BodySpec, DOCUMENT_TIMEOUT, JSON_LIMIT, Parameter, ParameterPlace, Route, Success,
};
use axum::http::Method;
use mizzen_model::execution::ChainExecutionResult;
use mizzen_ops::Grant;
use serde_json::{Value, json};
use uuid::Uuid;

pub(super) const LOCATION: (&str, &str) = ("Location", "Where the execution is.");

/// The routes.
pub fn routes() -> Vec<Route> {
    let mut routes = execute::routes();
    routes.extend(history::routes());
    routes.extend(erase::routes());
    routes.extend(decide::routes());
    routes.extend(deliveries::routes());
    routes.extend(events::routes());
    routes
}

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
        handler: |call| Box::pin(history::list(call)),
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

fn uuid_schema() -> Value {
    json!({"type": "string", "format": "uuid", "pattern": mizzen_model::id::UUID_PATTERN})
}

/// The id in a parameter of the query.
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

fn text(result: &ChainExecutionResult) -> String {
    serde_json::to_string(result).unwrap_or_default()
}

fn location(id: Uuid) -> String {
    format!("/v1/executions/{id}")
}
