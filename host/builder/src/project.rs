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
        let manifest_text = files::read_text(&path, MAX_MANIFEST as u64)?;
        let manifest = Manifest::parse(&manifest_text).map_err(|problems| BuildError::Manifest {
            path,
            problems: problems.to_string(),
        })?;
        if sdk::is_unpacked_by(&files::read_text(&folder.join(CARGO_TOML), MAX_CARGO_TOML)?) {
            sdk::unpack(&folder, progress)?;
        }
        let metadata = cargo::metadata(&folder)?;
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
