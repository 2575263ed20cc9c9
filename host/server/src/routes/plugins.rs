//! `/v1/plugins`: listed and changed; and what plugins provide: `/v1/tools`, `/v1/skills`, `/v1/stores`, `/v1/packs`.

use crate::access;
use crate::call::{Call, JSON, Reply, invalid_parameter};
use crate::openapi::component;
use crate::problem::{Code, Problem};
use crate::route::{Access, BodySpec, DOCUMENT_TIMEOUT, Handler, Parameter, ParameterPlace, Route, Success};
use axum::http::{Method, StatusCode};
use mizzen_model::manifest::Provides;
use mizzen_ops::{Approval, Caller, Direction, Grant, Host, OpError, Placement, PluginUpload, Switch};
use serde_json::{Value, json};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

/// The largest package that is taken; a host may be set to less.
const PACKAGE_LIMIT: usize = 64 << 20;
/// A new package is compiled before it is answered.
const COMPILE_TIMEOUT: Duration = Duration::from_secs(300);

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

fn plugin_name() -> Parameter {
    Parameter {
        name: "name",
        place: ParameterPlace::Path,
        description: "The plugin's name.",
        schema: json!({"type": "string", "minLength": 1, "maxLength": 64}),
        example: Some(json!("hello-plugin")),
    }
}

fn query(name: &'static str, description: &'static str, schema: Value) -> Parameter {
    Parameter {
        name,
        place: ParameterPlace::Query,
        description,
        schema,
        example: None,
    }
}

/// Of every change: an older version may have holes that a newer one mended.
fn downgrade() -> Parameter {
    query(
        "downgrade",
        "Go back to a version below the highest one that the host has had. Takes the grant admin.",
        json!({"type": "boolean", "default": false}),
    )
}

fn switch(path: &'static str, operation: &'static str, summary: &'static str, handler: Handler) -> Route {
    Route {
        method: Method::POST,
        path,
        operation,
        summary,
        description: "The plugin stays installed. What is refused leaves the running set as it was; calls in flight finish.",
        access: Access::Needs(Grant::PluginsWrite),
        parameters: vec![plugin_name(), downgrade()],
        success: Success {
            status: 200,
            description: "The state it has now.",
            content: Some((JSON, component("PluginState"))),
            example: None,
            headers: &[],
        },
        errors: vec![
            Code::PluginNotFound,
            Code::PluginDowngrade,
            Code::PluginRefused,
            Code::PluginsNotConfigured,
        ],
        timeout: COMPILE_TIMEOUT,
        handler,
        ..base()
    }
}

/// The routes that change what is installed.
fn changes() -> Vec<Route> {
    let flag = || json!({"type": "boolean", "default": false});
    vec![
        Route {
            method: Method::POST,
            operation: "installPlugin",
            summary: "Install or upgrade a plugin",
            description: "The body is a signed package. The whole set is checked, compiled and described with it before anything \
                          changes. It takes the place of older versions, unless `keep=true`. A package that asks for more than is \
                          granted, or for higher limits than the installed version has, is answered with 409 and the difference; `approve=true` allows it and takes the grant `admin`. So is a version \
                          below the highest one that the host has had; `downgrade=true` installs it and takes `admin`, too.",
            access: Access::Needs(Grant::PluginsWrite),
            parameters: vec![
                query(
                    "approve",
                    "Grant what the package asks for, and allow its limits. Takes the grant admin.",
                    flag(),
                ),
                query(
                    "keep",
                    "Keep the installed versions side by side with it.",
                    flag(),
                ),
                downgrade(),
            ],
            body: Some(BodySpec {
                types: &["application/wasm", "application/octet-stream"],
                schema: None,
                example: None,
                limit: PACKAGE_LIMIT,
            }),
            success: Success {
                status: 201,
                description: "What it asks for, compared to what it replaces.",
                content: Some((JSON, component("PluginChange"))),
                example: None,
                headers: &[("Location", "Where it is.")],
            },
            errors: vec![
                Code::ApprovalNeeded,
                Code::PluginConflict,
                Code::PluginDowngrade,
                Code::PluginRefused,
                Code::PluginsNotConfigured,
            ],
            timeout: COMPILE_TIMEOUT,
            handler: |call| Box::pin(install(call)),
            ..base()
        },
        Route {
            method: Method::DELETE,
            path: "/v1/plugins/{name}",
            operation: "removePlugin",
            summary: "Remove a plugin",
            description: "With its last version its grants go. Calls in flight finish.",
            access: Access::Needs(Grant::PluginsWrite),
            parameters: vec![
                plugin_name(),
                query(
                    "version",
                    "Which version, when several are installed.",
                    json!({"type": "string", "maxLength": 256}),
                ),
                downgrade(),
            ],
            success: Success {
                status: 204,
                description: "It is removed.",
                content: None,
                example: None,
                headers: &[],
            },
            errors: vec![
                Code::PluginNotFound,
                Code::PluginConflict,
                Code::PluginDowngrade,
                Code::PluginRefused,
                Code::PluginsNotConfigured,
            ],
            timeout: COMPILE_TIMEOUT,
            handler: |call| Box::pin(remove(call)),
            ..base()
        },
        switch(
            "/v1/plugins/{name}/enable",
            "enablePlugin",
            "Load a disabled plugin again",
            |call| Box::pin(switched(call, Switch::Enable)),
        ),
        switch(
            "/v1/plugins/{name}/disable",
            "disablePlugin",
            "Keep a plugin installed and do not load it",
            |call| Box::pin(switched(call, Switch::Disable)),
        ),
    ]
}

