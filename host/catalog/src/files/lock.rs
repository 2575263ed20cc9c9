//! One edit at a time: a process that reads a file of the operator in order to rewrite it holds the folder's lock meanwhile.

use super::FileError;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than a running host needs to compile and try the set of a change; a process that takes longer hangs.
const LONGEST: Duration = Duration::from_secs(120);
/// Edits take milliseconds, so the waiting process polls often.
const PAUSE: Duration = Duration::from_millis(5);

/// The right to edit a file. Released when dropped, and by the system when the process ends.
///
/// The lock is on the folder: the file itself is replaced by every edit, so its inode cannot carry one, and a lock file
/// would lie beside the operator's files for ever. Not for two files of one folder at once: the second would wait for
/// the first.
#[derive(Debug)]
pub struct EditLock {
    _folder: File,
}

impl EditLock {
    /// Waits for the right to edit a file; the file need not exist, its folder must.
    ///
    /// # Errors
    /// When the folder cannot be opened or locked, or another process keeps the lock for minutes.
    pub fn of(file: &Path) -> Result<Self, FileError> {
        Self::within(file, LONGEST)
    }

    fn within(file: &Path, longest: Duration) -> Result<Self, FileError> {
        // The same file by two names has one lock.
        let real = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let folder = match real.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        let opened = File::open(&folder).map_err(FileError::io("open", &folder))?;
        let since = Instant::now();
        loop {
            match opened.try_lock() {
                Ok(()) => return Ok(Self { _folder: opened }),
                Err(TryLockError::WouldBlock) if since.elapsed() < longest => thread::sleep(PAUSE),
                Err(TryLockError::WouldBlock) => {
                    return Err(FileError::Locked {
                        path: file.to_owned(),
                        waited: longest,
                    });
                }
                Err(TryLockError::Error(source)) => return Err(FileError::io("lock", &folder)(source)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn edits_of_one_file_come_one_after_the_other() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("count");
        fs::write(&file, "0").unwrap();
        let add = || {
            for _ in 0..20 {
                let _lock = EditLock::of(&file).unwrap();
                let count: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
                super::super::rewrite(&file, (count + 1).to_string().as_bytes(), 0o644).unwrap();
            }
        };
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(add);
            }
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "160");
    }

    #[test]
    fn a_lock_that_is_never_given_back_is_reported_and_a_dropped_one_is_free() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("mizzen.toml");
        let held = EditLock::of(&file).unwrap();
        let refused = EditLock::within(&file, Duration::ZERO).unwrap_err();
        assert!(
            refused.to_string().contains("another mizzen process"),
            "{refused}"
        );
        drop(held);
        EditLock::within(&file, Duration::ZERO).unwrap();
    }
}
