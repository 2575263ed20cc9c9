//! `mizzen run`: look at executions that were recorded.

mod replay;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Run {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Replay(replay::Replay),
}

impl Run {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Replay(verb) => verb.run(),
        }
    }
}
