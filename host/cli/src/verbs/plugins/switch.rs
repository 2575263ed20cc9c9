//! `mizzen plugins disable NAME[@VERSION]` and `enable`.

use super::install::{direction, older};
use super::named;
use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::{anyhow, ensure};
use mizzen_catalog::change::{ChangeError, Switch, Switching};
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen plugins disable text@1.0.0")]
pub(crate) struct Disable {
    #[command(flatten)]
    which: Which,
}

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  mizzen plugins enable text@1.0.0")]
pub(crate) struct Enable {
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
struct Which {
    /// The plugin's name, or its name and version
    plugin: String,
    /// Do it although an older version is what is loaded then
    #[arg(long)]
    allow_downgrade: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Disable {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        self.which.change(home, Switch::Disable)
    }
}

impl Enable {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let config = self.which.config.load()?;
        let disabled = config.sources.disabled.iter().any(|(name, version)| {
            let id = version
                .as_ref()
                .map_or_else(|| name.to_string(), |version| format!("{name}@{version}"));
            id == self.which.plugin
        });
        ensure!(
            disabled,
            "{} is not disabled; see `mizzen plugins list`",
            mizzen_json::shorten(&self.which.plugin)
        );
        self.which.change(home, Switch::Enable)
    }
}

impl Which {
    fn change(self, home: &Home, switch: Switch) -> anyhow::Result<ExitCode> {
        self.config.load()?;
        let (plugin, version) = named(&self.plugin)?;
        let switching = Switching {
            plugin,
            version,
            switch,
            direction: direction(self.allow_downgrade),
        };
        let installation = self.config.installation(home);
        let mut prepared = match installation.prepare_switch(&switching) {
            Ok(prepared) => prepared,
            Err(ChangeError::Refused(failure)) => return output::load_failure(&failure, self.json.into()),
            Err(ChangeError::Older(found)) => return older(&found, self.json.into()),
            Err(ChangeError::NotInstalled(reason)) => {
                return Err(anyhow!("{reason}; see `mizzen plugins list`"));
            }
            Err(error) => return Err(error.into()),
        };
        let trial = Trial::of(&self.config, home)?;
        let tried = match switch {
            Switch::Enable => trial.prepared(&mut prepared)?,
            Switch::Disable => trial.without(&installation, &mut prepared)?,
        };
        if let Err(failure) = tried {
            return output::load_failure(&failure, self.json.into());
        }
        prepared.write()?;
        let done = match switch {
            Switch::Enable => "enabled",
            Switch::Disable => "disabled",
        };
        if self.json {
            output::json(&json!({ "ok": true, "plugin": self.plugin, "state": done }))?;
        } else {
            println!("{} is {done}", self.plugin);
            super::note_broken(&prepared);
        }
        Ok(ExitCode::SUCCESS)
    }
}