/// The routes.
pub fn routes() -> Vec<Route> {
    let mut routes = reads();
    routes.extend(changes());
    routes
}

fn reads() -> Vec<Route> {
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
            parameters: vec![plugin_name()],
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
        Route {
            parameters: vec![query(
                "tag",
                "Only tools with this tag.",
                json!({"type": "string", "minLength": 1, "maxLength": MAX_TAG}),
            )],
            ..listing("/v1/tools", "listTools", "List the tools", "ToolList", |call| {
                Box::pin(tools(call))
            })
        },
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

/// Characters of a tag.
const MAX_TAG: usize = 256;

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
    let host = &call.app.host;
    Ok(items(
        "tools",
        match call.parameter("tag") {
            Some(tag) if (1..=MAX_TAG).contains(&tag.chars().count()) => host.list_tools_tagged(tag),
            Some(tag) => return Err(invalid_parameter("tag", tag, "1 to 256 characters")),
            None => host.list_provided(Provides::Tool),
        },
    ))
}

async fn skills(call: Call) -> Result<Reply, Problem> {
    Ok(items("skills", call.app.host.list_provided(Provides::Skill)))
}

async fn stores(call: Call) -> Result<Reply, Problem> {
    Ok(items("stores", call.app.host.list_provided(Provides::Store)))
}

async fn packs(call: Call) -> Result<Reply, Problem> {
    Ok(items("packs", call.app.host.list_provided(Provides::Pack)))
}

/// Runs a change to its end even when the caller hangs up: it is written, or it is not, and it is audited.
async fn to_the_end<T, F>(call: &Call, change: impl FnOnce(Arc<Host>, Caller) -> F) -> Result<T, Problem>
where
    T: Send + 'static,
    F: Future<Output = Result<T, OpError>> + Send + 'static,
{
    let change = change(Arc::clone(&call.app.host), call.caller.clone());
    match tokio::spawn(change).await {
        Ok(done) => Ok(done?),
        Err(error) => {
            tracing::error!(%error, "a change of the plugins broke off");
            Err(Problem::internal())
        }
    }
}

/// From `downgrade=true`, which not everybody may say.
async fn direction(call: &Call, operation: &'static str) -> Result<Direction, Problem> {
    if !call.flag("downgrade")? {
        return Ok(Direction::Forward);
    }
    access::require(call, operation, Grant::Admin).await?;
    Ok(Direction::Either)
}

async fn install(call: Call) -> Result<Reply, Problem> {
    let approval = if call.flag("approve")? {
        access::require(&call, "installPlugin", Grant::Admin).await?;
        Approval::Given
    } else {
        Approval::Waiting
    };
    let placement = if call.flag("keep")? {
        Placement::Beside
    } else {
        Placement::Anyhow
    };
    let upload = PluginUpload {
        bytes: call.body.to_vec(),
        placement,
        approval,
        direction: direction(&call, "installPlugin").await?,
    };
    let change = to_the_end(&call, |host, caller| async move {
        host.install_plugin(&caller, upload).await
    })
    .await?;
    let name = change.get("plugin").and_then(Value::as_str).unwrap_or_default();
    let location = format!("/v1/plugins/{}", name.split('@').next().unwrap_or_default());
    Ok(Reply::new(StatusCode::CREATED, JSON, change.to_string())
        .header(axum::http::header::LOCATION, &location))
}

async fn remove(call: Call) -> Result<Reply, Problem> {
    let name = call.segment("name").to_owned();
    let version = call.parameter("version").map(str::to_owned);
    let direction = direction(&call, "removePlugin").await?;
    to_the_end(&call, |host, caller| async move {
        host.remove_plugin(&caller, &name, version.as_deref(), direction)
            .await
    })
    .await?;
    Ok(Reply::no_content())
}

async fn switched(call: Call, switch: Switch) -> Result<Reply, Problem> {
    let name = call.segment("name").to_owned();
    let operation = match switch {
        Switch::Enable => "enablePlugin",
        Switch::Disable => "disablePlugin",
    };
    let direction = direction(&call, operation).await?;
    let state = to_the_end(&call, |host, caller| async move {
        host.switch_plugin(&caller, &name, switch, direction).await
    })
    .await?;
    Ok(Reply::json(state.to_string()))
}
