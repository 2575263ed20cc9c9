//! `mizzen plugins upgrade FILE`.

use super::install::{Replaced, Step, version_of};
use crate::home::{ConfigFile, Home};
use anyhow::{bail, ensure};
use mizzen_catalog::load::is_same_plugin;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins upgrade text-1.1.0.wasm
  mizzen plugins upgrade text-2.0.0.wasm --keep --approve   (both versions stay; grants what is new)

It shows what the new version asks for compared to the installed one. One that asks for more waits for --approve,
unless it was granted beforehand.")]
pub(crate) struct Upgrade {
    /// The package of the newer version
    file: PathBuf,
    /// Grant what the new version asks for and the old one did not
    #[arg(long)]
    approve: bool,
    /// Keep the installed versions side by side with the new one
    #[arg(long)]
    keep: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Upgrade {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let step = Step {
            file: self.file,
            approval: self.approve.into(),
            config: self.config,
            audience: self.json.into(),
        };
        step.run(home, |new, installed| {
            let newest = installed
                .iter()
                .filter_map(|found| found.manifest.as_ref())
                .max_by_key(|old| old.version().clone());
            let Some(newest) = newest.cloned() else {
                bail!("{} is not installed; use `mizzen plugins install`", new.name());
            };
            ensure!(
                is_same_plugin(new.manifest(), &newest),
                "{} shares no namespace with the installed {}: it is another plugin of the same name; remove the installed one first if that is what you want",
                new.id(),
                newest.name()
            );
            ensure!(
                new.version() > newest.version(),
                "{}@{} is installed, and {} is not newer; remove it first if you want to go back",
                newest.name(),
                newest.version(),
                new.version()
            );
            let old = |found: &&mizzen_catalog::load::Found| {
                version_of(found).is_some_and(|version| version < new.version())
            };
            let remove = if self.keep {
                Vec::new()
            } else {
                installed
                    .iter()
                    .filter(old)
                    .map(|found| found.file.clone())
                    .collect()
            };
            Ok(Replaced {
                old: Some(newest),
                remove,
            })
        })
    }
}
