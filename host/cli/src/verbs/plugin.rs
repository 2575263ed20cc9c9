//! `mizzen plugin`: one plugin, from its source to a call. One line for each verb, here and in the two places below.

mod check;
mod inspect;
pub(super) mod shown;
mod sign;
mod verify;

use crate::home::Home;
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Plugin {
    #[command(flatten)]
    home: Home,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Check everything that a host would check, without running it
    Check(check::Check),
    /// Show what is in a package
    Inspect(inspect::Inspect),
    /// Add a signature to a package
    Sign(sign::Sign),
    /// Verify a package's signatures
    Verify(verify::Verify),
}

impl Plugin {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Check(verb) => verb.run(&self.home),
            Verb::Inspect(verb) => verb.run(),
            Verb::Sign(verb) => verb.run(&self.home),
            Verb::Verify(verb) => verb.run(&self.home),
        }
    }
}
