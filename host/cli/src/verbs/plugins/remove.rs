//! `mizzen plugins remove NAME[@VERSION]`.

use super::edit_config;
use crate::home::ConfigFile;
use crate::output;
use anyhow::{Context, bail};
use mizzen_catalog::config::remove_grants;
use mizzen_catalog::files::EditLock;
use mizzen_catalog::load::scan;
use mizzen_model::namespace::PluginName;
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugins remove text
  mizzen plugins remove text@1.0.0

With the last version its grants go too, so that nobody else inherits them, unless you say
--keep-grants.")]
pub(crate) struct Remove {
    /// The plugin's name, with its version when several are installed
    plugin: String,
    /// Leave its grants in mizzen.toml
    #[arg(long)]
    keep_grants: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remove {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let lock = EditLock::of(&self.config.config)?;
        let config = self.config.load()?;
        let (name, version) = self
            .plugin
            .split_once('@')
            .map_or((self.plugin.as_str(), None), |(name, version)| {
                (name, Some(version))
            });
        let name = PluginName::parse(name)?;
        let version = version
            .map(semver::Version::parse)
            .transpose()
            .context("a version is MAJOR.MINOR.PATCH")?;
        let mut installed = Vec::new();
        for found in scan(&config.sources, config.max_package) {
            if let Some(manifest) = found.manifest.filter(|manifest| *manifest.name() == name) {
                installed.push((manifest.version().clone(), found.file));
            }
        }
        let versions: Vec<String> = installed.iter().map(|(version, _)| version.to_string()).collect();
        let chosen: Vec<_> = installed
            .iter()
            .filter(|(own, _)| version.as_ref().is_none_or(|wanted| wanted == own))
            .collect();
        match chosen.len() {
            0 if installed.is_empty() => bail!("{name} is not installed; see `mizzen plugins list`"),
            0 => bail!(
                "that version of {name} is not installed; installed: {}",
                versions.join(", ")
            ),
            1 => {}
            _ if version.is_none() => bail!(
                "several versions of {name} are installed ({}); say which: {name}@VERSION",
                versions.join(", ")
            ),
            _ => {}
        }
        let files: Vec<_> = chosen.iter().map(|(_, file)| file.clone()).collect();
        if let Some(file) = files.iter().find(|file| config.sources.files.contains(file)) {
            bail!(
                "{} is named under `files` in {}; take it from there first",
                file.display(),
                self.config.config.display()
            );
        }
        for file in &files {
            std::fs::remove_file(file).with_context(|| format!("cannot remove {}", file.display()))?;
        }
        let last = files.len() == installed.len();
        let grants_go = last && !self.keep_grants && config.grants.plugin.contains_key(&name);
        if grants_go {
            edit_config(&self.config, &lock, |text| Ok(remove_grants(text, &name, &[])?))?;
        }
        if self.json {
            output::json(
                &json!({ "ok": true, "plugin": name, "removed": files, "grants_removed": grants_go }),
            )?;
        } else {
            files
                .iter()
                .for_each(|file| println!("removed {}", file.display()));
            if grants_go {
                println!("removed its grants from {}", self.config.config.display());
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
