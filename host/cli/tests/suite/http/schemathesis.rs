//! The HTTP contract, tried out by schemathesis: everything that `/openapi.json` promises, with all checks.
//!
//! schemathesis and what it needs are pinned in `schemathesis/requirements.txt` and installed on the first run, below the target folder.
//! `MIZZEN_SCHEMATHESIS=full` adds the long phases.

use crate::support::programs;
use std::path::Path;
use std::process::Command;

#[test]
fn schemathesis_finds_nothing() {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemathesis");
    let programs = programs::python("schemathesis", &sources.join("requirements.txt"));
    let full = std::env::var("MIZZEN_SCHEMATHESIS").is_ok_and(|value| value == "full");
    let (phases, examples) = if full {
        ("examples,coverage,fuzzing,stateful", "200")
    } else {
        ("examples,fuzzing", "10")
    };
    let folder = tempfile::tempdir().unwrap();
    // With plugins: what is installed is answered with, and held against its schemas.
    let server = crate::support::council::serve(&folder.path().join("data"));
    let output = Command::new(programs.join("schemathesis"))
        .current_dir(&folder)
        .arg("--config-file")
        .arg(sources.join("schemathesis.toml"))
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
