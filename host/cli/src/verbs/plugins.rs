//! `mizzen plugins`: the plugins of a host.

mod grants;
mod install;
mod list;
mod plan;
mod remove;
mod switch;
mod upgrade;

use crate::home::{ConfigFile, Home};
use anyhow::Context;
use mizzen_catalog::change::Prepared;
use mizzen_catalog::files::EditLock;
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
            Verb::Remove(verb) => verb.run(home),
            Verb::Disable(verb) => verb.run(home),
            Verb::Enable(verb) => verb.run(home),
            Verb::Grants(verb) => verb.run(),
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
fn print_dropped(prepared: &Prepared) {
    if !prepared.grants_dropped.is_empty() {
        let dropped: Vec<String> = prepared.grants_dropped.iter().map(ToString::to_string).collect();
        println!(
            "no longer granted, because no installed version asks for it: {} (a version that asks again waits for approval)",
            dropped.join(", ")
        );
    }
}

/// Says so when something was taken from a set that does not load, and still does not.
fn still_broken(prepared: &Prepared) {
    if let Err(failure) = &prepared.plan {
        eprintln!(
            "note: the set still does not load; `mizzen plugins plan` lists what is left ({})",
            failure.errors.len()
        );
    }
}

/// Changes `mizzen.toml`, and writes it only if the result is a valid one. Whoever looked at what is installed before holds
/// the lock since then.
fn edit_config(
    config: &ConfigFile,
    _held: &EditLock,
    change: impl FnOnce(&str) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    use mizzen_catalog::config::{MAX_CONFIG, PluginConfig};
    use mizzen_catalog::files;
    let text = files::read_text(&config.config, MAX_CONFIG)?;
    let changed = change(&text)?;
    PluginConfig::parse(&changed, std::path::Path::new(""), crate::home::OTHER_SECTIONS)?;
    Ok(files::rewrite(&config.config, changed.as_bytes(), 0o644)?)
}
