//! Sprites, councils and chains: what is accepted, what is refused and how, and that the JSON Schema agrees.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod council;
mod examples;
mod schema;
mod sprite;
