//! `mizzen plugins disable NAME[@VERSION]` and `enable`.

use super::edit_config;
use crate::home::ConfigFile;
use crate::output;
use anyhow::ensure;
use mizzen_catalog::config::{disable, enable};
use mizzen_catalog::files::EditLock;
use mizzen_catalog::load::scan;
use mizzen_model::namespace::PluginName;
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
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Disable {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.which.config.load()?;
        let installed = scan(&config.sources, config.max_package);
        let there = installed
            .iter()
            .filter_map(|found| found.manifest.as_ref())
            .any(|manifest| {
                let id = format!("{}@{}", manifest.name(), manifest.version());
                manifest.name().as_str() == self.which.plugin || id == self.which.plugin
            });
        ensure!(
            there,
            "{} is not installed; see `mizzen plugins list`",
            mizzen_model::namespace::shorten(&self.which.plugin)
        );
        self.which
            .change("disabled", |text, plugin| Ok(disable(text, plugin)?))
    }
}

impl Enable {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
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
            mizzen_model::namespace::shorten(&self.which.plugin)
        );
        self.which
            .change("enabled", |text, plugin| Ok(enable(text, plugin)?))
    }
}

impl Which {
    fn change(
        self,
        done: &str,
        change: impl FnOnce(&str, &str) -> anyhow::Result<String>,
    ) -> anyhow::Result<ExitCode> {
        let name = self
            .plugin
            .split_once('@')
            .map_or(self.plugin.as_str(), |(name, _)| name);
        PluginName::parse(name)?;
        let lock = EditLock::of(&self.config.config)?;
        edit_config(&self.config, &lock, |text| change(text, &self.plugin))?;
        if self.json {
            output::json(&json!({ "ok": true, "plugin": self.plugin, "state": done }))?;
        } else {
            println!("{} is {done}", self.plugin);
        }
        Ok(ExitCode::SUCCESS)
    }
}
