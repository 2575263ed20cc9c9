//! The HTTP API in this process: requests go to the router, and where bytes on a wire are the point, to a listener on loopback.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on should stop"
)]

mod access;
mod connections;
mod councils_api;
mod hostile_requests;
mod openapi;
mod registry_api;
mod support;
mod tls;
