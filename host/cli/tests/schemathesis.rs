//! The HTTP contract, tried out by schemathesis: everything that `/openapi.json` promises, with all checks.
//!
//! Needs Python with `venv` and a package index for the first run; the environment is kept below the target folder. Without
//! them the test says so and passes, unless `MIZZEN_REQUIRE_SCHEMATHESIS` is set, as it is in CI. `MIZZEN_SCHEMATHESIS=full` adds the
//! long phases.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

#[path = "support/api.rs"]
mod support;

use std::path::{Path, PathBuf};
use std::process::Command;
use support::http::Served;

const VERSION: &str = "schemathesis==4.32.5";

/// The program, installed on first use; none when that is not possible here.
fn schemathesis() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("schemathesis");
    let program = folder.join("bin/schemathesis");
    let runs = |program: &Path| {
        Command::new(program)
            .arg("--version")
            .output()
            .is_ok_and(|output| output.status.success())
    };
    if runs(&program) {
        return Some(program);
    }
    let made = Command::new("python3").args(["-m", "venv"]).arg(&folder).status();
    if !made.is_ok_and(|status| status.success()) {
        return None;
    }
    // Without a package index this ends after seconds, not after minutes.
    let installed = Command::new(folder.join("bin/pip"))
        .args([
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--retries",
            "2",
            "--timeout",
            "20",
            VERSION,
        ])
        .status();
    (installed.is_ok_and(|status| status.success()) && runs(&program)).then_some(program)
}

#[test]
fn schemathesis_finds_nothing() {
    let Some(program) = schemathesis() else {
        let message = "schemathesis is not available here (python3 with venv and a package index are needed)";
        assert!(
            std::env::var_os("CI").is_none() && std::env::var_os("MIZZEN_REQUIRE_SCHEMATHESIS").is_none(),
            "{message}"
        );
        eprintln!("SKIPPED: {message}");
        return;
    };
    let full = std::env::var("MIZZEN_SCHEMATHESIS").is_ok_and(|value| value == "full");
    let (phases, examples) = if full {
        ("examples,coverage,fuzzing,stateful", "200")
    } else {
        ("examples,fuzzing", "10")
    };
    let (folder, server) = Served::fresh();
    let output = Command::new(program)
        .current_dir(&folder)
        .args(["run", &format!("{}/openapi.json", server.url), "--checks", "all"])
        .args([
            "--phases",
            phases,
            "--max-examples",
            examples,
            "--seed",
            "1",
            "--continue-on-failure",
        ])
        .args(["--suppress-health-check", "all"])
        .output()
        .unwrap();
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        output.status.success(),
        "{report}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(
        report.contains("passed") || report.contains("No issues found"),
        "{report}"
    );
}
