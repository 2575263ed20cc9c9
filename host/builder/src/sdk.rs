//! The SDK and the contract, unpacked from the binary into a project's `.mizzen/kit` folder.
//!
//! The folder's place is fixed, so that a project's Cargo.toml never changes; its content follows the binary: a build with a
//! newer `mizzen` replaces it. A plugin is thus always built against the SDK of the host that packages it.

use crate::{BuildError, Progress, embedded};
use mizzen_catalog::files;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a project's Cargo.toml finds the SDK.
pub(crate) const SDK_PATH: &str = ".mizzen/kit/sdk";
/// A folder below `.mizzen`, because the host may store its own files there.
const UNPACKED: &str = ".mizzen/kit";
const STAMP: &str = ".embedded";
/// The crates in it that are compiled.
pub(crate) const CRATES: [&str; 2] = ["mizzen-sdk", "mizzen-sdk-macros"];

/// Unpacks the SDK below `project` unless the same one is there.
pub(crate) fn unpack(project: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), BuildError> {
    let folder = project.join(UNPACKED);
    let digest = digest();
    if is_current(&folder, &digest) {
        return Ok(());
    }
    // Beside it first: a build that is killed halfway, or a second one, never sees half of an SDK.
    let fresh = project.join(format!("{UNPACKED}.{}", std::process::id()));
    let act = |act: &'static str, path: &Path| {
        let path: PathBuf = path.to_owned();
        move |source| BuildError::Folder { act, path, source }
    };
    if fresh.exists() {
        fs::remove_dir_all(&fresh).map_err(act("cannot remove", &fresh))?;
    }
    write_all(&fresh, embedded::SDK)?;
    write(&fresh.join(STAMP), digest.as_bytes())?;
    let had_one = folder.exists();
    if had_one {
        fs::remove_dir_all(&folder).map_err(act("cannot remove", &folder))?;
    }
    if let Err(error) = fs::rename(&fresh, &folder) {
        // Another build may have been faster; it unpacked the same files.
        let _ = fs::remove_dir_all(&fresh);
        if !is_current(&folder, &digest) {
            return Err(act("cannot create", &folder)(error));
        }
    }
    if had_one {
        progress(Progress::SdkRefreshed(&folder));
    }
    Ok(())
}

/// Which SDK a project has unpacked, if it has one.
pub(crate) fn stamp(project: &Path) -> Option<String> {
    files::read_text(&project.join(UNPACKED).join(STAMP), digest().len() as u64).ok()
}

fn is_current(folder: &Path, digest: &str) -> bool {
    let most = digest.len() as u64;
    files::read_text(&folder.join(STAMP), most).is_ok_and(|stamp| stamp == digest)
}

/// Whether a project takes its SDK from its `.mizzen` folder.
pub(crate) fn is_unpacked_by(cargo_toml: &str) -> bool {
    let Ok(document) = cargo_toml.parse::<toml::Table>() else {
        return false;
    };
    let path = document
        .get("dependencies")
        .and_then(|dependencies| dependencies.get("mizzen-sdk"))
        .and_then(|dependency| dependency.get("path"))
        .and_then(toml::Value::as_str);
    path == Some(SDK_PATH)
}

/// Writes embedded files below a folder.
pub(crate) fn write_all(folder: &Path, files: &[(&str, &[u8])]) -> Result<(), BuildError> {
    for (path, bytes) in files {
        write(&folder.join(path), bytes)?;
    }
    Ok(())
}

/// Writes a file and the folders above it.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), BuildError> {
    let failed = |act: &'static str| {
        let path = path.to_owned();
        move |source| BuildError::Folder { act, path, source }
    };
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed("cannot create the folder of"))?;
    }
    fs::write(path, bytes).map_err(failed("cannot write"))
}

fn digest() -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, bytes) in embedded::SDK {
        hasher.update(path.as_bytes()).update(&[0]);
        hasher.update(blake3::hash(bytes).as_bytes());
    }
    hasher.finalize().to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_binary_carries_the_sdk_its_macros_and_the_contract() {
        for path in [
            "sdk/Cargo.toml",
            "sdk/src/lib.rs",
            "sdk/macros/Cargo.toml",
            "sdk/macros/src/lib.rs",
            "wit/v1/tool.wit",
        ] {
            assert!(
                embedded::SDK.iter().any(|(embedded, _)| *embedded == path),
                "{path}"
            );
        }
    }

    #[test]
    fn an_sdk_of_another_binary_is_replaced_and_the_same_one_is_left_alone() {
        let project = tempfile::tempdir().unwrap();
        unpack(project.path(), &mut |_| {}).unwrap();
        let library = project.path().join(SDK_PATH).join("src/lib.rs");
        fs::write(&library, "mine").unwrap();
        unpack(project.path(), &mut |_| {}).unwrap();
        assert_eq!(fs::read_to_string(&library).unwrap(), "mine");

        fs::write(project.path().join(UNPACKED).join(STAMP), "older").unwrap();
        let mut refreshed = 0;
        unpack(project.path(), &mut |_| refreshed += 1).unwrap();
        assert_ne!(fs::read_to_string(&library).unwrap(), "mine");
        assert_eq!(refreshed, 1);
    }

    #[test]
    fn only_a_project_that_uses_it_gets_the_sdk() {
        assert!(is_unpacked_by(
            "[dependencies]\nmizzen-sdk = { path = \".mizzen/kit/sdk\" }"
        ));
        assert!(!is_unpacked_by(
            "[dependencies]\nmizzen-sdk = { path = \"../../sdk\" }"
        ));
        assert!(!is_unpacked_by("[dependencies]\nmizzen-sdk.workspace = true"));
        assert!(!is_unpacked_by("not toml ["));
    }
}
