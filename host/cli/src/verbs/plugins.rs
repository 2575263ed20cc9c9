//! `mizzen plugins`: the plugins of a host.

mod grants;
mod install;
mod list;
mod plan;
mod remove;
mod rollback;
mod switch;
mod trial;
mod upgrade;

use crate::home::Home;
use crate::output;
use anyhow::Context;
use mizzen_catalog::change::PreparedChange;
use mizzen_catalog::config::PluginConfig;
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::process::ExitCode;

/// The group.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct Plugins {
    #[command(flatten)]
    home: Home,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
enum Verb {
    /// List what is installed
    List(list::List),
    /// Show what would be loaded, in what order, and the plan's hash
    Plan(plan::Plan),
    /// Add a plugin to the host
    Install(install::Install),
    /// Replace a plugin by a newer version, after a look at what it asks for
    Upgrade(upgrade::Upgrade),
    /// Go back to the version that the last upgrade replaced
    Rollback(rollback::Rollback),
    /// Take a plugin from the host
    Remove(remove::Remove),
    /// Keep a plugin installed and do not load it
    Disable(switch::Disable),
    /// Load a disabled plugin again
    Enable(switch::Enable),
    /// Show and change what plugins may do
    Grants(grants::Grants),
}

impl Plugins {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let home = &self.home;
        match self.verb {
            Verb::List(verb) => verb.run(home),
            Verb::Plan(verb) => verb.run(home),
            Verb::Install(verb) => verb.run(home),
            Verb::Upgrade(verb) => verb.run(home),
            Verb::Rollback(verb) => verb.run(home),
            Verb::Remove(verb) => verb.run(home),
            Verb::Disable(verb) => verb.run(home),
            Verb::Enable(verb) => verb.run(home),
            Verb::Grants(verb) => verb.run(home),
        }
    }
}

/// `NAME` or `NAME@VERSION`.
fn named(text: &str) -> anyhow::Result<(PluginName, Option<Version>)> {
    let (name, version) = match text.split_once('@') {
        Some((name, version)) => (name, Some(version)),
        None => (text, None),
    };
    let version = version
        .map(Version::parse)
        .transpose()
        .context("a version is MAJOR.MINOR.PATCH")?;
    Ok((PluginName::parse(name)?, version))
}

/// Says which grants went with the version that had asked for them.
fn print_dropped(prepared: &PreparedChange) {
    if !prepared.grants_dropped.is_empty() {
        let dropped: Vec<String> = prepared.grants_dropped.iter().map(ToString::to_string).collect();
        println!(
            "no longer granted, because no installed version asks for it: {} (a version that asks again waits for approval)",
            dropped.join(", ")
        );
    }
}

/// Prints a note when the folder that installs go to is not there yet.
fn note_missing_folder(config: &PluginConfig) {
    if let Some(folder) = config.sources.missing_folder() {
        eprintln!(
            "note: the plugin folder {} does not exist and counts as empty; `mizzen plugins install` makes it",
            folder.display()
        );
    }
}

/// Prints a note when the set does not load after a change: it did not before, or the operator insists.
fn note_broken(prepared: &PreparedChange) {
    if let Err(failure) = &prepared.plan {
        eprintln!(
            "note: the host does not start with this set; `mizzen plugins plan` lists what is wrong ({})",
            output::counted(failure.errors.len(), "problem")
        );
    }
}
