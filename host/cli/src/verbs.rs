//! Every verb of `mizzen`. To add one: a file in `verbs/`, a variant in [`Verb`], an arm in [`run`].

mod audit;
mod chain;
mod completions;
mod condition;
mod db;
mod demo;
mod doctor;
mod governance;
mod graph;
mod ir;
mod key;
mod pack;
mod plugin;
mod plugins;
mod rules;
mod run;
mod runs;
mod serve;
mod sprite;
mod tool;
mod trust;
mod version;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, Parser as _};
use std::process::ExitCode;

/// Runs signed WebAssembly plugins for governed agents, with exactly the authority that was signed and granted.
#[derive(Debug, clap::Parser)]
#[command(name = "mizzen", version, arg_required_else_help = true, max_term_width = 110)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

impl Arguments {
    /// Reads the command line, or ends the process with what is wrong with it.
    pub(crate) fn read() -> Self {
        Self::try_parse().unwrap_or_else(|error| with_groups(error).exit())
    }
}

/// A verb without its group (`mizzen new`) is answered with the groups that have it.
fn with_groups(mut error: clap::Error) -> clap::Error {
    let named = match error.get(ContextKind::InvalidSubcommand) {
        Some(ContextValue::String(name)) if error.kind() == ErrorKind::InvalidSubcommand => name.clone(),
        _ => return error,
    };
    let command = Arguments::command();
    let has = |group: &&clap::Command| group.get_subcommands().any(|verb| verb.get_name() == named);
    let found: Vec<String> = command
        .get_subcommands()
        .filter(has)
        .map(|group| format!("{} {named}", group.get_name()))
        .collect();
    if !found.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(found));
    }
    error
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// Export and verify the journals of executions
    Audit(audit::Audit),
    /// Run chains without a server
    Chain(chain::Chain),
    Completions(completions::Completions),
    /// Try a gate's or rule's condition
    Condition(condition::Condition),
    /// Show the whole story on the first-party plugins
    Demo(demo::Demo),
    Doctor(doctor::Doctor),
    /// Check and run graphs without a server
    Graph(graph::Graph),
    /// Show and change which mandatory packs govern a data folder
    Governance(governance::Governance),
    /// Validate, convert, compare and draw IR documents
    Ir(ir::Ir),
    /// Make and show keys: those that sign plugins, and those of API users
    Key(key::Key),
    /// Write, build, test and explain one governance pack
    Pack(pack::Pack),
    /// Write, build, sign, check and run one plugin
    Plugin(plugin::Plugin),
    /// Install plugins on a host, and see what it would load
    Plugins(plugins::Plugins),
    /// Check and run rule files
    Rules(rules::Rules),
    /// Replay executions that were recorded
    Run(run::Run),
    /// List, approve, cancel and watch the executions of a running host
    Runs(runs::Runs),
    /// Validate, fingerprint and test sprites
    Sprite(sprite::Sprite),
    /// Check tool descriptors
    Tool(tool::Tool),
    /// Say whose plugins a host trusts
    Trust(trust::Trust),
    /// Back up, check and describe the database
    Db(db::Db),
    /// Serve the HTTP API
    Serve(serve::Serve),
    Version(version::Version),
}

/// Runs the chosen verb. `Err` is for what stopped the verb; a verb that ran and says no returns its own exit code.
pub(crate) fn run(arguments: Arguments) -> anyhow::Result<ExitCode> {
    match arguments.verb {
        Verb::Audit(group) => group.run(),
        Verb::Chain(group) => group.run(),
        Verb::Graph(group) => group.run(),
        Verb::Completions(verb) => verb.run(Arguments::command()),
        Verb::Condition(verb) => verb.run(),
        Verb::Demo(verb) => verb.run(),
        Verb::Doctor(verb) => verb.run(),
        Verb::Governance(group) => group.run(),
        Verb::Ir(verb) => verb.run(),
        Verb::Key(group) => group.run(),
        Verb::Pack(group) => group.run(),
        Verb::Plugin(group) => group.run(),
        Verb::Plugins(group) => group.run(),
        Verb::Run(group) => group.run(),
        Verb::Runs(group) => group.run(),
        Verb::Sprite(verb) => verb.run(),
        Verb::Tool(group) => group.run(),
        Verb::Trust(group) => group.run(),
        Verb::Db(group) => group.run(),
        Verb::Serve(verb) => verb.run(),
        Verb::Rules(verb) => verb.run(),
        Verb::Version(verb) => verb.run(),
    }
}
