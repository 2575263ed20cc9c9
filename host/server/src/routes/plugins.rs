//! `/v1/plugins`, and what plugins provide: `/v1/tools`, `/v1/skills`, `/v1/stores`, `/v1/packs`.

use crate::call::{Call, JSON, Reply};
use crate::openapi::component;
use crate::problem::{Code, Problem};
use crate::route::{Access, DOCUMENT_TIMEOUT, Handler, Parameter, Place, Route, Success};
use axum::http::Method;
use mizzen_ops::{Grant, Kind};
use serde_json::{Value, json};

fn base() -> Route {
    Route {
        method: Method::GET,
        path: "/v1/plugins",
        operation: "",
        tag: "plugins",
        summary: "",
        description: "",
        access: Access::Needs(Grant::PluginsRead),
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

fn listing(
    path: &'static str,
    operation: &'static str,
    summary: &'static str,
    schema: &'static str,
    handler: Handler,
) -> Route {
    Route {
        path,
        operation,
        tag: "registry",
        summary,
        success: Success {
            status: 200,
            description: "All of them, by id.",
            content: Some((JSON, component(schema))),
            example: None,
            headers: &[],
        },
        handler,
        ..base()
    }
}

/// The routes.
pub fn routes() -> Vec<Route> {
    vec![
        Route {
            tag: "plugins",
            ..listing(
                "/v1/plugins",
                "listPlugins",
                "List the installed plugins",
                "PluginList",
                |call| Box::pin(list(call)),
            )
        },
        Route {
            path: "/v1/plugins/{name}",
            operation: "getPlugin",
            summary: "Read a plugin",
            description: "Manifest, digest, signatures, trust decision, grants, limits, and what it provides.",
            parameters: vec![Parameter {
                name: "name",
                place: Place::Path,
                description: "The plugin's name.",
                schema: json!({"type": "string", "minLength": 1, "maxLength": 64}),
                example: Some(json!("hello-plugin")),
            }],
            success: Success {
                status: 200,
                description: "The plugin.",
                content: Some((JSON, component("Plugin"))),
                example: None,
                headers: &[],
            },
            errors: vec![Code::PluginNotFound],
            handler: |call| Box::pin(get(call)),
            ..base()
        },
        listing("/v1/tools", "listTools", "List the tools", "ToolList", |call| {
            Box::pin(tools(call))
        }),
        listing(
            "/v1/skills",
            "listSkills",
            "List the skills",
            "SkillList",
            |call| Box::pin(skills(call)),
        ),
        listing(
            "/v1/stores",
            "listStores",
            "List the stores",
            "StoreList",
            |call| Box::pin(stores(call)),
        ),
        listing(
            "/v1/packs",
            "listPacks",
            "List the governance packs",
            "PackList",
            |call| Box::pin(packs(call)),
        ),
    ]
}

fn items(name: &str, items: Vec<Value>) -> Reply {
    Reply::json(json!({ name: items }).to_string())
}

async fn list(call: Call) -> Result<Reply, Problem> {
    Ok(items("plugins", call.app.host.list_plugins()))
}

async fn get(call: Call) -> Result<Reply, Problem> {
    let plugin = call.app.host.get_plugin(call.segment("name"))?;
    Ok(Reply::json(plugin.to_string()))
}

async fn tools(call: Call) -> Result<Reply, Problem> {
    Ok(items("tools", call.app.host.list_provided(Kind::Tool)))
}

async fn skills(call: Call) -> Result<Reply, Problem> {
    Ok(items("skills", call.app.host.list_provided(Kind::Skill)))
}

async fn stores(call: Call) -> Result<Reply, Problem> {
    Ok(items("stores", call.app.host.list_provided(Kind::Store)))
}

async fn packs(call: Call) -> Result<Reply, Problem> {
    Ok(items("packs", call.app.host.list_provided(Kind::Pack)))
}
