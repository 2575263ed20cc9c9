//! `/v1/councils`.

use super::examples;
use super::parameters::{self, PAGE_DEFAULT, PAGE_MAX, query};
use crate::call::{Call, JSON, Reply};
use crate::openapi::component;
use crate::problem::{Code, Problem};
use crate::route::{Access, BodySpec, DOCUMENT_TIMEOUT, JSON_LIMIT, Parameter, Route, Success};
use axum::http::{Method, StatusCode, header};
use mizzen_ops::{Grant, List};
use serde_json::json;

const ETAG: (&str, &str) = ("ETag", "The revision, for If-Match.");

fn base() -> Route {
    Route {
        method: Method::GET,
        path: "/v1/councils",
        operation: "",
        tag: "councils",
        summary: "",
        description: "",
        access: Access::Needs(Grant::CouncilsRead),
        parameters: Vec::new(),
        body: None,
        success: Success {
            status: 200,
            description: "",
            content: None,
            example: None,
            headers: &[],
        },
        also: None,
        errors: Vec::new(),
        timeout: DOCUMENT_TIMEOUT,
        handler: |call| Box::pin(list(call)),
    }
}

fn id() -> Parameter {
    Parameter {
        example: Some(json!(examples::COUNCIL_ID)),
        ..parameters::id("The council's id.")
    }
}

/// The routes.
pub fn routes() -> Vec<Route> {
    let answer = |status, description, headers| Success {
        status,
        description,
        content: Some((JSON, component("Council"))),
        example: None,
        headers,
    };
    let body = || BodySpec {
        types: &[JSON],
        schema: Some("CouncilCreate"),
        example: Some(examples::council_draft()),
        limit: JSON_LIMIT,
    };
    let write_errors = vec![
        Code::InvalidGateAgent,
        Code::PackUnmountable,
        Code::SpriteNotFound,
        Code::GateAgentNotFound,
        Code::CouncilConflict,
        Code::RuleDenied,
    ];
    let update_errors = write_errors
        .iter()
        .copied()
        .chain([Code::CouncilNotFound, Code::ProtectedSprite])
        .collect();
    let domain = json!({"type": "string", "minLength": 1, "maxLength": 256});
    let mut list_parameters = vec![query("domain", "Only the council of this domain.", domain)];
    list_parameters.extend(parameters::page(List::Councils));
    vec![
        Route {
            method: Method::POST,
            operation: "createCouncil",
            summary: "Create a council",
            description: "Sprites are named by id or by name, here and in gates and steps (`sprite_id`): `SOL-FORGE` is the highest version, \
                          `SOL-FORGE@1.2.0` that one; the council keeps ids. Validates, in this order: domain, sprites and gate agents not empty; all sprites exist; all gate agents \
                          exist; gate agents are members; exactly one gate agent; the domain is unique. Then the chains and rules. \
                          What is accepted but will not work as it stands is listed in `warnings`.",
            access: Access::Needs(Grant::CouncilsWrite),
            parameters: vec![parameters::idempotency_key()],
            body: Some(body()),
            success: answer(201, "The council.", &[ETAG, ("Location", "Where it is.")]),
            errors: write_errors,
            handler: |call| Box::pin(create(call)),
            ..base()
        },
        Route {
            operation: "listCouncils",
            summary: "List councils",
            description: "Oldest first, in pages.",
            parameters: list_parameters,
            success: Success {
                status: 200,
                description: "A page of councils.",
                content: Some((JSON, component("CouncilPage"))),
                example: Some(json!({"councils": [], "next_cursor": null})),
                headers: &[],
            },
            ..base()
        },
        Route {
            path: "/v1/councils/{id}",
            operation: "getCouncil",
            summary: "Read a council",
            description: "`drift` lists the members whose sprite has changed in the registry since the council was written.",
            parameters: vec![id()],
            success: answer(200, "The council.", &[ETAG]),
            errors: vec![Code::CouncilNotFound],
            handler: |call| Box::pin(get(call)),
            ..base()
        },
        Route {
            method: Method::PUT,
            path: "/v1/councils/{id}",
            operation: "updateCouncil",
            summary: "Replace a council",
            description: "The validations of creation. Sprites are snapshotted anew; a chain that keeps its id keeps its history. \
                          Whatever takes a protected sprite, its protection or one of its steps out of the council (a chain \
                          without the step, no chains, a snapshot that is no longer protected) needs `force=true`.",
            access: Access::Needs(Grant::CouncilsWrite),
            parameters: vec![
                id(),
                parameters::force("Override the protection of sprites."),
                parameters::if_match(),
            ],
            body: Some(body()),
            success: answer(200, "The council as it is now.", &[ETAG]),
            errors: update_errors,
            handler: |call| Box::pin(update(call)),
            ..base()
        },
        Route {
            method: Method::DELETE,
            path: "/v1/councils/{id}",
            operation: "deleteCouncil",
            summary: "Delete a council",
            description: "Its sprites stay. A council with a protected sprite is deleted only with `force=true`.",
            access: Access::Needs(Grant::CouncilsWrite),
            parameters: vec![
                id(),
                parameters::force("Delete it although a member is protected."),
                parameters::if_match(),
            ],
            success: Success {
                status: 204,
                description: "It is deleted.",
                content: None,
                example: None,
                headers: &[],
            },
            errors: vec![Code::CouncilNotFound, Code::ProtectedSprite],
            handler: |call| Box::pin(delete(call)),
            ..base()
        },
    ]
}

async fn create(call: Call) -> Result<Reply, Problem> {
    let key = call.idempotency_key()?;
    let document = call.document().await?;
    let council = call.app.host.create_council(&call.caller, &document, key).await?;
    let location = format!("/v1/councils/{}", council.id);
    Ok(Reply::document(StatusCode::CREATED, council).header(header::LOCATION, &location))
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let domain = call.parameter("domain").map(str::to_owned);
    if let Some(domain) = domain
        .as_deref()
        .filter(|domain| domain.is_empty() || domain.chars().count() > 256)
    {
        return Err(crate::call::invalid_parameter(
            "domain",
            domain,
            "a text of 1 to 256 characters",
        ));
    }
    let limit = call.number("limit", (1, PAGE_MAX), PAGE_DEFAULT)?;
    let page = call
        .app
        .host
        .list_councils(domain, call.parameter("cursor"), limit)
        .await?;
    Ok(Reply::page("councils", page))
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let council = call.app.host.get_council(call.id("id")?).await?;
    Ok(Reply::document(StatusCode::OK, council))
}

async fn update(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let force = call.force()?;
    let document = call.document().await?;
    let host = &call.app.host;
    let council = host
        .update_council(&call.caller, id, &document, call.if_match(), force)
        .await?;
    Ok(Reply::document(StatusCode::OK, council))
}

async fn delete(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let force = call.force()?;
    call.app
        .host
        .delete_council(&call.caller, id, call.if_match(), force)
        .await?;
    Ok(Reply::no_content())
}
