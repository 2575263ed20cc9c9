//! A running host, as its HTTP API shows it to the command line. Every verb that takes `--host` sends its requests here.

use anyhow::{Context, Result, anyhow, bail};
use mizzen_engine::WebUrl;
use mizzen_model::id::ExecutionId;
use mizzen_ops::outgoing::{Outgoing, OutgoingLimits, Purpose};
use mizzen_sandbox::{HostNamed, Http, HttpRequest};
use serde_json::Value;
use std::time::Duration;

/// Where the key is. Not an argument: those can be read by every user of the machine.
const KEY: &str = "MIZZEN_API_KEY";
/// How long a request may take that reads or decides something.
pub(crate) const USUAL_TIME: Duration = Duration::from_secs(30);
/// The largest answer that is read: an execution with a large output and everything around it.
const ANSWER_MAX: usize = 64 << 20;

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
        let client = HostClient::new(&self.host, USUAL_TIME)?;
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

/// A request with a body.
#[derive(Debug, Default)]
pub(crate) struct Post {
    /// JSON.
    pub(crate) body: Option<String>,
    /// Sent as `Idempotency-Key`.
    pub(crate) idempotency_key: Option<String>,
}

/// What the host answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) document: Value,
    /// Whether the request carried a key.
    has_key: bool,
}

impl Answer {
    /// The document, unless the host refused.
    fn accepted(self) -> Result<Value> {
        if (200..300).contains(&self.status) {
            return Ok(self.document);
        }
        bail!("{}", self.refusal())
    }

    /// The error envelope as a person reads it.
    pub(crate) fn refusal(&self) -> String {
        let text = |name: &str| self.document.get(name).and_then(Value::as_str).unwrap_or("?");
        let mut lines = format!("{} (HTTP {}): {}", text("code"), self.status, text("message"));
        if self.status == 401 && !self.has_key {
            lines.push_str(&format!("; put the key into {KEY}"));
        }
        let details = self.document.get("details");
        for name in ["reason", "rule", "execution_id"] {
            let detail = details.and_then(|details| details.get(name));
            if let Some(value) = detail.and_then(Value::as_str) {
                lines.push_str(&format!("\n  {name}: {value}"));
            }
        }
        lines
    }
}

impl HostClient {
    /// A client of the host at an address, whose requests take so long at most.
    pub(crate) fn new(address: &str, time: Duration) -> Result<Self> {
        let key = match std::env::var(KEY) {
            Ok(key) => Some(key.trim().to_owned()).filter(|key| !key.is_empty()),
            Err(std::env::VarError::NotPresent) => None,
            Err(std::env::VarError::NotUnicode(_)) => bail!("{KEY} is not UTF-8"),
        };
        let limits = OutgoingLimits {
            time,
            response: ANSWER_MAX,
        };
        Ok(Self {
            base: address.trim_end_matches('/').to_owned(),
            key,
            http: Outgoing::system(limits).serving(Purpose::Operator),
        })
    }

    /// Where the host is.
    pub(crate) fn address(&self) -> &str {
        &self.base
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        self.send("GET", path, Post::default()).await?.accepted()
    }

    /// Sends a document, or nothing, and returns what the host accepted it with.
    pub(crate) async fn post(&self, path: &str, body: Option<&Value>) -> Result<Value> {
        let post = Post {
            body: body.map(ToString::to_string),
            idempotency_key: None,
        };
        self.answer_to(path, post).await?.accepted()
    }

    /// Sends a request; a refusal is an answer too.
    pub(crate) async fn answer_to(&self, path: &str, post: Post) -> Result<Answer> {
        self.send("POST", path, post).await
    }

    /// One execution.
    pub(crate) async fn execution(&self, id: ExecutionId) -> Result<Value> {
        self.get(&format!("/v1/executions/{id}")).await
    }

    async fn send(&self, method: &str, path: &str, post: Post) -> Result<Answer> {
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
        if post.body.is_some() {
            headers.push(("content-type".to_owned(), "application/json".to_owned()));
        }
        if let Some(key) = post.idempotency_key {
            headers.push(("idempotency-key".to_owned(), key));
        }
        let request = HttpRequest {
            method: method.to_owned(),
            url,
            headers,
            body: post.body.unwrap_or_default().into_bytes(),
            timeout: None,
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
        let document = serde_json::from_slice(&answer.body).with_context(|| {
            format!(
                "{} answered {} without JSON: it is not a Mizzen host",
                self.base, answer.status
            )
        })?;
        Ok(Answer {
            status: answer.status,
            document,
            has_key: self.key.is_some(),
        })
    }
}
