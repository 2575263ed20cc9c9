//! `mizzen db`: the database, for its operator.

mod backup;
mod check;
mod info;
mod prune;

use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Db {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Backup(backup::Backup),
    Check(check::Check),
    Info(info::Info),
    Prune(prune::Prune),
}

impl Db {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Backup(verb) => verb.run(),
            Verb::Check(verb) => verb.run(),
            Verb::Info(verb) => verb.run(),
            Verb::Prune(verb) => verb.run(),
        }
    }
}
