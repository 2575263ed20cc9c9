//! `mizzen audit`: the journals of executions, for whoever does not want to take the host's word, and the end of the host's own log.

mod export;
mod head;
mod log;
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
    Head(head::Head),
    Log(log::Log),
    Verify(verify::Verify),
}

impl Audit {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Export(verb) => verb.run(),
            Verb::Head(verb) => verb.run(),
            Verb::Log(verb) => verb.run(),
            Verb::Verify(verb) => verb.run(),
        }
    }
}
