//! The `mizzen` binary: a thin layer over the library crates. One file per verb under `verbs`.

mod account;
mod council_file;
mod data;
mod diagnostic;
mod document_file;
mod home;
mod jsonl;
mod local_host;
mod logs;
mod output;
mod plugin_host;
mod settings;
mod verbs;
mod workbench;

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    output::end_quietly_when_nobody_reads();
    let arguments = verbs::Arguments::parse();
    match verbs::run(arguments) {
        Ok(code) => code,
        Err(error) if output::nobody_reads(&error) => ExitCode::from(output::EXIT_BROKEN_PIPE),
        Err(error) => {
            output::error(&error);
            ExitCode::from(output::EXIT_REFUSED)
        }
    }
}
