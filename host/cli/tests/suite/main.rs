//! The `mizzen` binary, run as its users run it. A module is a theme, and a file in it a subject; `support` has what they share.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "a test that cannot go on should stop"
)]

mod documents;
mod earlier_versions;
mod governance;
mod hostile;
mod http;
mod plugins;
mod runs;
mod support;
mod verbs;
