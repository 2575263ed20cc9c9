//! `mizzen` as a person or a script runs it.

use super::http::mizzen;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// `mizzen` in a folder, with a home in it.
pub(crate) fn mizzen_in(folder: &Path) -> Command {
    let mut command = mizzen();
    command
        .current_dir(folder)
        .env("MIZZEN_HOME", folder.join("home"));
    command
}

/// How a verb ends that reads this on stdin.
pub(crate) fn fed(arguments: &[&str], input: &str) -> Output {
    let mut child = mizzen()
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A verb that refuses its arguments does not read; its pipe is then closed, which is fine.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

/// `mizzen key api …` on a data folder, in another process than its server's.
pub(crate) fn key(data: &Path, arguments: &[&str]) -> Output {
    let mut command = mizzen();
    command.args(["key", "api", "--data"]).arg(data).args(arguments);
    command.output().unwrap()
}

/// A new API key with these grants.
#[track_caller]
pub(crate) fn new_key(data: &Path, grants: &[&str]) -> String {
    let mut arguments = vec!["new"];
    arguments.extend(grants.iter().flat_map(|grant| ["--grant", grant]));
    let output = key(data, &arguments);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// A new API key with these grants, as the header `authorization` has it.
#[track_caller]
pub(crate) fn bearer(data: &Path, grants: &[&str]) -> String {
    format!("Bearer {}", new_key(data, grants))
}
