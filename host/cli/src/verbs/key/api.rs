//! `mizzen key api`: the keys of HTTP callers.

mod list;
mod new;
mod revoke;

use crate::data::Data;
use std::path::PathBuf;
use std::process::ExitCode;

/// The keys of HTTP callers: what they may do, shown once, stored hashed
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Api {
    /// The folder with everything the host keeps
    // Global, so that it may stand after the verb too, as everywhere else.
    #[arg(
        long,
        value_name = "DIR",
        env = "MIZZEN_DATA",
        hide_env = true,
        default_value = ".mizzen",
        global = true
    )]
    data: PathBuf,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    New(new::New),
    List(list::List),
    Revoke(revoke::Revoke),
}

impl Api {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let data = Data::at(self.data);
        match self.verb {
            Verb::New(verb) => verb.run(&data),
            Verb::List(verb) => verb.run(&data),
            Verb::Revoke(verb) => verb.run(&data),
        }
    }
}
