//! How verbs speak to people and to scripts: exit codes, errors, JSON.

use serde::Serialize;
use std::process::ExitCode;

/// The verb ran and the answer is no: invalid, refused, failed.
pub(crate) const EXIT_REFUSED: u8 = 1;

/// The verb was called wrongly: unknown options, a file that cannot be read.
pub(crate) const EXIT_USAGE: u8 = 2;

/// Prints why the call was wrong; the exit code that says so.
pub(crate) fn usage_error(error: &impl std::fmt::Display) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(EXIT_USAGE)
}

/// Prints an error with its causes on stderr, one line each.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {error}");
    for cause in error.chain().skip(1) {
        eprintln!("  because: {cause}");
    }
}

/// Prints one JSON document on stdout, for `--json`.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}
