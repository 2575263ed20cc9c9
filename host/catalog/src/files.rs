//! Reading and writing files carefully: bounded, regular files only, never half written.

mod lock;

pub use lock::EditLock;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Why a file could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The operating system refused.
    #[error("cannot {act} {}: {source}", path.display())]
    Io {
        /// What was tried: `read`, `write`, ….
        act: &'static str,
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },
    /// A folder, a pipe or a device is where a file was expected.
    #[error("{} is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// The file is larger than its kind may be.
    #[error("{} has {size} bytes; at most {max} are read", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The bound.
        max: u64,
    },
    /// The file is not text.
    #[error("{} is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// Another process edits it and does not finish.
    #[error(
        "another mizzen process has been changing {} for more than {waited:?}; let it finish or stop it, and try again",
        path.display()
    )]
    Locked {
        /// The file.
        path: PathBuf,
        /// How long it was waited for.
        waited: Duration,
    },
}

impl FileError {
    pub(crate) fn io(act: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { act, path, source }
    }

    /// Whether the file is simply not there.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { source, .. } if source.kind() == io::ErrorKind::NotFound)
    }
}

/// Reads a regular file of at most `max` bytes.
///
/// # Errors
/// See [`FileError`].
pub fn read_bounded(path: &Path, max: u64) -> Result<Vec<u8>, FileError> {
    // Checked before opening: opening a pipe would wait for a writer.
    let before = fs::metadata(path).map_err(FileError::io("read", path))?;
    if !before.is_file() {
        return Err(FileError::NotAFile {
            path: path.to_owned(),
        });
    }
    let file = File::open(path).map_err(FileError::io("read", path))?;
    let size = file.metadata().map_err(FileError::io("read", path))?.len();
    let too_large = |size| FileError::TooLarge {
        path: path.to_owned(),
        size,
        max,
    };
    if size > max {
        return Err(too_large(size));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    // The file can grow while it is read.
    file.take(max + 1)
        .read_to_end(&mut bytes)
        .map_err(FileError::io("read", path))?;
    if bytes.len() as u64 > max {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(bytes)
}

/// Reads a text file of at most `max` bytes.
///
/// # Errors
/// See [`FileError`].
pub fn read_text(path: &Path, max: u64) -> Result<String, FileError> {
    String::from_utf8(read_bounded(path, max)?).map_err(|_| FileError::NotText {
        path: path.to_owned(),
    })
}

/// A unique temporary name next to `path`.
fn beside(path: &Path) -> Result<PathBuf, FileError> {
    let unlucky = |error: getrandom::Error| FileError::io("write", path)(io::Error::other(error.to_string()));
    let number = getrandom::u64().map_err(unlucky)?;
    let name = path
        .file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default();
    Ok(path.with_file_name(format!(".{name}.{number:016x}.tmp")))
}

fn write_beside(path: &Path, bytes: &[u8], mode: u32) -> Result<PathBuf, FileError> {
    let temporary = beside(path)?;
    // O_EXCL with the final mode: at no moment can another user read a secret or find a link in the way.
    let written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut file| {
            file.write_all(bytes)?;
            file.sync_all()
        });
    match written {
        Ok(()) => Ok(temporary),
        Err(error) => {
            let _ = fs::remove_file(&temporary);
            Err(FileError::io("write", path)(error))
        }
    }
}

/// Replaces a file as one step: a reader sees the old or the new one, never a part.
///
/// # Errors
/// See [`FileError`].
pub fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let temporary = write_beside(path, bytes, mode)?;
    fs::rename(&temporary, path).map_err(|error| {
        let _ = fs::remove_file(&temporary);
        FileError::io("write", path)(error)
    })
}

/// Rewrites a file that a person edits: a link stays a link, and the file keeps its mode. A new file gets `mode`.
///
/// # Errors
/// See [`FileError`].
pub fn rewrite(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let mode = fs::metadata(&real).map_or(mode, |metadata| metadata.permissions().mode() & 0o777);
    replace(&real, bytes, mode)
}

/// Creates a file that must not exist yet, as one step.
///
/// # Errors
/// See [`FileError`].
pub fn create_new(path: &Path, bytes: &[u8], mode: u32) -> Result<(), FileError> {
    let temporary = write_beside(path, bytes, mode)?;
    // A link, unlike a rename, never replaces what is there.
    let linked = fs::hard_link(&temporary, path).map_err(FileError::io("create", path));
    let _ = fs::remove_file(&temporary);
    linked
}

/// Removes a file.
///
/// # Errors
/// See [`FileError`].
pub fn remove(path: &Path) -> Result<(), FileError> {
    fs::remove_file(path).map_err(FileError::io("remove", path))
}

/// Creates a folder and its parents, readable by all users.
///
/// # Errors
/// See [`FileError`].
pub fn folder(path: &Path) -> Result<(), FileError> {
    fs::create_dir_all(path).map_err(FileError::io("create", path))
}

/// Creates a folder and its parents; a new one is accessible to its owner only.
///
/// # Errors
/// See [`FileError`].
pub fn private_folder(path: &Path) -> Result<(), FileError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(FileError::io("create", path))
}

/// The mode of a file that others than its owner can write, if there is one: a user who can write `trust.toml` decides who is trusted.
pub fn writable_by_others(path: &Path) -> Option<u32> {
    let mode = fs::metadata(path).ok()?.permissions().mode() & 0o777;
    (mode & 0o022 != 0).then_some(mode)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewriting_keeps_the_mode_and_the_link() {
        let place = tempfile::tempdir().unwrap();
        let (file, link) = (place.path().join("real"), place.path().join("link"));
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        rewrite(&link, b"new", 0o644).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_others_can_write_is_found() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("trust.toml");
        assert_eq!(writable_by_others(&file), None, "a missing file is not writable");
        fs::write(&file, "").unwrap();
        for (mode, found) in [
            (0o600, None),
            (0o644, None),
            (0o664, Some(0o664)),
            (0o602, Some(0o602)),
        ] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(writable_by_others(&file), found, "{mode:o}");
        }
    }

    #[test]
    fn what_is_there_is_not_created_again_and_nothing_is_left_behind() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("file");
        create_new(&file, b"first", 0o600).unwrap();
        assert!(create_new(&file, b"second", 0o600).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"first");
        assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
    }
}
