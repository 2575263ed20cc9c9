//! `mizzen key`: the keys that sign plugins, and the keys of API users.

mod api;
mod list;
mod new;
mod show;

use crate::home::Home;
use mizzen_catalog::key::KeyEntry;
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Key {
    #[command(flatten)]
    home: Home,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Make a new ed25519 key
    New(new::New),
    /// List your keys
    List(list::List),
    /// Show the public half of a key, as others need it
    Show(show::Show),
    /// Keys of API users: make, list, revoke
    Api(api::Api),
}

impl Key {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let keys = self.home.keys()?;
        match self.verb {
            Verb::New(verb) => verb.run(&keys),
            Verb::List(verb) => verb.run(&keys),
            Verb::Show(verb) => verb.run(&keys),
            Verb::Api(verb) => verb.run(),
        }
    }
}

fn print(entry: &KeyEntry) {
    println!("name        {}", entry.name);
    println!("id          {}", entry.id);
    println!("public key  {}", entry.public_key);
    if !entry.comment.is_empty() {
        println!("comment     {}", crate::output::harmless(&entry.comment));
    }
}
