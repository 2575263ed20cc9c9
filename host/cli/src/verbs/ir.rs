//! `mizzen ir`: validate, convert, compare and draw IR documents. To add a verb: a file in `ir/`, a variant here.

mod check;
mod diff;
mod dump;
mod fact_hash;
mod graph;
mod hash;
mod mounts;
mod new;
mod report;
mod schema;
mod source;
mod validate;

use std::process::ExitCode;

/// Validates, converts, compares and draws IR documents.
#[derive(Debug, clap::Args)]
pub(crate) struct Ir {
    #[command(subcommand)]
    verb: IrVerb,
}

#[derive(Debug, clap::Subcommand)]
enum IrVerb {
    Validate(validate::Validate),
    Dump(dump::Dump),
    Hash(hash::Hash),
    FactHash(fact_hash::FactHash),
    Diff(diff::Diff),
    Schema(schema::Schema),
    Graph(graph::Graph),
    New(new::New),
    Check(check::Check),
    Mounts(mounts::Mounts),
}

impl Ir {
    /// Runs the chosen verb.
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        match self.verb {
            IrVerb::Validate(verb) => verb.run(),
            IrVerb::Dump(verb) => verb.run(),
            IrVerb::Hash(verb) => verb.run(),
            IrVerb::FactHash(verb) => verb.run(),
            IrVerb::Diff(verb) => verb.run(),
            IrVerb::Schema(verb) => verb.run(),
            IrVerb::Graph(verb) => verb.run(),
            IrVerb::New(verb) => verb.run(),
            IrVerb::Check(verb) => verb.run(),
            IrVerb::Mounts(verb) => verb.run(),
        }
    }
}
