//! `mizzen key api`: the keys of HTTP callers.

mod list;
mod new;
mod revoke;

use crate::data::Data;
use std::process::ExitCode;

/// The keys of HTTP callers: what they may do, shown once, stored hashed
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Api {
    #[command(flatten)]
    data: Data,
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
        match self.verb {
            Verb::New(verb) => verb.run(&self.data),
            Verb::List(verb) => verb.run(&self.data),
            Verb::Revoke(verb) => verb.run(&self.data),
        }
    }
}
