//! `mizzen audit`: the journals of executions, for whoever does not want to take the host's word.

mod export;
mod verify;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Export(export::Export),
    Verify(verify::Verify),
}

impl Audit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Export(verb) => verb.run(),
            Verb::Verify(verb) => verb.run(),
        }
    }
}
