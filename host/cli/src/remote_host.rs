//! A running host, as its HTTP API shows it to an operator's command line.

use crate::settings::outgoing;
use anyhow::{Context, Result, anyhow, bail};
use mizzen_engine::WebUrl;
use mizzen_model::id::ExecutionId;
use mizzen_ops::outgoing::{Outgoing, Purpose};
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use serde_json::Value;
use std::time::Duration;

/// Where the key is. Not an argument: those can be read by every user of the machine.
const KEY: &str = "MIZZEN_API_KEY";

/// The host to ask.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RemoteHost {
    /// The address of the running host; its API key is read from $MIZZEN_API_KEY
    #[arg(long, value_name = "URL", default_value = "http://127.0.0.1:7437")]
    host: String,
}

/// An execution's id in the command line.
pub(crate) fn execution_id(text: &str) -> Result<ExecutionId, String> {
    ExecutionId::parse(text)
        .map_err(|error| format!("the id of an execution is {error}; `mizzen runs list` shows them"))
}

impl RemoteHost {
    /// Asks the host with a runtime of its own: verbs are not asynchronous.
    pub(crate) fn block_on<T>(&self, ask: impl AsyncFnOnce(&HostClient) -> Result<T>) -> Result<T> {
        let client = HostClient {
            base: self.host.trim_end_matches('/').to_owned(),
            key: std::env::var(KEY).ok().filter(|key| !key.is_empty()),
            http: outgoing(Purpose::Operator),
        };
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()?
            .block_on(ask(&client))
    }
}

/// Sends requests to one host.
#[derive(Debug)]
pub(crate) struct HostClient {
    base: String,
    key: Option<String>,
    http: Outgoing,
}

impl HostClient {
    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.send("GET", path, None).await
    }

    pub(crate) async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value> {
        self.send("POST", path, body).await
    }

    /// One execution.
    pub(crate) async fn execution(&self, id: ExecutionId) -> Result<Value> {
        self.get(&format!("/v1/executions/{id}")).await
    }

    async fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value> {
        let url = format!("{}{path}", self.base);
        let url = WebUrl::parse(&url).map_err(|error| {
            anyhow!(
                "{:?} is not the address of a host ({error}); write it as http://127.0.0.1:7437",
                self.base
            )
        })?;
        let mut headers = vec![("accept".to_owned(), "application/json".to_owned())];
        if let Some(key) = &self.key {
            headers.push(("authorization".to_owned(), format!("Bearer {key}")));
        }
        if body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        let request = HttpRequest {
            method: method.to_owned(),
            url,
            headers,
            body: body.map_or_else(Vec::new, |body| body.to_string().into_bytes()),
            timeout: Some(Duration::from_secs(30)),
            // The operator wrote it into the command line.
            host_named: HostNamed::Exactly,
        };
        let answer = self
            .http
            .fetch(request)
            .await
            .map_err(|error| anyhow!("{error}"))
            .with_context(|| {
                format!(
                    "the host at {} cannot be asked; is `mizzen serve` running?",
                    self.base
                )
            })?;
        let document: Value = serde_json::from_slice(&answer.body).with_context(|| {
            format!(
                "{} answered {} without JSON: it is not a Mizzen host",
                self.base, answer.status
            )
        })?;
        if (200..300).contains(&answer.status) {
            return Ok(document);
        }
        let text = |name: &str| {
            document
                .get(name)
                .and_then(Value::as_str)
                .unwrap_or("?")
                .to_owned()
        };
        match (answer.status, &self.key) {
            (401, None) => bail!("{}: {}; put the key into {KEY}", text("code"), text("message")),
            _ => bail!("{}: {}", text("code"), text("message")),
        }
    }
}
