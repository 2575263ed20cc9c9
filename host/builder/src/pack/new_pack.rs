//! A new rule pack's folder, from templates in the binary.

use crate::{NewProjectError, embedded, sdk};
use mizzen_model::namespace::PluginName;
use std::path::{Path, PathBuf};

/// Writes the folder, and returns its files, relative to it.
///
/// # Errors
/// When the folder is not empty or a file cannot be written.
pub fn new_pack(name: &PluginName, folder: &Path) -> Result<Vec<PathBuf>, NewProjectError> {
    let occupied =
        folder.exists() && !std::fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_none());
    if occupied {
        return Err(NewProjectError::NotEmpty(folder.to_owned()));
    }
    let mut written = Vec::new();
    for (path, bytes) in embedded::TEMPLATES {
        let Some(path) = path.strip_prefix("rules/") else {
            continue;
        };
        let path = match path {
            "gitignore.template" => ".gitignore",
            other => other.strip_suffix(".template").unwrap_or(other),
        };
        let text = String::from_utf8_lossy(bytes).replace("@NAME@", name.as_str());
        sdk::write(&folder.join(path), text.as_bytes())?;
        written.push(PathBuf::from(path));
    }
    Ok(written)
}
