//! Which plugins are installed and trusted, in what order they load, and what each provides.
//!
//! Nothing here runs a plugin. A file becomes a [`package::Package`] (its shape is right), then a `VerifiedPlugin`
//! (every static stage has passed), then a part of a load plan. Not here: compiling and describing (the sandbox) and
//! the decision about one call (the engine). To add a check: a stage in `load`, its code in `error`, and its tests.

#![forbid(unsafe_code)]

pub mod files;
pub mod key;
pub mod package;
pub mod signature;
