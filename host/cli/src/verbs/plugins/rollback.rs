//! `mizzen plugins rollback NAME`.

use super::install::{Step, approval};
use crate::home::{ConfigFile, Home};
use anyhow::anyhow;
use mizzen_catalog::change::{Direction, Placement, previous_version};
use mizzen_model::namespace::PluginName;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins rollback text

An upgrade keeps the version that it replaces, one for each plugin, in the folder `previous` of the
plugin folder. A rollback exchanges the two, with the checks of an upgrade: signatures, trust and the
whole set. Permissions that the version asks for and that are no longer granted, or higher limits,
wait for --approve.")]
pub(crate) struct Rollback {
    /// The plugin
    plugin: String,
    /// Grant what the version asks for, and allow its limits
    #[arg(long)]
    approve: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Rollback {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let plugin = PluginName::parse(&self.plugin)?;
        let config = self.config.load()?;
        let (_, file) = previous_version(&config, &plugin).ok_or_else(|| {
            anyhow!(
                "no earlier version of {plugin} is kept: only an upgrade keeps one; install it with `mizzen plugins upgrade FILE \
                 --allow-downgrade`"
            )
        })?;
        let step = Step {
            file,
            approval: approval(self.approve),
            direction: Direction::Either,
            placement: Placement::Instead,
            config: self.config,
            audience: self.json.into(),
        };
        step.run(home)
    }
}
