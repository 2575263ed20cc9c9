//! `mizzen plugins upgrade FILE`.

use super::install::{Step, approval, direction};
use crate::home::{ConfigFile, Home};
use mizzen_catalog::change::Placement;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins upgrade text-1.1.0.wasm
  mizzen plugins upgrade text-2.0.0.wasm --keep --approve   (both versions stay; grants what is new)
  mizzen plugins upgrade text-1.0.0.wasm --allow-downgrade  (back to an older version)

It shows what the new version asks for compared to the installed one: permissions, limits and
namespaces. One that asks for more permissions waits for --approve, unless they were granted
beforehand; so does one with higher limits.")]
pub(crate) struct Upgrade {
    /// The package of the newer version
    file: PathBuf,
    /// Grant what the new version asks for and the old one did not, and allow higher limits
    #[arg(long)]
    approve: bool,
    /// Go back to a version below the highest one that the host has had
    #[arg(long)]
    allow_downgrade: bool,
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
        let placement = if self.keep {
            Placement::Above
        } else {
            Placement::Instead
        };
        let step = Step {
            file: self.file,
            approval: approval(self.approve),
            direction: direction(self.allow_downgrade),
            placement,
            config: self.config,
            audience: self.json.into(),
        };
        step.run(home)
    }
}
