//! The HTTP API of a running host: who may use it, what it returns, who can generate a client for it.

mod access;
mod generated_clients;
mod http2;
mod long_requests;
mod schemathesis;
mod seeds;
mod traces;
