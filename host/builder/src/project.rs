//! A plugin's folder: Cargo.toml and plugin.toml, read and checked together.

use crate::cargo::{self, Metadata};
use crate::{BuildError, Progress, sdk};
use mizzen_catalog::files;
use mizzen_model::manifest::{MAX_MANIFEST, Manifest};
use std::path::{Path, PathBuf};

const CARGO_TOML: &str = "Cargo.toml";
const PLUGIN_TOML: &str = "plugin.toml";
/// A Cargo.toml larger than this is not one.
const MAX_CARGO_TOML: u64 = 1024 * 1024;

/// A plugin's folder that has what a build needs.
#[derive(Debug)]
pub struct Project {
    folder: PathBuf,
    manifest_text: String,
    manifest: Manifest,
    metadata: Metadata,
}

/// Whether a manifest names no version. One that is no TOML is refused with its problems later.
fn leaves_version_out(text: &str) -> bool {
    let table = text.parse::<toml::Table>().ok();
    let plugin = table.as_ref().and_then(|table| table.get("plugin"));
    plugin.is_some_and(|plugin| plugin.get("version").is_none())
}

/// The manifest as it is embedded and signed: a version that it leaves out is that of Cargo.toml, written below `[plugin]`.
fn with_version(text: String, version: &str) -> String {
    if !leaves_version_out(&text) {
        return text;
    }
    let line = format!("version = \"{version}\"\n");
    let is_header = |line: &str| line.split('#').next().unwrap_or_default().trim() == "[plugin]";
    let mut written = String::with_capacity(text.len() + line.len());
    for old in text.split_inclusive('\n') {
        written.push_str(old);
        if is_header(old) {
            if !old.ends_with('\n') {
                written.push('\n');
            }
            written.push_str(&line);
        }
    }
    written
}

impl Project {
    /// Reads a plugin's folder, and brings its SDK up to date when the project takes it from this binary.
    ///
    /// # Errors
    /// When a file is missing or refused, or the two files disagree.
    pub fn open(folder: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<Self, BuildError> {
        let folder = folder.canonicalize().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => BuildError::NoFolder {
                path: folder.to_owned(),
            },
            _ => BuildError::Folder {
                act: "cannot open",
                path: folder.to_owned(),
                source,
            },
        })?;
        for missing in [PLUGIN_TOML, CARGO_TOML] {
            if !folder.join(missing).is_file() {
                return Err(if folder.join(crate::pack::PACK_TOML).is_file() {
                    BuildError::RulePack { folder }
                } else {
                    BuildError::NotAPlugin { folder, missing }
                });
            }
        }
        let path = folder.join(PLUGIN_TOML);
        let written = files::read_text(&path, MAX_MANIFEST as u64)?;
        let parse = |text: &str| {
            Manifest::parse(text).map_err(|problems| BuildError::Manifest {
                path: path.clone(),
                problems: problems.to_string(),
            })
        };
        // Before cargo runs: a manifest with other problems is refused at once.
        if !leaves_version_out(&written) {
            parse(&written)?;
        }
        if sdk::is_unpacked_by(&files::read_text(&folder.join(CARGO_TOML), MAX_CARGO_TOML)?) {
            sdk::unpack(&folder, progress)?;
        }
        let metadata = cargo::metadata(&folder)?;
        let manifest_text = with_version(written, &metadata.version);
        let manifest = parse(&manifest_text)?;
        if manifest.version().to_string() != metadata.version {
            return Err(BuildError::VersionsDiffer {
                manifest: manifest.version().to_string(),
                cargo: metadata.version,
            });
        }
        Ok(Project {
            folder,
            manifest_text,
            manifest,
            metadata,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The checked manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Where its package goes: `dist/NAME-VERSION.wasm`.
    pub fn package_path(&self) -> PathBuf {
        self.folder.join("dist").join(self.package_name())
    }

    pub(crate) fn package_name(&self) -> String {
        format!("{}-{}.wasm", self.manifest.name(), self.manifest.version())
    }

    pub(crate) fn manifest_text(&self) -> &str {
        &self.manifest_text
    }

    pub(crate) fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_is_left_out_is_written_below_the_header_and_nowhere_else() {
        for (text, expected) in [
            (
                "# ours\n[plugin] # it\nname = \"a\"\n[limits]\n",
                "# ours\n[plugin] # it\nversion = \"0.3.0\"\nname = \"a\"\n[limits]\n",
            ),
            ("[plugin]", "[plugin]\nversion = \"0.3.0\"\n"),
            (
                "[plugin]\nversion = \"1.0.0\"\n",
                "[plugin]\nversion = \"1.0.0\"\n",
            ),
            // A manifest without the header is embedded, and refused, as it is.
            ("plugin.name = \"a\"\n", "plugin.name = \"a\"\n"),
            ("not toml", "not toml"),
        ] {
            assert_eq!(with_version(text.to_owned(), "0.3.0"), expected, "{text}");
        }
    }
}
