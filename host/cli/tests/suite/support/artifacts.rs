//! Compiled packages, shared by the hosts of all tests: a host compiles only what no host before it has compiled. What tests build stays
//! the same from one run to the next, so most hosts compile nothing.

use super::packages::TARGET;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write as _;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The secret that entries are authenticated with: hosts that have the same one can read each other's.
const KEY: &str = "artifact.key";

/// Entries of code that is no longer built are never read again; beyond so many the pool begins anew.
const MOST: usize = 500;

fn pool() -> PathBuf {
    Path::new(TARGET).join("suite/artifacts")
}

fn make(folder: &Path) {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
        .unwrap();
}

/// Makes a file appear at another place, whole or not at all. The folders may be on two disks, which no link can span.
fn share(from: &Path, to: &Path) -> std::io::Result<()> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    if to.exists() || fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let part = to.with_extension(format!("{}-{count}.part", std::process::id()));
    fs::copy(from, &part)?;
    fs::rename(part, to)
}

/// Shares the entries that are missing; those that are there are the same.
fn share_all(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path.extension().is_some_and(|extension| extension == "cwasm") {
            // What cannot be shared is compiled once more.
            let _ = share(&path, &to.join(path.file_name().unwrap()));
        }
    }
}

/// Gives a host that is about to start what others have compiled, unless it has compiled something itself.
pub(crate) fn lend(data: &Path) {
    let (pool, own) = (pool(), data.join("artifacts"));
    if own.exists() {
        return;
    }
    if fs::read_dir(&pool).is_ok_and(|entries| entries.count() > MOST) {
        let _ = fs::remove_dir_all(&pool);
    }
    make(&pool);
    let key = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(pool.join(KEY));
    if let Ok(mut key) = key {
        key.write_all(&[7; 32]).unwrap();
    }
    make(data);
    make(&own);
    let _ = share(&pool.join(KEY), &own.join(KEY));
    share_all(&pool, &own);
}

/// Keeps what a host that has started has compiled.
pub(crate) fn take_back(data: &Path) {
    let (pool, own) = (pool(), data.join("artifacts"));
    // Entries of a host with a key of its own are of no use to others.
    let key = own.join(KEY);
    // A test may have put a pipe there, which cannot be read.
    let same_key = key.is_file() && fs::read(key).is_ok_and(|key| key == [7; 32]);
    if same_key && pool.exists() {
        share_all(&own, &pool);
    }
}
