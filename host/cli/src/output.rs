//! How verbs speak to people and to scripts: exit codes, errors, JSON.

use mizzen_catalog::LoadFailure;
use mizzen_json::steers_a_terminal;
use serde::Serialize;
use std::io::Write as _;
use std::process::ExitCode;

/// The verb ran and the answer is no: invalid, refused, failed.
pub(crate) const EXIT_REFUSED: u8 = 1;

/// The verb was called wrongly: unknown options, a file that cannot be read.
pub(crate) const EXIT_USAGE: u8 = 2;

/// Prints why the call was wrong; the exit code that says so.
pub(crate) fn usage_error(error: &impl std::fmt::Display) -> ExitCode {
    eprintln!("error: {}", harmless(error));
    ExitCode::from(EXIT_USAGE)
}

/// For whom a verb prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person at a terminal.
    Person,
    /// A program: one JSON document on stdout.
    Program,
}

impl From<bool> for Audience {
    /// From the flag `--json`.
    fn from(json: bool) -> Self {
        if json { Self::Program } else { Self::Person }
    }
}

/// Prints an error with its causes on stderr, one line each.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("error: {}", harmless(error));
    for cause in causes(error) {
        eprintln!("  because: {}", harmless(&cause));
    }
}

/// A message of several lines, without what a terminal would obey: files are called whatever somebody called them, and guests say
/// what they like.
pub(crate) fn harmless(message: &impl std::fmt::Display) -> String {
    let shown = |c: char| {
        if c != '\n' && steers_a_terminal(c) {
            '\u{fffd}'
        } else {
            c
        }
    };
    message.to_string().chars().map(shown).collect()
}

/// What is behind an error, each thing once: many errors say their cause themselves.
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut said = vec![error.to_string()];
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !said.iter().any(|line| line.contains(&cause)) {
            said.push(cause);
        }
    }
    said.split_off(1)
}

/// `1 plugin`, `2 plugins`.
pub(crate) fn counted(count: impl TryInto<u64>, what: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

/// Prints one JSON document on stdout, for `--json`.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<()> {
    println!("{}", serde_json::to_string_pretty(value)?);
    Ok(())
}

/// Prints why plugins are not loaded.
pub(crate) fn load_failure(failure: &LoadFailure, audience: Audience) -> anyhow::Result<ExitCode> {
    match audience {
        Audience::Program => json(&serde_json::json!({ "ok": false, "errors": failure.errors }))?,
        Audience::Person => {
            for problem in &failure.errors {
                eprintln!("error: {}", harmless(problem));
            }
        }
    }
    Ok(ExitCode::from(EXIT_REFUSED))
}

/// What a shell gives to programs that SIGPIPE ends.
pub(crate) const EXIT_BROKEN_PIPE: u8 = 128 + 13;

/// `mizzen … | head` closes the pipe before everything is printed, and a disk may be full. `println!` makes a panic of that; the
/// process ends instead, without a word in the first case.
pub(crate) fn end_quietly_when_nobody_reads() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        let message = panic.payload_as_str().unwrap_or_default();
        if !message.starts_with("failed printing to std") {
            return usual(panic);
        }
        if message.contains("Broken pipe") {
            std::process::exit(i32::from(EXIT_BROKEN_PIPE));
        }
        let _ = writeln!(std::io::stderr(), "error: {message}");
        std::process::exit(i32::from(EXIT_REFUSED));
    }));
}

/// Whether a verb failed only because nobody reads what it writes. An error with a context is about something else.
pub(crate) fn nobody_reads(error: &anyhow::Error) -> bool {
    let broken = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    error.chain().count() == 1 && error.downcast_ref().is_some_and(broken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn one_thing_is_counted_without_a_plural() {
        assert_eq!(counted(1_u64, "plugin"), "1 plugin");
        assert_eq!(counted(0_u64, "plugin"), "0 plugins");
        assert_eq!(counted(2_usize, "ended execution"), "2 ended executions");
    }

    #[test]
    fn a_message_cannot_steer_the_terminal() {
        assert_eq!(
            harmless(&"a\u{1b}[2Jb\u{202e}c\nsecond line\r"),
            "a\u{fffd}[2Jb\u{fffd}c\nsecond line\u{fffd}"
        );
    }

    #[test]
    fn a_cause_that_was_said_is_not_said_again() {
        let check = |error: anyhow::Error, expected: &[&str]| assert_eq!(causes(&error), expected, "{error}");
        check(
            anyhow!("no such file").context("cannot open a: no such file"),
            &[],
        );
        check(
            anyhow!("no such file").context("cannot open a"),
            &["no such file"],
        );
        check(
            anyhow!("denied")
                .context("cannot write b")
                .context("the demo failed"),
            &["cannot write b", "denied"],
        );
    }
}
