//! `mizzen plugins remove NAME[@VERSION]`.

use super::install::{direction, older};
use super::named;
use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::anyhow;
use mizzen_catalog::change::{ChangeError, GrantsFate, PreparedChange, Removal};
use serde_json::json;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  mizzen plugins remove text
  mizzen plugins remove text@1.0.0

The set is loaded without it, as the host would, before any file is touched. With the last version
its settings go, and its grants, so that no other plugin inherits them, unless you pass
--keep-grants; with another version those grants go that no installed version asks for any more.")]
pub(crate) struct Remove {
    /// The plugin's name, with its version when several are installed
    plugin: String,
    /// Leave its grants in mizzen.toml
    #[arg(long)]
    keep_grants: bool,
    /// Remove a version although only older ones are left
    #[arg(long)]
    allow_downgrade: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Remove {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        // A configuration that is not usable is explained before anything else.
        self.config.load()?;
        let (plugin, version) = named(&self.plugin)?;
        let removal = Removal {
            plugin,
            version,
            grants: if self.keep_grants {
                GrantsFate::Stay
            } else {
                GrantsFate::Go
            },
            direction: direction(self.allow_downgrade),
        };
        let installation = self.config.installation(home);
        match installation.prepare_removal(&removal) {
            Ok(mut prepared) => {
                let trial = Trial::of(&self.config, home)?;
                match trial.without(&installation, &mut prepared)? {
                    Ok(()) => self.remove(&prepared),
                    Err(failure) => output::load_failure(&failure, self.json.into()),
                }
            }
            Err(ChangeError::Refused(failure)) => output::load_failure(&failure, self.json.into()),
            Err(ChangeError::Older(found)) => older(&found, self.json.into()),
            Err(ChangeError::NotInstalled(reason)) => Err(anyhow!("{reason}; see `mizzen plugins list`")),
            Err(error) => Err(error.into()),
        }
    }

    fn remove(&self, prepared: &PreparedChange) -> anyhow::Result<ExitCode> {
        prepared.write()?;
        if self.json {
            output::json(&json!({
                "ok": true, "plugin": prepared.plugin, "removed": prepared.remove, "grants_removed": prepared.grants_go,
                "settings_removed": prepared.settings_go,
                "grants_dropped": prepared.grants_dropped,
            }))?;
            return Ok(ExitCode::SUCCESS);
        }
        for file in &prepared.remove {
            println!("removed {}", file.display());
        }
        if prepared.grants_go {
            println!("removed its grants from {}", self.config.config.display());
        }
        if prepared.settings_go {
            println!(
                "removed its settings, [config.{}], from {}",
                prepared.plugin,
                self.config.config.display()
            );
        }
        super::print_dropped(prepared);
        super::note_broken(prepared);
        Ok(ExitCode::SUCCESS)
    }
}
