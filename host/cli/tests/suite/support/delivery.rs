//! The review council of `examples/`, with its plugin built and signed.

use super::packages::{self, checkout};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file of the example.
pub(crate) fn example(name: &str) -> PathBuf {
    checkout().join("examples/review-council").join(name)
}

/// A folder with the example's configuration, its plugin and a home, made once for all tests of this binary.
pub(crate) fn workshop() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = || {
        let folder = tempfile::tempdir().unwrap();
        packages::plugin("plugins/delivery").write(&folder.path().join("dist"));
        // Its own home, as the example's reader has one: the tests look into it.
        let keys = folder.path().join("home/keys");
        std::fs::create_dir_all(&keys).unwrap();
        for file in ["dev.key", "dev.pub"] {
            std::fs::copy(packages::home().join("keys").join(file), keys.join(file)).unwrap();
        }
        std::fs::copy(example("mizzen.toml"), folder.path().join("mizzen.toml")).unwrap();
        folder
    };
    FOLDER.get_or_init(made).path()
}
