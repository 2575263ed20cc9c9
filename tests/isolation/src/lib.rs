//! What the isolation tests share: guests built once, a host that loads one of them, and what is expected of it.
//!
//! To add a misdeed: a folder in `tests/guests` with a crate, a `plugin.toml` and an `expected.toml`. A folder without an
//! expectation fails the suite.

#![forbid(unsafe_code)]

use anyhow::{Context, Result};
use mizzen_builder::{BuildRequest, build_plugin};
use mizzen_catalog::grants::GrantPolicy;
use mizzen_catalog::key::SecretKey;
use mizzen_catalog::load::load_set;
use mizzen_catalog::trust::{Policy, TrustMode, UnixTime};
use mizzen_catalog::{LoadFailure, Sources, Terms};
use mizzen_engine::CallPolicy;
use mizzen_ops::toolbox::{CallError, CallRequest, Outfit, ToolResult, Toolbox};
use mizzen_sandbox::{CallContext, Sandbox};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a guest must come to.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The outcome's name, or `load-refused:CODE`.
    pub outcome: String,
    /// The tool to call.
    pub tool: String,
    /// Its input.
    pub input: String,
    /// A text that the answer or the explanation holds.
    #[serde(default)]
    pub contains: String,
}

/// The repository's root.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders of all hostile guests.
///
/// # Errors
/// When the folder cannot be read.
pub fn guests() -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in std::fs::read_dir(root().join("tests/guests"))? {
        let path = entry?.path();
        if path.join("Cargo.toml").exists() {
            folders.push(path);
        }
    }
    folders.sort();
    Ok(folders)
}

/// A key that every test knows. It signs nothing outside of the tests.
pub fn key() -> SecretKey {
    SecretKey::from_seed(b"a key for the isolation tests !!")
}

/// Builds a plugin's folder into `scratch`, which all guests share so that their dependencies are built once.
///
/// # Errors
/// When it does not build.
pub fn build(folder: &Path, scratch: &Path) -> Result<PathBuf> {
    let (target, output) = (scratch.join("target"), scratch.join("dist"));
    let request = BuildRequest {
        folder,
        key: &key(),
        target_folder: Some(&target),
        output_folder: Some(&output),
    };
    let built =
        build_plugin(request, &mut |_| ()).with_context(|| format!("building {}", folder.display()))?;
    Ok(built.path)
}

/// Trusts the tests' key for everything and grants what is declared.
pub fn terms() -> Terms {
    let policy = Policy {
        mode: TrustMode::Dev,
        dev_key: Some(key().id()),
        ..Policy::default()
    };
    Terms::new(policy, GrantPolicy::AsDeclared, UnixTime::now())
}

/// Loads packages into a toolbox of their own.
///
/// # Errors
/// With what the loader refuses.
pub async fn load(sandbox: &Arc<Sandbox>, files: Vec<PathBuf>) -> Result<Arc<Toolbox>, LoadFailure> {
    load_with(sandbox, files, Outfit::default()).await
}

/// The same, with services behind the imports.
///
/// # Errors
/// With what the loader refuses.
pub async fn load_with(
    sandbox: &Arc<Sandbox>,
    files: Vec<PathBuf>,
    outfit: Outfit,
) -> Result<Arc<Toolbox>, LoadFailure> {
    let plan = load_set(
        &Sources {
            files,
            ..Sources::default()
        },
        &terms(),
    )?;
    let toolbox = Toolbox::new(Arc::clone(sandbox), outfit);
    toolbox.load(&plan).await?;
    Ok(toolbox)
}

/// Calls a tool with no terms of its own.
///
/// # Errors
/// With what the call came to.
pub async fn call(toolbox: &Toolbox, tool: &str, input: Value) -> Result<ToolResult, CallError> {
    let request = CallRequest {
        tool: tool.to_owned(),
        input,
        context: CallContext::default(),
        policy: CallPolicy::default(),
    };
    toolbox.call(request).await
}
