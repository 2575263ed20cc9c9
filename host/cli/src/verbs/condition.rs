//! `mizzen condition …`: for authors of gates and rules.

mod eval;

use std::process::ExitCode;

/// Tries conditions of gates and rules.
#[derive(Debug, clap::Args)]
pub(crate) struct Condition {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Evaluates a condition against a context, as a gate or rule would.
    Eval(eval::Eval),
}

impl Condition {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            Verb::Eval(eval) => eval.run(),
        }
    }
}
