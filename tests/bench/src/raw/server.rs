//! Servers to compare the host's with.

use super::{Database, Raw};
use anyhow::{Context, Result};
use axum::extract::State;
use axum::http::{Method, header};
use axum::routing::post;
use axum::{Json, Router};
use mizzen_ops::Host;
use mizzen_server::{Access, BodySpec, Config, Reply, Route, Server, Success};
use mizzen_store_sqlite::{Options, SqliteStore};
use serde_json::{Value, json};
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const LOOPBACK: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 0);

fn announce(address: SocketAddr) -> Result<()> {
    let mut stdout = std::io::stdout();
    writeln!(stdout, "listening on http://{address}")?;
    Ok(stdout.flush()?)
}

/// The host's own server with one route that answers a constant: what HTTP alone costs.
pub(crate) async fn serve_constant(data: &Path) -> Result<()> {
    let host = Arc::new(Host::new(SqliteStore::open(data, &Options::default())?.store()));
    let route = Route {
        method: Method::POST,
        path: "/v1/chains/execute",
        operation: "constant",
        tag: "bench",
        summary: "a constant",
        description: "",
        access: Access::Public,
        parameters: Vec::new(),
        body: Some(BodySpec {
            types: &["application/json"],
            schema: None,
            example: None,
            limit: 2 << 20,
        }),
        success: Success {
            status: 200,
            description: "",
            content: None,
            example: None,
            headers: &[],
        },
        also: None,
        errors: Vec::new(),
        timeout: Duration::from_secs(30),
        handler: |_| Box::pin(async { Ok(Reply::json(CONSTANT)) }),
    };
    let server = Server::bind(LOOPBACK, host, Config::default(), vec![route]).await?;
    announce(server.address())?;
    server.serve(std::future::pending()).await;
    Ok(())
}

const CONSTANT: &str = r#"{"status":"completed","steps":[{"order":0,"output":{"text":"a"}},{"order":1,"output":{"text":"a"}},{"order":2,"output":{"text":"a"}}]}"#;

struct Chain {
    raw: Raw,
    tool: String,
    database: Database,
    commits: usize,
    bytes: usize,
}

/// axum, three raw calls and the given number of commits: what no host on this engine and this database can beat.
pub(crate) async fn serve_chain(data: &Path, package: &Path, commits: usize, bytes: usize) -> Result<()> {
    let chain = Arc::new(Chain {
        raw: Raw::of_package(package)?,
        tool: "echo".to_owned(),
        database: Database::open(data)?,
        commits,
        bytes,
    });
    let router = Router::new()
        .route("/v1/chains/execute", post(execute))
        .with_state(chain);
    let listener = tokio::net::TcpListener::bind(LOOPBACK).await?;
    announce(listener.local_addr()?)?;
    axum::serve(listener, router)
        .await
        .context("the raw server stopped")
}

async fn execute(
    State(chain): State<Arc<Chain>>,
    Json(request): Json<Value>,
) -> Result<([(header::HeaderName, &'static str); 1], String), String> {
    let run = async {
        let mut document = request.get("input").cloned().unwrap_or_default();
        let mut steps = Vec::new();
        let mut commits = chain.commits;
        for order in 0..3 {
            let output = chain.raw.call(&chain.tool, &document.to_string()).await?;
            document = serde_json::from_str(&output)?;
            steps.push(json!({"order": order, "output": document}));
            if commits > 0 {
                commits -= 1;
                chain.database.append(vec![b'x'; chain.bytes]).await?;
            }
        }
        for _ in 0..commits {
            chain.database.append(vec![b'x'; chain.bytes]).await?;
        }
        anyhow::Ok(json!({"status": "completed", "steps": steps}).to_string())
    };
    let text = run.await.map_err(|error| format!("{error:#}"))?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text))
}
