//! One build at a time in a target folder, until its component has been read.
//!
//! Cargo copies what it built to `NAME.wasm`, whichever crate of that name it was, and releases its own lock before it exits. Two
//! plugins whose crates have the same name would exchange their components between cargo's exit and our read: the code of one would be
//! signed with the manifest of the other.

use crate::{BuildError, Progress};
use std::fs::{File, TryLockError};
use std::path::Path;

/// The file's name. It is never removed: two processes could hold a lock file that was.
const NAME: &str = ".mizzen-build.lock";

/// The right to build in a target folder. Released when dropped, and by the system when the process ends.
#[derive(Debug)]
pub(crate) struct BuildLock {
    _file: File,
}

impl BuildLock {
    /// Waits until no other build works in the folder; the folder is made when it is missing.
    pub(crate) fn of(
        target_folder: &Path,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Result<Self, BuildError> {
        let failed = |act| {
            move |source| BuildError::Folder {
                act,
                path: target_folder.to_owned(),
                source,
            }
        };
        std::fs::create_dir_all(target_folder).map_err(failed("cannot create"))?;
        let file = File::create(target_folder.join(NAME)).map_err(failed("cannot lock"))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                progress(Progress::Waiting(target_folder));
                file.lock().map_err(failed("cannot lock"))?;
            }
            Err(TryLockError::Error(source)) => return Err(failed("cannot lock")(source)),
        }
        Ok(Self { _file: file })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;
    use std::time::Duration;

    #[test]
    fn a_second_build_waits_until_the_first_one_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/target");
        let first = BuildLock::of(&target, &mut |_| panic!("no other build runs")).unwrap();
        let read = AtomicBool::new(false);
        thread::scope(|scope| {
            let (started, waiting) = std::sync::mpsc::channel();
            let second = scope.spawn({
                let (target, read) = (&target, &read);
                move || {
                    let _lock = BuildLock::of(target, &mut |progress| {
                        assert_eq!(progress, Progress::Waiting(target));
                        started.send(()).unwrap();
                    });
                    assert!(read.load(Ordering::SeqCst), "the first one was still being read");
                }
            });
            waiting.recv_timeout(Duration::from_secs(60)).unwrap();
            read.store(true, Ordering::SeqCst);
            drop(first);
            second.join().unwrap();
        });
    }
}
