//! How verbs speak to people and to scripts: exit codes, errors, JSON.

use serde::Serialize;

/// The verb ran and the answer is no: invalid, refused, failed.
pub(crate) const EXIT_REFUSED: u8 = 1;

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
