//! What the tests of runs share: a server with plugins, the seed's council, and a tool that does as it is told.

#![allow(dead_code, reason = "no test needs all of it")]

#[path = "council.rs"]
pub(crate) mod council;
#[path = "http.rs"]
pub(crate) mod http;
#[path = "puppet.rs"]
pub(crate) mod puppet;
