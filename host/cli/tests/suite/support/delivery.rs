//! The review council of `examples/`, with its plugin built and signed.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The checkout.
pub(crate) fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the example.
pub(crate) fn example(name: &str) -> PathBuf {
    checkout().join("examples/review-council").join(name)
}

/// A folder with the example's configuration, its plugin and a home, made once for all tests of this binary.
pub(crate) fn workshop() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    let made = || {
        let folder = tempfile::tempdir().unwrap();
        let built = mizzen_at(folder.path())
            .args(["plugin", "build"])
            .arg(checkout().join("plugins/delivery"))
            .args(["--output", "dist"])
            .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
            .output()
            .unwrap();
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        std::fs::copy(example("mizzen.toml"), folder.path().join("mizzen.toml")).unwrap();
        folder
    };
    FOLDER.get_or_init(made).path()
}

/// A command in the workshop.
pub(crate) fn mizzen_at(folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mizzen"));
    command
        .current_dir(folder)
        .env_remove("MIZZEN_DATA")
        .env("MIZZEN_HOME", folder.join("home"))
        .env("MIZZEN_LOG", "warn");
    command
}
