//! Why a plugin could not be created or built.

use mizzen_catalog::component::ComponentError;
use mizzen_catalog::files::FileError;
use mizzen_catalog::package::PackageError;
use std::path::PathBuf;

/// Why a plugin could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The folder is not a plugin's.
    #[error("{} has no {missing}: run this in a plugin's folder, or make one with `mizzen plugin new NAME`", folder.display())]
    NotAPlugin {
        /// The folder.
        folder: PathBuf,
        /// The file that is not there.
        missing: &'static str,
    },
    /// The folder is that of a pack of rules.
    #[error("{} holds a pack of rules: use `mizzen pack build` and `mizzen pack test`", folder.display())]
    RulePack {
        /// The folder.
        folder: PathBuf,
    },
    /// The manifest is refused.
    #[error("{} is refused:\n{problems}", path.display())]
    Manifest {
        /// The manifest.
        path: PathBuf,
        /// What is wrong with it.
        problems: String,
    },
    /// The two files have different versions.
    #[error(
        "plugin.toml has version {manifest}, Cargo.toml has {cargo}: make them equal, or leave it out of plugin.toml"
    )]
    VersionsDiffer {
        /// In plugin.toml.
        manifest: String,
        /// In Cargo.toml.
        cargo: String,
    },
    /// A program is not there or cannot be started.
    #[error("cannot run `{program}`: {source}; install Rust from https://rustup.rs and try again")]
    Program {
        /// The program.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The target is missing and cannot be installed.
    #[error(
        "the target {target} is missing and could not be installed: {reason}\n\
         run `rustup target add {target}` where there is a network, then try again"
    )]
    Target {
        /// The target.
        target: &'static str,
        /// The installer's error output.
        reason: String,
    },
    /// Cargo does not understand the project.
    #[error("cargo cannot read the project:\n{output}")]
    Metadata {
        /// The last lines of cargo's output.
        output: String,
    },
    /// Cargo could not build it. Its lines were passed on as progress already.
    #[error("cargo could not build the plugin{hint}:\n{output}")]
    Cargo {
        /// The last lines of cargo's output.
        output: String,
        /// What might help.
        hint: &'static str,
    },
    /// The build made no component.
    #[error("the crate {package} builds no component: add `crate-type = [\"cdylib\", \"rlib\"]` under [lib] in {}", manifest.display())]
    NoComponent {
        /// The crate.
        package: String,
        /// Its Cargo.toml.
        manifest: PathBuf,
    },
    /// What was built cannot become a package.
    #[error("the component cannot be packaged: {0}")]
    Package(#[from] PackageError),
    /// What was built cannot be read as a component.
    #[error(transparent)]
    Component(#[from] ComponentError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// There is no such folder.
    #[error("there is no folder {}: name a plugin's folder, or make one with `mizzen plugin new NAME`", path.display())]
    NoFolder {
        /// Where.
        path: PathBuf,
    },
    /// A folder cannot be made or moved.
    #[error("{act} {}: {source}", path.display())]
    Folder {
        /// What was tried.
        act: &'static str,
        /// Where.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
}

/// Why a project could not be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NewProjectError {
    /// The folder is not empty.
    #[error("{} exists and is not empty: choose another name or folder", .0.display())]
    NotEmpty(PathBuf),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] BuildError),
}
