//! Outgoing HTTP. Needs `net:HOST` for each host. Redirects are not followed: the plugin sees them.

use crate::ToolError;
use std::time::Duration;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The method, in capitals.
    pub method: String,
    /// An absolute `http` or `https` URL.
    pub url: String,
    /// Headers. `host`, `content-length` and connection headers are set by the host.
    pub headers: Vec<(String, String)>,
    /// The body; empty for none.
    pub body: Vec<u8>,
    /// How long to wait; the call's own deadline applies as well.
    pub timeout: Option<Duration>,
}

impl Request {
    /// A request without headers or body.
    pub fn new(method: impl Into<String>, url: impl Into<String>) -> Self {
        Request {
            method: method.into(),
            url: url.into(),
            headers: Vec::new(),
            body: Vec::new(),
            timeout: None,
        }
    }

    /// A GET request.
    pub fn get(url: impl Into<String>) -> Self {
        Request::new("GET", url)
    }

    /// A POST request.
    pub fn post(url: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        Request {
            body: body.into(),
            ..Request::new("POST", url)
        }
    }

    /// With one more header.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// With a time limit of its own.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sends the request and waits for the whole response.
    pub fn send(self) -> Result<Response, ToolError> {
        #[cfg(target_family = "wasm")]
        {
            use crate::bindings::mizzen::plugin::{http, types::Field};
            let response = http::fetch(&http::Request {
                method: self.method,
                url: self.url,
                headers: self
                    .headers
                    .into_iter()
                    .map(|(name, value)| Field { name, value })
                    .collect(),
                body: self.body,
                timeout_ms: self
                    .timeout
                    .map(|limit| u32::try_from(limit.as_millis()).unwrap_or(u32::MAX)),
            })?;
            Ok(Response {
                status: response.status,
                headers: response
                    .headers
                    .into_iter()
                    .map(|field| (field.name, field.value))
                    .collect(),
                body: response.body,
            })
        }
        #[cfg(not(target_family = "wasm"))]
        crate::testing::answer_http(&self)
    }
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Vec<(String, String)>,
    /// The body, within the host's limit.
    pub body: Vec<u8>,
}

impl Response {
    /// The body as text; bytes that are not UTF-8 are replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body read as JSON.
    pub fn json<T: serde::de::DeserializeOwned>(&self) -> Result<T, ToolError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            ToolError::failed(
                "BAD_RESPONSE",
                format!("the response is not the expected JSON: {error}"),
            )
        })
    }
}
