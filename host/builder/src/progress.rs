//! The progress that a build reports.

use std::path::Path;

/// One step of a build.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress<'a> {
    /// The SDK in the project was replaced by the one of this binary.
    SdkRefreshed(&'a Path),
    /// The WebAssembly target is missing and is being installed.
    InstallingTarget,
    /// Another build works in this target folder; this one waits until it is done.
    Waiting(&'a Path),
    /// Cargo begins to build the plugin of this name.
    Building(&'a str),
    /// A line from cargo or rustup.
    Line(&'a str),
    /// The package is being put together and signed.
    Packaging,
}
