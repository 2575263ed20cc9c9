//! `mizzen chain`: run chains without a server.

mod run;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Chain {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Run(run::Run),
}

impl Chain {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Run(verb) => verb.run(),
        }
    }
}
