//! What the isolation tests share: guests built once, a host that loads them, a network that records instead of
//! connecting, and what is expected of each guest.
//!
//! To add a misdeed: a folder in `tests/guests` with a crate, a `plugin.toml` and an `expected.toml`. A folder without an
//! expectation fails the suite.

#![forbid(unsafe_code)]

mod build;
mod expected;
mod host;
mod network;
mod rules;

pub use build::{build, build_expected, copies, guests, key, rebuilt, root};
pub use expected::{Before, Expected};
pub use host::{call, load, load_with, outfit, outfit_reaching, terms, terms_granting};
pub use network::Network;
pub use rules::{HOSTILE_RULES, HostileFacts, build_rules, hostile_facts, refused_rules};
