//! `mizzen governance`: the mandatory packs that govern a data folder.

mod accept;
mod show;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Governance {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Accept(accept::Accept),
    Show(show::Show),
}

impl Governance {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Accept(verb) => verb.run(),
            Verb::Show(verb) => verb.run(),
        }
    }
}
