//! What happens, and in what order.
//!
//! Decisions are pure: [`Permit`] says what a call may touch, [`Profile`] what a host refuses anyway, [`Schema`] what
//! fits. [`Outcome`] is how a call ended. [`admit`] judges what a council says in languages of its own. Nothing here does IO.

#![forbid(unsafe_code)]

mod admission;
pub mod graph;
mod outcome;
pub mod pack;
mod permit;
pub mod plan;
mod profile;
pub mod run;
mod schema;
mod tool_call;
mod web;

pub use admission::{admit, admit_council_document, admit_sprite};
pub use outcome::{CallReport, Deadline, LogLevel, LogLine, Outcome, ToolError, Trap, Usage};
pub use permit::{Denied, Missing, Permit};
pub use profile::{Profile, ProfileError};
pub use schema::{Schema, SchemaRefusal, Violation};
pub use tool_call::{Admission, CallPolicy, CallStage, InstalledTool, Mode, Refused, Tool};
pub use web::{UrlError, WebUrl};
