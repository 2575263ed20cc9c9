//! What happens, and in what order.
//!
//! Decisions are pure: [`Permit`] says what a call may touch, [`Profile`] what a host refuses anyway, [`Schema`] what
//! fits. [`Outcome`] is how a call ended. Nothing here does IO.

#![forbid(unsafe_code)]

mod outcome;
mod permit;
mod profile;
mod schema;
mod web;

pub use outcome::{CallReport, Deadline, LogLevel, LogLine, Outcome, ToolError, Trap, Usage};
pub use permit::{Denied, Permit};
pub use profile::{Profile, ProfileError};
pub use schema::{Schema, SchemaRefusal, Violation};
pub use web::{UrlError, WebUrl};
