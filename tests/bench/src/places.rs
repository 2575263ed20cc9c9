//! Where things are: the repository, the folder for what is built, and scratch space on the disk that is measured.

use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The folders of a run.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    /// The repository.
    pub(crate) root: PathBuf,
    /// Cargo's target folder.
    pub(crate) target: PathBuf,
    /// Reports, rivals and caches; kept between runs.
    pub(crate) kept: PathBuf,
}

impl Places {
    pub(crate) fn find() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../..")
            .canonicalize()
            .context("the repository that the benchmarks were built from is gone")?;
        let program = std::env::current_exe()?;
        // Cargo marks its target folder.
        let target = program
            .ancestors()
            .find(|folder| folder.join("CACHEDIR.TAG").exists())
            .map_or_else(|| root.join("target"), Path::to_path_buf);
        let kept = target.join("bench");
        std::fs::create_dir_all(&kept)?;
        Ok(Self { root, target, kept })
    }

    /// Where guests are built: the folder that the tests of isolation use too, so that what guests depend on is built once.
    pub(crate) fn guests(&self) -> PathBuf {
        self.target.join("tmp/guests")
    }

    /// The folder of the profile that this program was built with: `release`, or `debug` in the tests.
    pub(crate) fn profile(&self) -> Option<PathBuf> {
        let program = std::env::current_exe().ok()?;
        let mut folder = program.parent()?;
        if folder.ends_with("deps") {
            folder = folder.parent()?;
        }
        Some(folder.to_path_buf())
    }

    /// A fresh folder on the disk of the target folder; `/tmp` may be memory, and then nothing would be durable.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir> {
        Ok(tempfile::Builder::new().prefix("run-").tempdir_in(&self.kept)?)
    }
}
