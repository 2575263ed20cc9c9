//! HTTP: routes, status codes, the error envelope, OpenAPI, access and limits.
//!
//! A route is a line in a table ([`Route`]): the router, the access check, the metrics and the OpenAPI document read it. A handler
//! turns a request into one operation of `mizzen-ops` and its result into bytes, nothing else. Status codes are in `problem.rs`
//! alone, in tables without a wildcard arm.
//!
//! Not here: what an operation does, and anything about plugins.
//!
//! To add a route: a function in `routes/<resource>.rs` and its entry in that file's `routes()`; run the tests with
//! `MIZZEN_UPDATE_GOLDEN=1` to rewrite the golden OpenAPI document, and read the difference.

#![forbid(unsafe_code)]

mod access;
mod answer_body;
mod app;
mod body;
mod call;
mod config;
mod connection;
mod dispatch;
mod drain;
mod event_stream;
mod listen;
mod metrics;
mod network;
pub mod openapi;
mod pace;
mod problem;
mod public_documents;
mod rate;
mod route;
pub mod routes;
mod streams;
mod tls;
mod traffic;
mod unparsed;
mod unsent;

pub use app::App;
pub use call::{Call, Reply};
pub use config::{Config, TlsFiles};
pub use listen::{ServeError, Server};
pub use problem::{Code, Problem};
pub use route::{
    Access, Answer, BodySpec, DOCUMENT_TIMEOUT, Handler, JSON_LIMIT, Parameter, ParameterPlace, Route,
    Success,
};
pub use tls::TlsError;
