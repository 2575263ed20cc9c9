//! Which plugins are installed and trusted, in what order they load, and what each provides.
//!
//! Nothing here runs a plugin. A file becomes a [`package::Package`] (its shape is right), then a [`VerifiedPlugin`]
//! (every static stage has passed), then a part of a [`LoadPlan`]; the sandbox compiles and describes the plan, and
//! [`register`] enters what it described. Not here: compiling and running (the sandbox), and the decision about one call
//! (the engine). To add a check: a stage in `load`, its code in `error`, and its tests.

#![forbid(unsafe_code)]

pub mod change;
pub mod component;
pub mod config;
pub mod diff;
pub mod error;
pub mod files;
#[cfg(test)]
mod fixture;
pub mod grants;
pub mod key;
pub mod load;
pub mod package;
pub mod register;
pub mod requirement;
pub mod seen;
pub mod signature;
pub mod trust;
mod verified;

pub use error::{LoadCode, PluginLoadError, Stage};
pub use load::{LoadFailure, LoadPlan, PlannedPlugin, Sources, Terms};
pub use verified::VerifiedPlugin;
