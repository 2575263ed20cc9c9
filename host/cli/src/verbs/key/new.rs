//! `mizzen key new NAME`.

use crate::output;
use mizzen_catalog::key::{KeyName, KeyStore};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen key new release --comment \"Acme release key\"")]
pub(crate) struct New {
    /// A name for the key on this machine: lowercase letters, digits and dashes
    name: String,
    /// One line about the key, written into its public half
    #[arg(long, default_value = "")]
    comment: String,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl New {
    pub(super) fn run(self, keys: &KeyStore) -> anyhow::Result<ExitCode> {
        let name = KeyName::parse(&self.name)?;
        keys.create(&name, &self.comment)?;
        let entry = keys.public(&name)?;
        if self.json {
            output::json(&entry)?;
        } else {
            super::print(&entry);
            println!(
                "\nThe secret half is {}; keep it to yourself.",
                keys.folder().join(format!("{name}.key")).display()
            );
            println!("Sign a plugin with it: mizzen plugin sign FILE --key {name}");
        }
        Ok(ExitCode::SUCCESS)
    }
}
