//! Write Mizzen plugins in Rust. A tool is a function with typed input and output:
//!
//! ```
//! use mizzen_sdk::prelude::*;
//!
//! #[input]
//! struct Greet {
//!     /// Who to greet.
//!     name: String,
//! }
//!
//! #[output]
//! struct Greeting {
//!     text: String,
//! }
//!
//! /// Greets a person by name.
//! #[tool(side_effects = "none", example(name = "greets Ada", input = { "name": "Ada" }, output = { "text": "Hello, Ada!" }))]
//! fn greet(input: Greet) -> Result<Greeting, ToolError> {
//!     Ok(Greeting { text: format!("Hello, {}!", input.name) })
//! }
//!
//! mizzen_sdk::export_plugin! { namespace: "hello", tools: [greet] }
//! # fn main() {}
//! ```
//!
//! # The arguments of `#[tool]`
//!
//! | argument | meaning | when left out |
//! |---|---|---|
//! | `side_effects` | `"none"`, `"read"`, `"write"`, `"external"`; at least what `permissions` allow | follows from `permissions` |
//! | `replay` | `"recorded-result"`, `"must-stub"`, `"fail-loud"` | `recorded-result` for none and read, else `must-stub` |
//! | `name` | the tool's name | the function's name |
//! | `namespace` | a namespace below the plugin's | the plugin's |
//! | `version` | the tool's own version | the crate's version |
//! | `description` | for the person or model that chooses | the doc comment |
//! | `permissions` | `["net:api.example.com"]`, each in plugin.toml too | none |
//! | `example(name, input, output)` | run as a test; repeatable | none |
//! | `tags` | words to find the tool by | none |
//! | `idempotency_key` | the input field that makes repeated calls the same call | none |
//! | `cost_estimate` | decimal text, `"0.0025"` | none |
//! | `deprecated` | still works, should no longer be chosen | no |
//!
//! The function takes one input, then optionally [`&Context`](Context); it returns its output or a `Result` whose error turns
//! into a [`ToolError`]. The input's and output's types carry [`input`] and [`output`] (both, if used as both).
//!
//! Everything builds, lints and runs natively: `cargo test` needs no WebAssembly. The host's imports ([`log`],
//! [`kv`], [`http`] …) have stand-ins in [`testing`] there.
//!
//! Deliberately not here: anything of the host. To add a host interface: a file in `src/`, its stand-in in
//! [`testing`]. The generated bindings are in `bindings.rs` and never leave this crate.

#[doc(hidden)]
pub mod bindings;
mod context;
mod describe;
mod error;
mod exchange;
#[doc(hidden)]
pub mod export;
mod plugin;

pub mod clock;
pub mod config;
pub mod http;
pub mod kv;
pub mod log;
pub mod pack;
pub mod random;
pub mod secrets;
pub mod testing;
pub mod tools;

pub use context::Context;
pub use describe::{Descriptor, Example, ReplayPolicy, SideEffects, Tool};
pub use error::ToolError;
pub use exchange::NoInput;
pub use mizzen_sdk_macros::{input, output, tool};
pub use plugin::{Entry, Plugin};
pub use serde_json::{Map, Value, json};

/// What nearly every plugin needs.
pub mod prelude {
    pub use crate::{Context, ToolError, Value, input, json, output, tool};
}

/// What the macros expand to. Not for authors; may change at any time.
#[doc(hidden)]
pub mod __private {
    pub use crate::exchange::{Outcome, finish, input_schema, output_schema, read, write};
    pub use schemars;
    pub use serde;
}
