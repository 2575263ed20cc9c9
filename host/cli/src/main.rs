//! The `mizzen` binary: a thin layer over the library crates. One file per verb under `verbs`.

mod account;
mod council_file;
mod data;
mod diagnostic;
mod document_file;
mod examine_host;
mod follow;
mod home;
mod jsonl;
mod local_host;
mod local_run;
mod logs;
mod moment;
mod output;
mod plugin_host;
mod remote_host;
mod settings;
mod unapplied;
mod verbs;
mod workbench;

use std::process::ExitCode;

/// A request makes many small allocations on one thread and frees them on another; the system's allocator spends a sixth of a chain's
/// CPU time on locks for that (measured side by side, 64 connections).
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    output::end_quietly_when_nobody_reads();
    let arguments = verbs::Arguments::read();
    match verbs::run(arguments) {
        Ok(code) => code,
        Err(error) if output::nobody_reads(&error) => ExitCode::from(output::EXIT_BROKEN_PIPE),
        Err(error) => {
            output::error(&error);
            ExitCode::from(output::EXIT_REFUSED)
        }
    }
}
