//! Building a plugin into its signed package.

use crate::build_lock::BuildLock;
use crate::{BuildError, Progress, Project, cargo, origin, toolchain};
use mizzen_catalog::component::{Need, Shape};
use mizzen_catalog::files;
use mizzen_catalog::key::{KeyId, SecretKey};
use mizzen_catalog::package::{self, Digest, Package};
use mizzen_catalog::signature;
use mizzen_model::manifest::Manifest;
use std::path::{Path, PathBuf};

/// The largest component that is read back; the loader's own bound is lower.
const MAX_COMPONENT: u64 = 256 * 1024 * 1024;
/// A package is public: readable by all users.
const PACKAGE_MODE: u32 = 0o644;

/// What to build and how.
#[derive(Debug, Clone, Copy)]
pub struct BuildRequest<'a> {
    /// The plugin's folder.
    pub folder: &'a Path,
    /// The key to sign with.
    pub key: &'a SecretKey,
    /// Where cargo keeps what it built; when none is given `guest` in the workspace's target folder, or
    /// [`BuildRequest::shared_target_folder`]. Never the folder of the cargo that runs this program: that one is locked.
    pub target_folder: Option<&'a Path>,
    /// One folder for all plugins of a user, so that their dependencies are compiled once and not once for each plugin. Used for a
    /// plugin that is a workspace of its own with cargo's default target folder.
    pub shared_target_folder: Option<&'a Path>,
    /// Where the package goes; `dist` in the plugin's folder when none is given.
    pub output_folder: Option<&'a Path>,
}

/// A package that was built.
#[derive(Debug, Clone)]
pub struct BuiltPlugin {
    /// The package.
    pub path: PathBuf,
    /// Its size in bytes.
    pub size: u64,
    /// The digest of what was signed.
    pub digest: Digest,
    /// The key that signed it.
    pub key: KeyId,
    /// Its manifest.
    pub manifest: Manifest,
    /// What the component imports, in the order of the file.
    pub imports: Vec<String>,
    /// Those of them that no host links, each with the reason.
    pub refused: Vec<(String, String)>,
    /// Those of them whose permission the manifest does not declare, each with the permissions that it may be about.
    pub undeclared: Vec<(String, &'static [&'static str])>,
    /// Whether the same package was there already.
    pub unchanged: bool,
}

/// Builds, packages and signs a plugin. A second call without a change builds and writes nothing.
///
/// # Errors
/// See [`BuildError`].
pub fn build_plugin(
    request: BuildRequest<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<BuiltPlugin, BuildError> {
    let project = Project::open(request.folder, progress)?;
    toolchain::ensure_target(project.folder(), progress)?;
    let metadata = project.metadata();
    let own_target_folder = metadata.target_directory.join("guest");
    let shared = request
        .shared_target_folder
        .filter(|_| metadata.has_usual_target_folder());
    let target_folder = request.target_folder.or(shared).unwrap_or(&own_target_folder);
    let component = {
        let _lock = BuildLock::of(target_folder, progress)?;
        origin::claim(target_folder, metadata)?;
        progress(Progress::Building(project.manifest().name().as_str()));
        let component = cargo::build(metadata, target_folder, progress)?;
        files::read_bounded(&component, MAX_COMPONENT)?
    };

    progress(Progress::Packaging);
    let path = match request.output_folder {
        Some(folder) => folder.join(project.package_name()),
        None => project.package_path(),
    };
    write_package(&component, project.manifest_text(), path, request.key)
}

/// Embeds the manifest, signs, and writes the package unless the same one is there.
pub(crate) fn write_package(
    component: &[u8],
    manifest_text: &str,
    path: PathBuf,
    key: &SecretKey,
) -> Result<BuiltPlugin, BuildError> {
    let unsigned = package::embed_manifest(component, manifest_text)?;
    // ed25519 signatures are deterministic: the same component, manifest and key make the same bytes.
    let bytes = signature::sign(unsigned, key)?;
    let size = bytes.len() as u64;
    let unchanged = files::read_bounded(&path, size).is_ok_and(|existing| existing == bytes);
    if !unchanged {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| BuildError::Folder {
                act: "cannot create",
                path: folder.to_owned(),
                source,
            })?;
        }
        files::replace(&path, &bytes, PACKAGE_MODE)?;
    }
    let package = Package::parse(bytes)?;
    let shape = Shape::read(package.component())?;
    let manifest = Manifest::parse(manifest_text).map_err(|problems| BuildError::Manifest {
        path: path.clone(),
        problems: problems.to_string(),
    })?;
    let (mut refused, mut undeclared) = (Vec::new(), Vec::new());
    for import in &shape.imports {
        let declares = |kind| {
            manifest
                .permissions()
                .keys()
                .any(|declared| declared.kind() == kind)
        };
        match import.need() {
            Need::Refused { reason } => refused.push((import.name.clone(), reason)),
            Need::Permission { kind, examples } if !declares(kind) => {
                undeclared.push((import.name.clone(), examples));
            }
            Need::Nothing | Need::Permission { .. } => {}
        }
    }
    Ok(BuiltPlugin {
        refused,
        undeclared,
        path,
        size,
        digest: package.digest(),
        key: key.id(),
        manifest,
        imports: shape.imports.into_iter().map(|import| import.name).collect(),
        unchanged,
    })
}
