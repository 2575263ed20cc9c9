//! `mizzen tool …`: tool descriptors as documents, and calls of installed tools.

mod call;
mod check;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Tool {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Call(call::Call),
    Check(check::Check),
}

impl Tool {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Call(verb) => verb.run(),
            Verb::Check(verb) => verb.run(),
        }
    }
}
