//! Whose crates a target folder holds.
//!
//! Cargo tells the crates of a workspace apart by their paths inside of it, and takes what it built for current by the times of files.
//! Two plugins whose crates have one name are the same to it when they share a target folder: the second build would hand out the
//! first one's component, and it would be signed with the other's manifest. So the folder remembers where each crate came from,
//! and what was built from elsewhere is forgotten before cargo looks.

use crate::cargo::{Metadata, PROFILE};
use crate::toolchain::GUEST_TARGET;
use crate::{BuildError, sdk};
use mizzen_catalog::files;
use std::fs;
use std::path::Path;

/// The folder with one file for each path of a crate inside of its workspace.
const FOLDER: &str = ".mizzen-origins";
/// Bytes of such a file: a path, or a digest.
const MAX_ORIGIN: u64 = 8 << 10;
/// Digits at the end of a fingerprint's name.
const HASH_DIGITS: usize = 16;

/// Makes the target folder that of this workspace's crates. The caller holds the folder's lock.
pub(crate) fn claim(target_folder: &Path, metadata: &Metadata) -> Result<(), BuildError> {
    let root = &metadata.workspace_root;
    for member in &metadata.members {
        let manifest = member.manifest_path.strip_prefix(root);
        let manifest = manifest.unwrap_or(&member.manifest_path).to_string_lossy();
        claim_crate(target_folder, &member.name, &manifest, &root.to_string_lossy())?;
    }
    // The SDK stands at the same path in every project, and is the same as long as it was unpacked from the same binary.
    if let Some(stamp) = sdk::stamp(root) {
        for name in sdk::CRATES {
            claim_crate(target_folder, name, sdk::SDK_PATH, &stamp)?;
        }
    }
    Ok(())
}

fn claim_crate(target_folder: &Path, name: &str, path: &str, origin: &str) -> Result<(), BuildError> {
    let path = blake3::hash(path.as_bytes()).to_hex();
    let file = target_folder.join(FOLDER).join(format!("{name}-{path}"));
    if files::read_text(&file, MAX_ORIGIN).is_ok_and(|known| known == origin) {
        return Ok(());
    }
    for built in [Path::new(GUEST_TARGET).join(PROFILE), PROFILE.into()] {
        forget(&target_folder.join(built).join(".fingerprint"), name)?;
    }
    sdk::write(&file, origin.as_bytes())
}

/// Removes the fingerprints of a crate: cargo builds it again.
fn forget(fingerprints: &Path, name: &str) -> Result<(), BuildError> {
    let failed = |act| {
        move |source| BuildError::Folder {
            act,
            path: fingerprints.to_owned(),
            source,
        }
    };
    let entries = match fs::read_dir(fingerprints) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed("cannot read")(error)),
    };
    for entry in entries {
        let entry = entry.map_err(failed("cannot read"))?;
        if is_of(&entry.file_name().to_string_lossy(), name) {
            fs::remove_dir_all(entry.path()).map_err(failed("cannot clear"))?;
        }
    }
    Ok(())
}

/// Whether a fingerprint is of this crate, and not of one whose name begins with it.
fn is_of(fingerprint: &str, name: &str) -> bool {
    let hash = fingerprint
        .strip_prefix(name)
        .and_then(|rest| rest.strip_prefix('-'));
    hash.is_some_and(|hash| hash.len() == HASH_DIGITS && hash.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cargo::Member;

    #[test]
    fn only_fingerprints_of_the_crate_itself_are_forgotten() {
        for (fingerprint, expected) in [
            ("feed-0123456789abcdef", true),
            ("feed-extra-0123456789abcdef", false),
            ("feeds-0123456789abcdef", false),
            ("feed-0123456789abcdeg", false),
            ("feed", false),
        ] {
            assert_eq!(is_of(fingerprint, "feed"), expected, "{fingerprint}");
        }
    }

    #[test]
    fn what_another_folder_built_is_forgotten_once() {
        let target = tempfile::tempdir().unwrap();
        let metadata = |root: &str| Metadata {
            package: "feed".to_owned(),
            version: "0.1.0".to_owned(),
            members: vec![Member {
                name: "feed".to_owned(),
                manifest_path: Path::new(root).join("Cargo.toml"),
            }],
            manifest_path: Path::new(root).join("Cargo.toml"),
            workspace_root: root.into(),
            target_directory: Path::new(root).join("target"),
        };
        let built = target
            .path()
            .join(GUEST_TARGET)
            .join(PROFILE)
            .join(".fingerprint/feed-0123456789abcdef");
        let is_kept = |root: &str| {
            fs::create_dir_all(&built).unwrap();
            claim(target.path(), &metadata(root)).unwrap();
            built.exists()
        };
        assert!(!is_kept("/one"), "nobody knows where it came from");
        assert!(is_kept("/one"));
        assert!(!is_kept("/two"));
        assert!(!is_kept("/one"));
    }
}
