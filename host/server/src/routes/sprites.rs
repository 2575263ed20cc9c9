//! `/v1/sprites`.

use super::examples;
use super::parameters::{self, PAGE_DEFAULT, PAGE_MAX, query};
use crate::call::{Call, JSON, Reply};
use crate::openapi::component;
use crate::problem::{Code, Problem};
use crate::route::{Access, BodySpec, DOCUMENT_TIMEOUT, JSON_LIMIT, Route, Success};
use axum::http::{Method, StatusCode, header};
use mizzen_model::sprite::Role;
use mizzen_ops::{Grant, List, SpriteFilter};
use serde_json::json;

const TYPES: &[&str] = &[JSON, "application/yaml", "application/x-yaml"];
const ETAG: (&str, &str) = ("ETag", "The revision, for If-Match and If-None-Match.");

fn body() -> BodySpec {
    BodySpec {
        types: TYPES,
        schema: Some("SpriteDraft"),
        example: Some(examples::sprite_draft()),
        limit: JSON_LIMIT,
    }
}

fn base() -> Route {
    Route {
        method: Method::GET,
        path: "/v1/sprites",
        operation: "",
        tag: "sprites",
        summary: "",
        description: "",
        access: Access::Needs(Grant::SpritesRead),
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

/// The routes.
pub fn routes() -> Vec<Route> {
    let id = || parameters::id("The sprite's id.");
    let answer = |status, description, headers| Success {
        status,
        description,
        content: Some((JSON, component("SpriteAnswer"))),
        example: None,
        headers,
    };
    let text = |max: usize| json!({"type": "string", "minLength": 1, "maxLength": max});
    let mut list_parameters = vec![
        query("name", "Only sprites of this name.", text(64)),
        query("tag", "Only sprites with this tag.", text(256)),
        query(
            "role",
            "Only sprites of this role.",
            json!({"type": "string", "enum": Role::NAMES}),
        ),
        query(
            "capability",
            "Only sprites with a capability of this name.",
            text(256),
        ),
    ];
    list_parameters.extend(parameters::page(List::Sprites));
    vec![
        Route {
            method: Method::POST,
            operation: "createSprite",
            summary: "Register a sprite",
            description: "Validates the sprite, reads a referenced prompt, sets id, times and fingerprint. A capability that \
                          nothing performs is accepted and listed in `unresolved`.",
            access: Access::Needs(Grant::SpritesWrite),
            parameters: vec![parameters::idempotency_key()],
            body: Some(body()),
            success: answer(201, "The sprite.", &[ETAG, ("Location", "Where it is.")]),
            errors: vec![Code::SpriteConflict],
            handler: |call| Box::pin(create(call)),
            ..base()
        },
        Route {
            operation: "listSprites",
            summary: "List sprites",
            description: "Oldest first, in pages. Filters match exactly, and all of them.",
            parameters: list_parameters,
            success: Success {
                status: 200,
                description: "A page of sprites.",
                content: Some((JSON, component("SpritePage"))),
                example: Some(json!({"sprites": [], "next_cursor": null})),
                headers: &[],
            },
            ..base()
        },
        Route {
            path: "/v1/sprites/{id}",
            operation: "getSprite",
            summary: "Read a sprite",
            parameters: vec![id(), parameters::if_none_match()],
            success: Success {
                content: Some((JSON, component("Sprite"))),
                ..answer(200, "The sprite.", &[ETAG])
            },
            also: Some(parameters::not_modified()),
            errors: vec![Code::SpriteNotFound],
            handler: |call| Box::pin(get(call)),
            ..base()
        },
        Route {
            method: Method::PUT,
            path: "/v1/sprites/{id}",
            operation: "updateSprite",
            summary: "Replace a sprite",
            description: "The same name and a greater version (SemVer precedence), else 409. The fingerprint is computed anew. \
                          Councils keep the snapshot they have.",
            access: Access::Needs(Grant::SpritesWrite),
            parameters: vec![id(), parameters::if_match()],
            body: Some(body()),
            success: answer(200, "The sprite as it is now.", &[ETAG]),
            errors: vec![
                Code::SpriteNotFound,
                Code::NameConflict,
                Code::VersionConflict,
                Code::SpriteConflict,
            ],
            handler: |call| Box::pin(update(call)),
            ..base()
        },
        Route {
            method: Method::DELETE,
            path: "/v1/sprites/{id}",
            operation: "deleteSprite",
            summary: "Delete a sprite",
            description: "A protected sprite, or one that a council holds, only with `force=true`. Councils keep their snapshots.",
            access: Access::Needs(Grant::SpritesWrite),
            parameters: vec![
                id(),
                parameters::force("Delete it although it is protected or a member of councils."),
                parameters::if_match(),
            ],
            success: Success {
                status: 204,
                description: "It is deleted.",
                content: None,
                example: None,
                headers: &[],
            },
            errors: vec![Code::SpriteNotFound, Code::ProtectedSprite, Code::SpriteInUse],
            handler: |call| Box::pin(delete(call)),
            ..base()
        },
        Route {
            path: "/v1/sprites/{id}/fingerprint",
            operation: "verifyFingerprint",
            summary: "Recompute a sprite's fingerprint",
            parameters: vec![id()],
            success: Success {
                status: 200,
                description: "The stored fingerprint, the computed one, and whether they are the same.",
                content: Some((JSON, component("FingerprintReport"))),
                example: None,
                headers: &[],
            },
            errors: vec![Code::SpriteNotFound],
            handler: |call| Box::pin(fingerprint(call)),
            ..base()
        },
    ]
}

async fn create(call: Call) -> Result<Reply, Problem> {
    let key = call.idempotency_key()?;
    let document = call.document().await?;
    let sprite = call.app.host.create_sprite(&call.caller, &document, key).await?;
    let location = format!("/v1/sprites/{}", sprite.id);
    Ok(Reply::document(StatusCode::CREATED, sprite).header(header::LOCATION, &location))
}

async fn list(call: Call) -> Result<Reply, Problem> {
    let text = |name: &str, most: usize| match call.parameter(name) {
        Some(value) if value.is_empty() || value.chars().count() > most => Err(
            crate::call::invalid_parameter(name, value, &format!("a text of 1 to {most} characters")),
        ),
        value => Ok(value.map(str::to_owned)),
    };
    let role = call.parameter("role").map(str::to_owned);
    if let Some(role) = role.as_deref().filter(|role| !Role::NAMES.contains(role)) {
        return Err(crate::call::invalid_parameter(
            "role",
            role,
            &format!("one of {}", Role::NAMES.join(", ")),
        ));
    }
    let filter = SpriteFilter {
        name: text("name", 64)?,
        tag: text("tag", 256)?,
        capability: text("capability", 256)?,
        role,
    };
    let limit = call.number("limit", (1, PAGE_MAX), PAGE_DEFAULT)?;
    let page = call
        .app
        .host
        .list_sprites(filter, call.parameter("cursor"), limit)
        .await?;
    Ok(Reply::page("sprites", page))
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let sprite = call.app.host.get_sprite(call.id("id")?).await?;
    Ok(Reply::document(StatusCode::OK, sprite))
}

async fn update(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let if_match = call.if_match();
    let document = call.document().await?;
    let sprite = call
        .app
        .host
        .update_sprite(&call.caller, id, &document, if_match)
        .await?;
    Ok(Reply::document(StatusCode::OK, sprite))
}

async fn delete(call: Call) -> Result<Reply, Problem> {
    let id = call.id("id")?;
    let force = call.force()?;
    call.app
        .host
        .delete_sprite(&call.caller, id, call.if_match(), force)
        .await?;
    Ok(Reply::no_content())
}

async fn fingerprint(call: Call) -> Result<Reply, Problem> {
    let report = call.app.host.verify_fingerprint(call.id("id")?).await?;
    let body = json!({"stored": report.stored, "computed": report.computed, "verified": report.verified});
    Ok(Reply::json(body.to_string()))
}
