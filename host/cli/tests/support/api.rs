//! What the tests of the HTTP API share: the server, and the seeds' sprites and councils.

#![allow(dead_code, reason = "no test needs all of it")]

#[path = "documents.rs"]
pub(crate) mod documents;
#[path = "http.rs"]
pub(crate) mod http;
#[path = "http2.rs"]
pub(crate) mod http2;
