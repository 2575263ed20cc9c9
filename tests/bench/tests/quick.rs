//! Every benchmark runs, once and small: a number that cannot be measured any more is found here, not on the day of the release.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use serde_json::Value;
use std::process::Command;

/// Subjects of which a quick run may leave something out, because it builds no rivals, downloads nothing, and takes the `mizzen`
/// binary only when it is there. All others must be measured.
const MAY_MISS: &[&str] = &["extism", "load", "chain", "memory", "rules", "soak"];

fn bench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_mizzen-bench"))
}

#[test]
fn every_benchmark_runs_once_in_quick_mode() {
    let folder = tempfile::tempdir().unwrap();
    let run = bench()
        .args(["--quick", "--output"])
        .arg(folder.path())
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{stderr}");
    let report = std::fs::read_to_string(folder.path().join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    let rows = report["rows"].as_array().unwrap();
    let listed = bench().arg("--list").output().unwrap();
    for subject in String::from_utf8(listed.stdout).unwrap().lines() {
        let of_subject: Vec<&Value> = rows.iter().filter(|row| row["subject"] == subject).collect();
        assert!(!of_subject.is_empty(), "{subject} has no rows: {stderr}");
        for row in of_subject {
            if let Some(why) = row["skipped"].as_str() {
                assert!(MAY_MISS.contains(&subject) && !why.is_empty(), "{row}");
            } else {
                // Growth may be flat and memory may shrink: a number it must be.
                assert!(row["ours"]["value"].is_number(), "{row}");
            }
        }
    }
    let markdown = std::fs::read_to_string(folder.path().join("report.md")).unwrap();
    let lines = markdown.lines().filter(|line| line.starts_with('|')).count();
    assert_eq!(lines, rows.len() + 2, "{markdown}");
    for fact in ["cpu", "kernel", "rustc"] {
        assert!(!report["machine"][fact].as_str().unwrap().is_empty(), "{report}");
    }
    assert!(report["machine"]["fdatasync_p50_us"].as_f64().unwrap() > 0.0);
}

#[test]
fn an_unknown_subject_is_refused_with_the_ones_there_are() {
    let run = bench().arg("no-such-subject").output().unwrap();
    let stderr = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success() && stderr.contains("sandbox"), "{stderr}");
}
