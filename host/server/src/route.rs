//! What a route is: how it is reached, what it takes and returns, who may use it, and its handler. The router, the access
//! check and the OpenAPI document all read the same table.

use crate::call::{Call, Reply};
use crate::problem::{Code, Problem};
use axum::http::Method;
use mizzen_ops::Grant;
use serde_json::Value;
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

/// The handler of a route.
pub type Handler = fn(Call) -> Answer;
/// What a handler returns.
pub type Answer = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// One operation.
#[derive(Debug, Clone)]
pub struct Route {
    /// GET, POST, PUT or DELETE. A GET serves HEAD too.
    pub method: Method,
    /// The path, with parameters as `{name}`.
    pub path: &'static str,
    /// Its name in OpenAPI and in the metrics.
    pub operation: &'static str,
    /// Its group in OpenAPI.
    pub tag: &'static str,
    /// One line.
    pub summary: &'static str,
    /// More lines.
    pub description: &'static str,
    /// Who may use it.
    pub access: Access,
    /// What it takes beside the body.
    pub parameters: Vec<Parameter>,
    /// What it takes as body.
    pub body: Option<BodySpec>,
    /// The response of success.
    pub success: Success,
    /// Another response of that kind, where there are two.
    pub also: Option<Success>,
    /// The codes that it may return; [`Route::codes`] adds those of every route.
    pub errors: Vec<Code>,
    /// How long its handler may take.
    pub timeout: Duration,
    /// Its handler.
    pub handler: Handler,
}

/// Who may use a route.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Every client, also without a key.
    Public,
    /// Callers with the grant.
    Needs(Grant),
}

/// A parameter in the path, the query or the header.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// Its name.
    pub name: &'static str,
    /// Its location.
    pub place: ParameterPlace,
    /// What it means.
    pub description: &'static str,
    /// Its JSON Schema.
    pub schema: Value,
    /// An example.
    pub example: Option<Value>,
}

/// The location of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterPlace {
    /// In the path; always required.
    Path,
    /// In the query; always optional.
    Query,
    /// In the header; always optional.
    Header,
    /// In the query, and always.
    RequiredQuery,
}

impl ParameterPlace {
    /// Whether a request has it in its query.
    pub fn is_query(self) -> bool {
        matches!(self, ParameterPlace::Query | ParameterPlace::RequiredQuery)
    }

    /// Whether every request has it.
    pub fn is_required(self) -> bool {
        matches!(self, ParameterPlace::Path | ParameterPlace::RequiredQuery)
    }
}

/// A request body.
#[derive(Debug, Clone)]
pub struct BodySpec {
    /// The media types it may have.
    pub types: &'static [&'static str],
    /// The name of its schema among the components; none for bytes.
    pub schema: Option<&'static str>,
    /// An example.
    pub example: Option<Value>,
    /// Bytes it may have.
    pub limit: usize,
}

/// A successful response.
#[derive(Debug, Clone)]
pub struct Success {
    /// Its status.
    pub status: u16,
    /// What it means.
    pub description: &'static str,
    /// Its media type and schema; none without a body.
    pub content: Option<(&'static str, Value)>,
    /// An example of the body.
    pub example: Option<Value>,
    /// Headers it carries beside `x-request-id`.
    pub headers: &'static [(&'static str, &'static str)],
}

/// JSON bodies up to this many bytes; a prompt of 65,536 characters and a hundred capabilities fit many times.
pub const JSON_LIMIT: usize = 2 << 20;
/// How long an operation on documents may take.
pub const DOCUMENT_TIMEOUT: Duration = Duration::from_secs(30);

impl Route {
    /// Every code that the route may return, in the order of their statuses.
    pub fn codes(&self) -> Vec<Code> {
        let mut codes = self.errors.clone();
        codes.extend([
            Code::MalformedRequest,
            Code::UriTooLong,
            Code::ExpectationFailed,
            Code::HeadersTooLarge,
            Code::InternalError,
            Code::Unavailable,
            Code::Timeout,
        ]);
        match self.access {
            Access::Public => codes.push(Code::TooManyStreams),
            Access::Needs(_) => codes.extend([
                Code::Unauthenticated,
                Code::Forbidden,
                Code::RateLimited,
                Code::UnreadAnswers,
            ]),
        }
        if self.body.is_some() {
            codes.extend([
                Code::MalformedBody,
                Code::ValidationError,
                Code::RequestTimeout,
                Code::PayloadTooLarge,
                Code::UnsupportedMediaType,
            ]);
        }
        if self
            .parameters
            .iter()
            .any(|parameter| parameter.name == "Idempotency-Key")
        {
            codes.push(Code::IdempotencyKeyReused);
        }
        if self
            .parameters
            .iter()
            .any(|parameter| parameter.name == "If-Match")
        {
            codes.push(Code::PreconditionFailed);
        }
        if self.method != Method::GET {
            codes.push(Code::StorageFull);
        }
        // The query is checked on every route: an unknown parameter is an error.
        codes.push(Code::ValidationError);
        codes.sort_by_key(|code| (code.status(), *code));
        codes.dedup();
        codes
    }
}
