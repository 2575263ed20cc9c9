//! `mizzen graph`: check and run graphs without a server.

mod check;
mod file;
mod follow;
mod new;
mod run;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Graph {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Check(check::Check),
    New(new::New),
    Run(run::Run),
}

impl Graph {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Check(verb) => verb.run(),
            Verb::New(verb) => verb.run(),
            Verb::Run(verb) => verb.run(),
        }
    }
}
