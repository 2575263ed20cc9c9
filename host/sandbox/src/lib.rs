//! One isolated call into a signed component. The only crate that names wasmtime.
//!
//! Work is sorted by how often it is done. Per process: [`Sandbox`], with one engine, one ticker and the threads that
//! run guests. Per plugin: [`Sandbox::prepare`], which compiles (or loads from the artifact cache) and links exactly the
//! interfaces that the plugin may import. Per call: [`CallablePlugin::invoke`], a fresh store and instance under the limits of
//! a [`mizzen_engine::Permit`].
//!
//! Deliberately not here: who may do what (the engine makes permits), what a signature is worth (the catalog makes
//! verified plugins), and what stands behind an import ([`Services`] is wired by the caller). To add an import, see
//! `imports.rs`.

mod artifact;
mod bindings;
mod call;
mod closed;
mod describe;
mod effort;
mod evaluate;
mod guest_log;
mod imports;
mod limiter;
mod machine;
mod memory;
mod meter;
mod plugin;
mod sandbox;
mod services;
mod settings;
mod snapshot;
mod state;
mod threads;
mod turns;

pub use artifact::Compiled;
pub use call::{CallContext, CallFault, Evaluation, ToolCall};
pub use describe::DescribeError;
pub use evaluate::EvaluationReport;
pub use machine::{Allocation, StartError};
pub use plugin::{CallablePlugin, PrepareError};
pub use sandbox::{InUse, Sandbox};
pub use services::{
    CallTool, HostNamed, Http, HttpRequest, HttpResponse, KeyPage, KeyValue, NestedCall, Pending, Secret,
    Services,
};
pub use settings::Settings;
pub use snapshot::{SnapshotError, configured_pack};
