//! From a plugin's source to its signed package.
//!
//! [`new_project`] writes a folder that builds anywhere (the SDK and the contract ship inside the binary);
//! [`build_plugin`] installs the missing target, runs cargo with the flags that make small and fast guests, embeds the
//! manifest, signs, and writes `dist/NAME-VERSION.wasm`.
//!
//! [`pack`] makes packages of rule files, without a compiler.
//!
//! Deliberately not here: what a package is (the catalog), whether it would be loaded (the catalog), running it (the
//! sandbox), and watching files (the verb `plugin dev`). To add a kind of template: a folder in `templates/`, a variant in
//! [`ProjectKind`].

#![forbid(unsafe_code)]

mod build_lock;
mod build_plugin;
mod cargo;
mod embedded;
mod error;
mod new_project;
mod origin;
pub mod pack;
mod progress;
mod project;
mod sdk;
mod toolchain;

pub use build_plugin::{BuildRequest, BuiltPlugin, build_plugin};
pub use error::{BuildError, NewProjectError};
pub use new_project::{NewProject, ProjectKind, new_project};
pub use progress::Progress;
pub use project::Project;
pub use toolchain::GUEST_TARGET;
