//! `mizzen plugins install FILE`, and the part that it shares with `upgrade`.

use crate::home::{ConfigFile, Home};
use crate::output;
use anyhow::{Context, bail, ensure};
use mizzen_catalog::config::{PluginConfig, add_grants};
use mizzen_catalog::diff::PermissionDiff;
use mizzen_catalog::load::{Change, Found, load_changed, scan, verify_bytes};
use mizzen_catalog::trust::{Pins, TrustMode};
use mizzen_catalog::{Terms, VerifiedPlugin, files};
use mizzen_model::manifest::Manifest;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugins install text-1.0.0.wasm
  mizzen plugins install text-1.0.0.wasm --approve     (grants what it declares)

The whole set is checked with the new plugin in it before any file is touched. A plugin that asks for permissions
which are not granted yet is shown and not installed, unless you approve.")]
pub(crate) struct Install {
    /// The package
    file: PathBuf,
    /// Grant what the plugin declares, by name, in mizzen.toml
    #[arg(long)]
    approve: bool,
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
            approval: self.approve.into(),
            config: self.config,
            audience: self.json.into(),
        };
        step.run(home, |new, installed| {
            let same = installed
                .iter()
                .find(|found| version_of(found) == Some(new.version()));
            if let Some(found) = same {
                bail!(
                    "{}@{} is already installed ({})",
                    new.name(),
                    new.version(),
                    found.file.display()
                );
            }
            let newest = installed
                .iter()
                .filter_map(|found| found.manifest.as_ref())
                .max_by_key(|old| old.version().clone());
            Ok(Replaced {
                old: newest.cloned(),
                remove: Vec::new(),
            })
        })
    }
}

pub(super) fn version_of(found: &Found) -> Option<&semver::Version> {
    found.manifest.as_ref().map(Manifest::version)
}

/// Whether the operator said yes beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Approval {
    Given,
    Waiting,
}

impl From<bool> for Approval {
    /// From the flag `--approve`.
    fn from(approve: bool) -> Self {
        if approve { Self::Given } else { Self::Waiting }
    }
}

/// What a new package takes the place of.
pub(super) struct Replaced {
    /// The version to which its permissions are compared.
    pub(super) old: Option<Manifest>,
    /// Files that go.
    pub(super) remove: Vec<PathBuf>,
}

/// One change of the installed set by a new package.
pub(super) struct Step {
    pub(super) file: PathBuf,
    pub(super) approval: Approval,
    pub(super) config: ConfigFile,
    pub(super) audience: output::Audience,
}

