//! Sprites, councils and chains: what is accepted, what is refused and how, and that the JSON Schema agrees.

mod council;
mod examples;
mod schema;
mod sprite;
