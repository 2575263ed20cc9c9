//! The data folder: made when missing, private to its owner, and held by one server at a time.

use std::fs::{File, OpenOptions, Permissions, TryLockError};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

/// Another process serves this data folder.
#[derive(Debug, thiserror::Error)]
pub enum FolderInUse {
    /// The lock is taken.
    #[error(
        "the data folder {0} is served by another mizzen process; stop it, or choose another folder with --data"
    )]
    Locked(PathBuf),
    /// The folder or its lock file cannot be made.
    #[error("the data folder {path} cannot be used: {source}; choose one that you may write to, with --data")]
    Unusable {
        /// The folder.
        path: PathBuf,
        /// What the operating system said.
        source: std::io::Error,
    },
}

/// Holds the data folder for one server; released when dropped or when the process ends.
#[derive(Debug)]
pub struct FolderLock {
    _file: File,
}

impl FolderLock {
    /// Makes the folder when it is missing and takes its lock without waiting.
    pub fn take(folder: &Path) -> Result<Self, FolderInUse> {
        let unusable = |source| FolderInUse::Unusable {
            path: folder.to_path_buf(),
            source,
        };
        make(folder).map_err(unusable)?;
        let path = folder.join("lock");
        // Asked before opening: opening a pipe would wait for somebody at its other end.
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            return Err(unusable(std::io::Error::other(
                "`lock` in it is not a regular file",
            )));
        }
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(PRIVATE)
            .open(path)
            .map_err(unusable)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(FolderInUse::Locked(folder.to_path_buf())),
            Err(TryLockError::Error(source)) => Err(unusable(source)),
        }
    }
}

/// Makes the data folder, readable by its owner alone: it holds documents, key digests and the audit log.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    if folder.is_dir() {
        return Ok(());
    }
    std::fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

/// Makes sure that a file of the database is its owner's alone, whatever the folder and the umask say: a new one is made so, and one
/// that is there is closed to others. SQLite gives the log and the index beside a database the mode that the database has.
pub(crate) fn keep_private(database: &Path) -> std::io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(PRIVATE)
        .open(database);
    match made {
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(error) => return Err(error),
    }
    for suffix in ["", "-wal", "-shm"] {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        close_to_others(Path::new(&path));
    }
    Ok(())
}

/// What the database and its backups are made with.
pub(crate) const PRIVATE: u32 = 0o600;

fn close_to_others(path: &Path) {
    let Ok(metadata) = std::fs::metadata(path) else {
        return;
    };
    let mode = metadata.permissions().mode() & 0o777;
    if !metadata.is_file() || mode & 0o077 == 0 {
        return;
    }
    match std::fs::set_permissions(path, Permissions::from_mode(PRIVATE)) {
        Ok(()) => tracing::warn!(
            file = %path.display(),
            "others could read the file (mode {mode:o}); it is closed to them now"
        ),
        // Somebody else's file: its owner has to.
        Err(error) => tracing::warn!(
            file = %path.display(),
            "others can read the file (mode {mode:o}), and that cannot be changed ({error}); run chmod 600 on it"
        ),
    }
}

/// How much room is left for a file of the database, when a limit is near enough to be the reason of a refused write.
pub(crate) fn is_out_of_room(database: &Path) -> bool {
    // Below this, a refused write is taken for a full disk; above, for a broken one.
    const NEAR: u64 = 1 << 20;
    let limit = rustix::process::getrlimit(rustix::process::Resource::Fsize).current;
    let mut wal = database.as_os_str().to_owned();
    wal.push("-wal");
    let largest = [database.to_path_buf(), PathBuf::from(wal)]
        .iter()
        .filter_map(|path| std::fs::metadata(path).ok())
        .map(|metadata| metadata.len())
        .max()
        .unwrap_or(0);
    let file_limit_near = limit.is_some_and(|limit| largest.saturating_add(NEAR) >= limit);
    let disk_near = rustix::fs::statvfs(database).is_ok_and(|disk| {
        disk.f_bavail.saturating_mul(disk.f_frsize) < NEAR || disk.f_favail == 0 && disk.f_files > 0
    });
    file_limit_near || disk_near
}