impl Step {
    /// Checks everything, asks for approval, and only then touches files: grants first, because a host that watches the
    /// folder must find them when it finds the package.
    pub(super) fn run(
        self,
        home: &Home,
        replaced: impl FnOnce(&VerifiedPlugin, &[Found]) -> anyhow::Result<Replaced>,
    ) -> anyhow::Result<ExitCode> {
        let (config, terms) = self.config.terms(home)?;
        let folder = config
            .sources
            .folders
            .first()
            .context("mizzen.toml names no plugin folder; add folders = [\"plugins\"] under [plugins]")?;
        // These bytes are checked, and these bytes are written: the file may change in between.
        let bytes = files::read_bounded(&self.file, config.max_package)?;
        let everything = Terms {
            grants: mizzen_catalog::grants::GrantPolicy::AsDeclared,
            ..terms.clone()
        };
        let new = match verify_bytes(&self.file, bytes.clone(), &everything) {
            Ok(new) => new,
            Err(failure) => return output::load_failure(&failure, self.audience),
        };
        let mut installed = scan(&config.sources, config.max_package);
        installed.retain(|found| {
            found
                .manifest
                .as_ref()
                .is_some_and(|manifest| manifest.name() == new.name())
        });
        let replaced = replaced(&new, &installed)?;
        let diff = PermissionDiff::between(replaced.old.as_ref(), new.manifest());
        let granted = config.grants.to_plugin(new.manifest());
        let waiting: Vec<_> = diff
            .needs_approval(&granted)
            .into_iter()
            .map(|asked| asked.permission.clone())
            .collect();
        if self.audience == output::Audience::Person {
            println!("{} asks for:\n{diff}", new.id());
        }
        if !waiting.is_empty() && self.approval == Approval::Waiting {
            return self.wait_for_approval(&new, &diff, &waiting);
        }
        let target = folder.join(format!("{}-{}.wasm", new.name(), new.version()));
        ensure!(
            !target.exists() || replaced.remove.contains(&target),
            "{} exists already and is something else; move it away",
            target.display()
        );
        let (text, terms) = self.with_grants(&new, &waiting, home, terms)?;
        files::folder(folder)?;
        let change = Change {
            add: Some((target.clone(), bytes.clone())),
            remove: replaced.remove.clone(),
        };
        let plan = match load_changed(&config.sources, &change, &terms) {
            Ok(plan) => plan,
            Err(failure) => return output::load_failure(&failure, self.audience),
        };
        if let Some((_, after)) = &text {
            files::rewrite(&self.config.config, after.as_bytes(), 0o644)?;
        }
        if let Err(error) = files::create_new(&target, &bytes, 0o644) {
            if let Some((before, _)) = &text {
                files::rewrite(&self.config.config, before.as_bytes(), 0o644)?;
            }
            return Err(error.into());
        }
        for old in &replaced.remove {
            std::fs::remove_file(old).with_context(|| format!("cannot remove {}", old.display()))?;
        }
        if terms.policy.mode == TrustMode::Tofu && !plan.new_pins().is_empty() {
            plan.pins(Pins::load(&config.pins_file)?)
                .save(&config.pins_file)?;
        }
        match self.audience {
            output::Audience::Program => output::json(&json!({
                "ok": true, "plugin": new.id(), "file": target, "removed": replaced.remove,
                "permissions": diff, "granted_now": waiting, "hash": plan.hash(),
            }))?,
            output::Audience::Person => {
                println!("installed {} as {}", new.id(), target.display());
                replaced
                    .remove
                    .iter()
                    .for_each(|old| println!("removed {}", old.display()));
                println!("plan {}", plan.hash());
            }
        }
        Ok(ExitCode::SUCCESS)
    }

    fn wait_for_approval(
        &self,
        new: &VerifiedPlugin,
        diff: &PermissionDiff,
        waiting: &[mizzen_model::permission::Permission],
    ) -> anyhow::Result<ExitCode> {
        match self.audience {
            output::Audience::Program => output::json(&json!({
                "ok": false, "code": "approval-needed", "plugin": new.id(), "permissions": diff, "waiting": waiting,
            }))?,
            output::Audience::Person => {
                let shown: Vec<String> = waiting.iter().map(ToString::to_string).collect();
                eprintln!(
                    "error: {} waits for your approval of {}",
                    new.id(),
                    shown.join(", ")
                );
                eprintln!("  help: if you agree, run the same command with --approve; nothing was changed");
            }
        }
        Ok(ExitCode::from(output::EXIT_REFUSED))
    }

    /// The configuration's text before and after the approved grants, and the terms that follow from it.
    fn with_grants(
        &self,
        new: &VerifiedPlugin,
        waiting: &[mizzen_model::permission::Permission],
        home: &Home,
        terms: Terms,
    ) -> anyhow::Result<(Option<(String, String)>, Terms)> {
        if waiting.is_empty() {
            return Ok((None, terms));
        }
        let before = files::read_text(&self.config.config, mizzen_catalog::config::MAX_CONFIG)?;
        let after = add_grants(&before, new.name(), waiting)?;
        let base = self.config.config.parent().unwrap_or(std::path::Path::new(""));
        let config = PluginConfig::parse(&after, base, crate::home::OTHER_SECTIONS)?;
        let dev_key = if config.mode == TrustMode::Dev {
            home.dev_key()?
        } else {
            None
        };
        Ok((Some((before, after)), config.terms(dev_key, terms.now)?))
    }
}
