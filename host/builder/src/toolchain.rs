//! The WebAssembly target of the toolchain that builds a plugin.

use crate::cargo::{self, Finished};
use crate::{BuildError, Progress};
use std::fs::File;
use std::path::Path;
use std::process::Command;

/// What plugins are built for.
pub const GUEST_TARGET: &str = "wasm32-wasip2";

/// Installs the target when the active toolchain of `folder` does not have it.
pub(crate) fn ensure_target(folder: &Path, progress: &mut dyn FnMut(Progress<'_>)) -> Result<(), BuildError> {
    if has_target(folder)? {
        return Ok(());
    }
    // rustup does not protect its own files against a second rustup; builds of several plugins may begin together.
    let lock = File::create(std::env::temp_dir().join("mizzen-rustup.lock"));
    let _held = lock.as_ref().map(File::lock);
    if has_target(folder)? {
        return Ok(());
    }
    progress(Progress::InstallingTarget);
    let mut rustup = Command::new("rustup");
    rustup.args(["target", "add", GUEST_TARGET]).current_dir(folder);
    let failed = |reason: String| BuildError::Target {
        target: GUEST_TARGET,
        reason,
    };
    let Finished { success, output, .. } = cargo::run(rustup, progress).map_err(|error| match error {
        BuildError::Program { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            failed("rustup is not installed; install the target with the tool that installed Rust".to_owned())
        }
        other => other,
    })?;
    if success && has_target(folder)? {
        Ok(())
    } else {
        Err(failed(output))
    }
}

/// Checks the toolchain's files, which also works for toolchains that rustup did not install.
fn has_target(folder: &Path) -> Result<bool, BuildError> {
    let mut rustc = Command::new("rustc");
    rustc
        .args(["--print", "target-libdir", "--target", GUEST_TARGET])
        .current_dir(folder);
    let Finished {
        success,
        stdout,
        output,
    } = cargo::run(rustc, &mut |_| {})?;
    if !success {
        return Err(BuildError::Target {
            target: GUEST_TARGET,
            reason: output,
        });
    }
    let holds_std = std::fs::read_dir(stdout.trim_end()).is_ok_and(|mut entries| {
        entries
            .any(|entry| entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")))
    });
    Ok(holds_std)
}
