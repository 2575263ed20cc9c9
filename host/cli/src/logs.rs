//! Structured logs on stderr: for people on a terminal, JSON otherwise. `MIZZEN_LOG` filters them, e.g. `MIZZEN_LOG=warn`.

use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Starts logging. Called once, by verbs that serve.
pub(crate) fn start() {
    let filter = EnvFilter::try_from_env("MIZZEN_LOG").unwrap_or_else(|_| EnvFilter::new("info"));
    let logs = tracing_subscriber::fmt()
        .with_env_filter(filter)
        // A line that cannot be written (its reader is gone, its disk is full) is lost. Saying so on the same stderr would be a panic,
        // in whatever was about to be done: every request, for one.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    // A second start can only come from a test in the same process; the first one stands.
    let _ = if std::io::stderr().is_terminal() {
        logs.with_target(false).try_init()
    } else {
        logs.json().flatten_event(true).try_init()
    };
}
