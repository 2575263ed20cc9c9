//! The version that an upgrade replaced, kept for a rollback: one for each plugin, in a folder below the plugin folder. Folders are not
//! searched for packages, so nothing of it is loaded.

use crate::config::PluginConfig;
use crate::files::{self, FileError};
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::path::{Path, PathBuf};

/// The folder's name.
const FOLDER: &str = "previous";
/// As packages are written.
const PACKAGE_MODE: u32 = 0o644;

/// Where a replaced version is kept.
pub(super) fn place(plugin_folder: &Path, plugin: &PluginName, version: &Version) -> PathBuf {
    plugin_folder
        .join(FOLDER)
        .join(format!("{plugin}-{version}.wasm"))
}

/// The version of a plugin that its last upgrade replaced. Nothing is verified.
pub fn previous_version(config: &PluginConfig, plugin: &PluginName) -> Option<(Version, PathBuf)> {
    let folder = config.sources.folders.first()?.join(FOLDER);
    versions(&folder, plugin).into_iter().max()
}

/// What is kept of a plugin.
pub(super) fn files_of(plugin_folder: &Path, plugin: &PluginName) -> Vec<PathBuf> {
    let found = versions(&plugin_folder.join(FOLDER), plugin);
    found.into_iter().map(|(_, path)| path).collect()
}

/// Copies a version that is about to be replaced.
pub(super) fn keep(from: &Path, to: &Path, max_package: u64) -> Result<(), FileError> {
    if let Some(folder) = to.parent() {
        files::folder(folder)?;
    }
    let bytes = files::read_bounded(from, max_package)?;
    files::replace(to, &bytes, PACKAGE_MODE)
}

/// Removes the other kept versions of the plugin. One that stays behind does no harm.
pub(super) fn keep_only(kept: &Path) {
    let (Some(folder), Some(name)) = (kept.parent(), plugin_of(kept)) else {
        return;
    };
    for (_, path) in versions(folder, &name) {
        if path != kept {
            let _ = files::remove(&path);
        }
    }
}

fn versions(folder: &Path, plugin: &PluginName) -> Vec<(Version, PathBuf)> {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    let read = |path: PathBuf| Some((version_of(&path, plugin)?, path));
    entries.filter_map(|entry| read(entry.ok()?.path())).collect()
}

/// `NAME-VERSION.wasm`: names and versions may have dashes, so the name must be known.
fn version_of(path: &Path, plugin: &PluginName) -> Option<Version> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".wasm")?;
    let version = stem.strip_prefix(plugin.as_str())?.strip_prefix('-')?;
    Version::parse(version).ok()
}

/// The name of the plugin in a file's name that was made by [`place`].
fn plugin_of(path: &Path) -> Option<PluginName> {
    let stem = path.file_name()?.to_str()?.strip_suffix(".wasm")?;
    let splits = stem.match_indices('-').map(|(at, _)| stem.split_at(at));
    let mut names = splits.filter(|(_, rest)| Version::parse(rest.trim_start_matches('-')).is_ok());
    let (name, _) = names.next()?;
    PluginName::parse(name).ok()
}
