//! `mizzen plugins install FILE`, and the part that it shares with `upgrade`.

use super::trial::Trial;
use crate::home::{ConfigFile, Home};
use crate::output::{self, Audience};
use mizzen_catalog::change::{
    Approval, ChangeError, Direction, NewPackage, OlderVersion, Placement, PreparedChange, WaitingForApproval,
};
use mizzen_catalog::diff::UpgradeDiff;
use mizzen_catalog::files;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins install text-1.0.0.wasm
  mizzen plugins install text-1.0.0.wasm --approve     (grants what it declares)

The whole set is loaded with the new plugin in it, as the host would, before any file is touched. A
plugin that asks for permissions which are not granted yet, or for more than the default limits, is
shown and not installed, unless you approve.")]
pub(crate) struct Install {
    /// The package
    file: PathBuf,
    /// Grant what the plugin declares, by name, in mizzen.toml, and allow the limits that it asks for
    #[arg(long)]
    approve: bool,
    /// Install a version below the highest one that the host has had
    #[arg(long)]
    allow_downgrade: bool,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Install {
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let step = Step {
            file: self.file,
            approval: approval(self.approve),
            direction: direction(self.allow_downgrade),
            placement: Placement::Beside,
            config: self.config,
            audience: self.json.into(),
        };
        step.run(home)
    }
}

/// `text 1.0.0 → 1.1.0`, or the plugin where there is nothing to compare it with.
fn compared(plugin: &str, changes: &UpgradeDiff) -> String {
    match &changes.from {
        Some(from) => {
            let name = plugin.split('@').next().unwrap_or(plugin);
            format!("{name} {from} → {}", changes.to)
        }
        None => plugin.to_owned(),
    }
}

/// From the flag `--approve`.
pub(super) fn approval(approve: bool) -> Approval {
    if approve {
        Approval::Given
    } else {
        Approval::Waiting
    }
}

/// From the flag `--allow-downgrade`.
pub(super) fn direction(allow_downgrade: bool) -> Direction {
    if allow_downgrade {
        Direction::Either
    } else {
        Direction::Forward
    }
}

/// Prints why a change is not made that goes back to an older version.
pub(super) fn older(older: &OlderVersion, audience: Audience) -> anyhow::Result<ExitCode> {
    match audience {
        Audience::Program => output::json(&json!({
            "ok": false, "code": "downgrade", "name": older.name, "version": older.version, "newest": older.newest,
        }))?,
        Audience::Person => {
            eprintln!("error: {older}");
            eprintln!(
                "  help: an older version may have holes that were mended since; if you mean it, run the same command with \
                 --allow-downgrade. Nothing was changed"
            );
        }
    }
    Ok(ExitCode::from(output::EXIT_REFUSED))
}

/// One change of the installed set by a new package.
pub(super) struct Step {
    pub(super) file: PathBuf,
    pub(super) approval: Approval,
    pub(super) direction: Direction,
    pub(super) placement: Placement,
    pub(super) config: ConfigFile,
    pub(super) audience: Audience,
}

impl Step {
    /// Checks everything, asks for approval, and only then touches files.
    pub(super) fn run(self, home: &Home) -> anyhow::Result<ExitCode> {
        let max = self.config.load()?.max_package;
        let new = NewPackage {
            bytes: files::read_bounded(&self.file, max)?,
            source: &self.file,
            placement: self.placement,
            approval: self.approval,
            direction: self.direction,
        };
        match self.config.installation(home).prepare_package(new) {
            Ok(mut prepared) => match Trial::of(&self.config, home)?.prepared(&mut prepared)? {
                Ok(()) => self.install(&prepared),
                Err(failure) => output::load_failure(&failure, self.audience),
            },
            Err(ChangeError::Refused(failure)) => output::load_failure(&failure, self.audience),
            Err(ChangeError::Older(found)) => older(&found, self.audience),
            Err(ChangeError::Waiting(waiting)) => self.wait_for_approval(&waiting),
            Err(error) => Err(error.into()),
        }
    }

    fn install(&self, prepared: &PreparedChange) -> anyhow::Result<ExitCode> {
        prepared.write()?;
        let target = prepared.add.as_ref().map(|(path, _)| path);
        match self.audience {
            Audience::Program => output::json(&json!({
                "ok": true, "plugin": prepared.plugin, "file": target, "removed": prepared.remove,
                "kept": prepared.kept,
                "permissions": prepared.changes.as_ref().map(|changes| &changes.permissions),
                "limits": prepared.changes.as_ref().map(|changes| &changes.limits),
                "namespaces": prepared.changes.as_ref().map(|changes| &changes.namespaces), "granted_now": prepared.granted_now,
                "grants_dropped": prepared.grants_dropped, "hash": prepared.hash(),
            }))?,
            Audience::Person => {
                if let Some(changes) = &prepared.changes {
                    println!("{} asks for:\n{changes}", compared(&prepared.plugin, changes));
                }
                if let Some(target) = target {
                    println!("installed {} as {}", prepared.plugin, target.display());
                }
                for old in &prepared.remove {
                    println!("removed {}", old.display());
                }
                if let Some(kept) = &prepared.kept {
                    println!(
                        "kept the replaced version as {}; `mizzen plugins rollback` goes back to it",
                        kept.display()
                    );
                }
                super::print_dropped(prepared);
                println!("plan {}", prepared.hash().unwrap_or_default());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn wait_for_approval(&self, new: &WaitingForApproval) -> anyhow::Result<ExitCode> {
        match self.audience {
            Audience::Program => output::json(&json!({
                "ok": false, "code": "approval-needed", "plugin": new.plugin, "permissions": new.changes.permissions,
                "limits": new.changes.limits, "namespaces": new.changes.namespaces, "waiting": new.waiting,
            }))?,
            Audience::Person => {
                println!(
                    "{} asks for:\n{}",
                    compared(&new.plugin, &new.changes),
                    new.changes
                );
                eprintln!(
                    "error: {} waits for your approval of {}",
                    new.plugin,
                    new.wants().join(", ")
                );
                eprintln!("  help: if you agree, run the same command with --approve; nothing was changed");
            }
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }
}
