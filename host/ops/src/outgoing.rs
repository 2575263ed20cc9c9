//! Outgoing HTTP for plugins and hooks: to allowed addresses only, one request, one bounded response.
//!
//! The permission check has already allowed the host's name. What is decided here is where that name leads: every address
//! that a name resolves to must be public, unless the operator said that this host is a private one ([`Purpose`]). The
//! connection goes to the very address that was checked; the name is not looked up twice. Redirects are answers, not orders.

mod address;
mod connect;
mod prompt;
mod purpose;

pub use address::is_public;
pub use connect::{Connect, Connection, Resolve, SystemNetwork};
pub use purpose::{PrivateHosts, Purpose};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, Limited};
use hyper::header::{HOST, HeaderName, HeaderValue};
use hyper::{Method, Request};
use hyper_util::rt::TokioIo;
use mizzen_engine::ToolError;
use mizzen_sandbox::{HostNamed, Http, HttpRequest, HttpResponse, Pending};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// What one request may use up.
#[derive(Debug, Clone, Copy)]
pub struct OutgoingLimits {
    /// From the look-up of the name to the last byte of the response.
    pub time: Duration,
    /// The response's body.
    pub response: usize,
}

impl Default for OutgoingLimits {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(30),
            response: 4 << 20,
        }
    }
}

/// Sends requests over a network that tests can replace.
pub struct Outgoing {
    resolve: Arc<dyn Resolve>,
    connect: Arc<dyn Connect>,
    limits: OutgoingLimits,
    purpose: Purpose,
}

impl std::fmt::Debug for Outgoing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Outgoing")
            .field("limits", &self.limits)
            .field("purpose", &self.purpose)
            .finish_non_exhaustive()
    }
}

/// Headers that belong to the connection, not to the plugin.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "connection",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
];

/// Headers with which some servers take one method for another: a GET must not become a POST behind the permission's back.
const OVERRIDES: &[&str] = &["x-http-method", "x-http-method-override", "x-method-override"];

impl Outgoing {
    /// Over this network, for plugins that may reach no private host by its name.
    pub fn new(resolve: Arc<dyn Resolve>, connect: Arc<dyn Connect>, limits: OutgoingLimits) -> Self {
        Self {
            resolve,
            connect,
            limits,
            purpose: Purpose::default(),
        }
    }

    /// The same network for another purpose.
    #[must_use]
    pub fn serving(self, purpose: Purpose) -> Self {
        Self { purpose, ..self }
    }

    /// Over the machine's network.
    pub fn system(limits: OutgoingLimits) -> Self {
        let network = Arc::new(SystemNetwork::default());
        Self::new(Arc::clone(&network) as _, network, limits)
    }

    async fn send(&self, request: HttpRequest) -> Result<HttpResponse, ToolError> {
        let message = message(&request)?;
        let target = request.url.target();
        let address = self
            .allowed_address(target.host(), target.port(), request.host_named)
            .await?;
        let tls = request.url.is_https().then(|| target.host().to_owned());
        let stream = self
            .connect
            .connect(address, tls)
            .await
            .map_err(|error| unreachable_host(&target.to_string(), &error))?;
        let failed = |error: hyper::Error| unreachable_host(&target.to_string(), &error);
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_headers(100)
            .max_buf_size(64 << 10)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(failed)?;
        // Both are polled here: when the call is given up, the connection goes with it.
        let exchange = async {
            let response = sender.send_request(message).await.map_err(failed)?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, self.limits.response)
                .collect()
                .await
                .map_err(|error| ToolError::Failed {
                    code: "RESPONSE_TOO_LARGE".into(),
                    message: format!(
                        "the response's body cannot be read within {} bytes: {error}",
                        self.limits.response
                    ),
                })?;
            let text = |(name, value): (&HeaderName, &HeaderValue)| {
                (
                    name.as_str().to_owned(),
                    String::from_utf8_lossy(value.as_bytes()).into_owned(),
                )
            };
            Ok(HttpResponse {
                status: head.status.as_u16(),
                headers: head.headers.iter().map(text).collect(),
                body: body.to_bytes().to_vec(),
            })
        };
        tokio::pin!(exchange, connection);
        tokio::select! {
            biased;
            answer = &mut exchange => answer,
            // The connection may end before its last bytes have been read.
            ended = &mut connection => match ended {
                Ok(()) => exchange.await,
                Err(error) => Err(unreachable_host(&target.to_string(), &error)),
            },
        }
    }

    /// The first address, if every one of them is allowed: a name that leads to both sides of the fence is a trick.
    async fn allowed_address(
        &self,
        host: &str,
        port: u16,
        named: HostNamed,
    ) -> Result<SocketAddr, ToolError> {
        let addresses = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => self
                .resolve
                .resolve(host)
                .await
                .map_err(|error| unreachable_host(host, &error))?,
        };
        if !self.purpose.may_be_private(host, named)
            && let Some(address) = addresses.iter().find(|address| !is_public(**address))
        {
            return Err(ToolError::Denied(format!(
                "`{host}` leads to {address}, which is not a public address; {}",
                self.purpose.advice(host)
            )));
        }
        let first = addresses
            .first()
            .ok_or_else(|| ToolError::Unavailable(format!("`{host}` has no address")))?;
        Ok(SocketAddr::new(*first, port))
    }
}

fn unreachable_host(host: &str, error: &dyn std::fmt::Display) -> ToolError {
    ToolError::Unavailable(format!("`{host}` cannot be reached: {error}"))
}

fn message(request: &HttpRequest) -> Result<Request<Full<Bytes>>, ToolError> {
    let invalid = |path: &str, message: String| ToolError::InvalidInput {
        path: path.to_owned(),
        message,
    };
    let method = Method::from_bytes(request.method.as_bytes())
        .ok()
        .filter(|method| *method != Method::CONNECT)
        .ok_or_else(|| {
            invalid(
                "/method",
                format!("`{}` is not a method", request.method.escape_debug()),
            )
        })?;
    let mut message = Request::builder()
        .method(method)
        .uri(request.url.path_and_query())
        .body(Full::new(Bytes::from(request.body.clone())))
        .map_err(|error| invalid("/url", error.to_string()))?;
    for (index, (name, value)) in request.headers.iter().enumerate() {
        let at = format!("/headers/{index}");
        let name =
            HeaderName::from_bytes(name.as_bytes()).map_err(|error| invalid(&at, error.to_string()))?;
        if OURS.contains(&name.as_str()) {
            return Err(invalid(&at, format!("`{name}` is set by the host")));
        }
        if OVERRIDES.contains(&name.as_str()) {
            return Err(invalid(
                &at,
                format!("`{name}` is not sent: the method is the request's own"),
            ));
        }
        let value = HeaderValue::from_str(value).map_err(|error| invalid(&at, error.to_string()))?;
        message.headers_mut().append(name, value);
    }
    let authority = request.url.authority();
    let host = HeaderValue::from_str(&authority).map_err(|error| invalid("/url", error.to_string()))?;
    message.headers_mut().insert(HOST, host);
    Ok(message)
}

impl Http for Outgoing {
    fn fetch(&self, request: HttpRequest) -> Pending<'_, Result<HttpResponse, ToolError>> {
        Box::pin(async move {
            let time = request.timeout.unwrap_or(self.limits.time).min(self.limits.time);
            let host = request.url.target().host().to_owned();
            match tokio::time::timeout(time, self.send(request)).await {
                Ok(answer) => answer,
                Err(_) => Err(ToolError::Unavailable(format!(
                    "`{host}` did not answer within {time:?}"
                ))),
            }
        })
    }
}
