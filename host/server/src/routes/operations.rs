//! What operators and tools look at: health, metrics, the API's own description.

use super::examples;
use crate::call::{Call, JSON, Reply};
use crate::metrics;
use crate::openapi::component;
use crate::problem::Problem;
use crate::route::{Access, DOCUMENT_TIMEOUT, Route, Success};
use axum::http::{Method, StatusCode, header};
use mizzen_ops::{Grant, State};
use serde_json::{Value, json};

fn base() -> Route {
    Route {
        method: Method::GET,
        path: "/health",
        operation: "healthCheck",
        tag: "operations",
        summary: "How the host is",
        description: "Every part is asked. 503 when one is degraded or unhealthy, with the same body.",
        access: Access::Public,
        parameters: Vec::new(),
        body: None,
        success: Success {
            status: 200,
            description: "Everything works.",
            content: Some((JSON, component("Health"))),
            example: Some(examples::health()),
            headers: &[],
        },
        also: None,
        errors: Vec::new(),
        timeout: DOCUMENT_TIMEOUT,
        handler: |call| Box::pin(health(call)),
    }
}

/// The routes.
pub fn routes() -> Vec<Route> {
    let text = |media, schema: Value, description| Success {
        status: 200,
        description,
        content: Some((media, schema)),
        example: None,
        headers: &[],
    };
    vec![
        base(),
        Route {
            path: "/metrics",
            operation: "prometheusMetrics",
            summary: "Metrics in the Prometheus text format",
            description: "Counters and histograms of sprite and council operations, chain executions, gate decisions, sandbox \
                          calls, HTTP and the store.",
            access: Access::Needs(Grant::MetricsRead),
            success: text(metrics::MEDIA_TYPE, json!({"type": "string"}), "The metrics."),
            handler: |call| Box::pin(metrics_text(call)),
            ..base()
        },
        Route {
            path: "/openapi.json",
            operation: "openApi",
            summary: "This document",
            description: "",
            success: text(JSON, json!({"type": "object"}), "OpenAPI 3.1."),
            handler: |call| Box::pin(openapi(call)),
            ..base()
        },
        Route {
            path: "/docs",
            operation: "docs",
            summary: "A page that shows this document",
            description: "Self-contained: it loads nothing but /openapi.json.",
            success: text("text/html; charset=utf-8", json!({"type": "string"}), "The page."),
            handler: |call| Box::pin(docs(call)),
            ..base()
        },
        Route {
            path: "/v1/schemas/iris.schema.json",
            operation: "irisSchema",
            summary: "The JSON Schema of sprites, councils and chains",
            description: "Draft 2020-12; `oneOf` by `system_prompt`, `sprites` and `steps`.",
            success: text(
                "application/schema+json",
                json!({"type": "object"}),
                "The schema.",
            ),
            handler: |call| Box::pin(iris_schema(call)),
            ..base()
        },
    ]
}

/// In the seed's order.
#[derive(serde::Serialize)]
struct HealthBody {
    status: &'static str,
    version: &'static str,
    uptime_seconds: i64,
    checks: ChecksBody,
    timestamp: String,
    load_plan_hash: Option<String>,
    reasons: Vec<String>,
}

#[derive(serde::Serialize)]
struct ChecksBody {
    database: &'static str,
    sprite_registry: &'static str,
    council_registry: &'static str,
    plugins: &'static str,
    telemetry: &'static str,
}

async fn health(call: Call) -> Result<Reply, Problem> {
    let health = call.app.host.health().await;
    let body = HealthBody {
        status: health.status.as_str(),
        version: env!("CARGO_PKG_VERSION"),
        uptime_seconds: health.uptime_seconds,
        checks: ChecksBody {
            database: health.checks.database.as_str(),
            sprite_registry: health.checks.sprite_registry.as_str(),
            council_registry: health.checks.council_registry.as_str(),
            plugins: health.checks.plugins.as_str(),
            telemetry: health.checks.telemetry.as_str(),
        },
        timestamp: health.timestamp,
        load_plan_hash: health.load_plan_hash,
        reasons: health.reasons,
    };
    let body = serde_json::to_string(&body).map_err(|_| Problem::internal())?;
    let status = match health.status {
        State::Healthy => StatusCode::OK,
        State::Degraded | State::Unhealthy => StatusCode::SERVICE_UNAVAILABLE,
    };
    Ok(Reply::new(status, JSON, body).header(header::CACHE_CONTROL, "no-store"))
}

async fn metrics_text(call: Call) -> Result<Reply, Problem> {
    Ok(Reply::new(
        StatusCode::OK,
        metrics::MEDIA_TYPE,
        metrics::render(&call.app.host),
    ))
}

async fn openapi(call: Call) -> Result<Reply, Problem> {
    Ok(call.app.documents.openapi.reply(&call.headers))
}

/// Nothing but this page's own script and style, and connections to where it came from.
const POLICY: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; \
                      base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

async fn docs(call: Call) -> Result<Reply, Problem> {
    let page = call.app.documents.docs.reply(&call.headers);
    Ok(page.header(header::CONTENT_SECURITY_POLICY, POLICY))
}

async fn iris_schema(call: Call) -> Result<Reply, Problem> {
    Ok(call.app.documents.iris_schema.reply(&call.headers))
}
