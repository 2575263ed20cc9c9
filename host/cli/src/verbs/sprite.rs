//! `mizzen sprite …`: sprites as files, without a server.

mod fingerprint;
mod test;
mod validate;

use std::process::ExitCode;

/// Check, fingerprint and test sprite files, JSON or YAML.
#[derive(Debug, clap::Args)]
pub(crate) struct Sprite {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Validate(validate::Validate),
    Fingerprint(fingerprint::Fingerprint),
    Test(test::Test),
}

impl Sprite {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Validate(verb) => verb.run(),
            Verb::Fingerprint(verb) => verb.run(),
            Verb::Test(verb) => verb.run(),
        }
    }
}
