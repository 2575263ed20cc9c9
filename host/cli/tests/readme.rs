//! The README's tour, run as a reader runs it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use std::path::Path;
use std::process::Command;

#[test]
fn every_command_of_the_tour_works_in_an_empty_folder_in_order() {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mizzen = Path::new(env!("CARGO_BIN_EXE_mizzen")).parent().unwrap();
    let rest = std::env::var_os("PATH").unwrap_or_default();
    let path = std::iter::once(mizzen.to_owned()).chain(std::env::split_paths(&rest));
    let path = std::env::join_paths(path).unwrap();

    let mut commands = 0;
    for block in readme.split("```sh\n").skip(1) {
        for line in block.split("```").next().unwrap().lines() {
            let output = Command::new("sh")
                .args(["-c", line])
                .current_dir(folder.path())
                .env("PATH", &path)
                .env("MIZZEN_HOME", folder.path().join("home"))
                .env("CARGO_TARGET_DIR", env!("CARGO_TARGET_TMPDIR"))
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{line}: {said}");
            commands += 1;
        }
    }
    assert!(commands >= 15, "only {commands} commands were found");
}
