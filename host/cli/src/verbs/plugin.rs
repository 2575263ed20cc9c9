//! `mizzen plugin`: one plugin, from its source to a call. One line for each verb, here and in the two places below.

pub(super) mod build;
mod check;
mod dev;
mod inspect;
mod new;
mod provided;
mod run;
pub(super) mod shown;
mod sign;
mod test;
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
    /// Start a new plugin in a folder of its own
    New(new::New),
    /// Build, package and sign a plugin
    Build(build::Build),
    /// Call one tool in the sandbox
    Run(run::Run),
    /// Run the tools' declared examples in the sandbox
    Test(test::Test),
    /// Build, check and test again whenever a file changes
    Dev(dev::Dev),
    /// Check everything that a host would check: load, describe and register it, and call none of its tools
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
            Verb::New(verb) => verb.run(),
            Verb::Build(verb) => verb.run(&self.home),
            Verb::Run(verb) => verb.run(&self.home),
            Verb::Test(verb) => verb.run(&self.home),
            Verb::Dev(verb) => verb.run(&self.home, test::examples_hold),
            Verb::Check(verb) => verb.run(&self.home),
            Verb::Inspect(verb) => verb.run(&self.home),
            Verb::Sign(verb) => verb.run(&self.home),
            Verb::Verify(verb) => verb.run(&self.home),
        }
    }
}
