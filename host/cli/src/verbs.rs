//! Every verb of `mizzen`. To add one: a file in `verbs/`, a variant in [`Verb`], an arm in [`run`].

mod condition;
mod rules;

use std::process::ExitCode;

/// Runs signed WebAssembly plugins for governed agents, with exactly the authority that was signed and granted.
#[derive(Debug, clap::Parser)]
#[command(name = "mizzen", version, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    Condition(condition::Condition),
    Rules(rules::Rules),
}

/// Runs the chosen verb. `Err` is for what stopped the verb; a verb that ran and says no returns its own exit code.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.verb {
        Verb::Condition(verb) => verb.run(),
        Verb::Rules(verb) => verb.run(),
    }
}
