//! A new package: an install, or an upgrade.

use super::grants::{Orphans, orphans, without_orphans};
use super::version::Before;
use super::{ChangeError, Direction, Installation, PreparedChange, WaitingForApproval, previous};
use crate::config::{PluginConfig, add_grants};
use crate::diff::UpgradeDiff;
use crate::files;
use crate::grants::GrantPolicy;
use crate::load::{Change, Found, Terms, is_same_plugin, load_changed, scan, verify_bytes};
use crate::verified::VerifiedPlugin;
use mizzen_model::manifest::Manifest;
use std::path::{Path, PathBuf};

/// Whether the operator approved beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Approval {
    /// Grant what it asks for.
    Given,
    /// Report what it asks for.
    Waiting,
}

/// What to do with the installed versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// They stay; there need not be any.
    Beside,
    /// They are removed; there must be one.
    Instead,
    /// They stay; there must be one.
    Above,
    /// They are removed, if there are any.
    Anyhow,
}

/// A package to install.
#[derive(Debug, Clone)]
pub struct NewPackage<'a> {
    /// Its bytes: these are checked, and these are written.
    pub bytes: Vec<u8>,
    /// Where they come from, for messages.
    pub source: &'a Path,
    /// What to do with the installed versions.
    pub placement: Placement,
    /// Whether what it asks for is granted.
    pub approval: Approval,
    /// Whether it may be older than what the host has had.
    pub direction: Direction,
}

struct Replaced {
    old: Option<Manifest>,
    /// The file of the newest version, when it is removed.
    newest: Option<PathBuf>,
    remove: Vec<PathBuf>,
}

impl Installation {
    /// Checks a package and the whole set with it.
    ///
    /// # Errors
    /// When it is refused, does not fit what is installed, or asks for more than is granted.
    pub fn prepare_package(&self, new: NewPackage<'_>) -> Result<PreparedChange, ChangeError> {
        let lock = self.lock()?;
        let (config, terms) = self.terms()?;
        let folder = config.sources.folders.first().cloned().ok_or_else(|| {
            ChangeError::Conflict(
                "mizzen.toml names no plugin folder; add folders = [\"plugins\"] under [plugins]".into(),
            )
        })?;
        // Grants are checked later: first the package itself.
        let everything = Terms {
            grants: GrantPolicy::AsDeclared,
            ..terms.clone()
        };
        let plugin = verify_bytes(new.source, new.bytes.clone(), &everything)?;
        let mut installed = scan(&config.sources, config.max_package);
        let before = Before::of(plugin.name(), &config, &installed)?;
        installed.retain(|found| {
            found
                .manifest
                .as_ref()
                .is_some_and(|old| old.name() == plugin.name())
        });
        let replaced = replaced(new.placement, &plugin, &installed)?;
        Self::may_remove(&config, &replaced.remove)?;
        before.check_new(plugin.version(), new.direction)?;
        let changes = UpgradeDiff::between(replaced.old.as_ref(), plugin.manifest(), config.ceiling);
        let granted = config.grants.to_plugin(plugin.manifest());
        let waiting: Vec<_> = changes
            .permissions
            .needs_approval(&granted)
            .into_iter()
            .map(|asked| asked.permission.clone())
            .collect();
        let asks_for_more = !waiting.is_empty() || !changes.limits.raised.is_empty();
        if asks_for_more && new.approval == Approval::Waiting {
            return Err(Box::new(WaitingForApproval {
                plugin: plugin.id(),
                changes,
                waiting,
            })
            .into());
        }
        // Both parts were checked when the manifest was read: neither can leave the folder.
        let target = folder.join(format!("{}-{}.wasm", plugin.name(), plugin.version()));
        if target.exists() && !replaced.remove.contains(&target) {
            return Err(ChangeError::Conflict(format!(
                "{} exists already with other contents; move it away",
                target.display()
            )));
        }
        let orphans = orphans_of(&config, &plugin, &installed, &replaced);
        let (config, terms, text) = if waiting.is_empty() && orphans.dropped.is_empty() {
            (config, terms, None)
        } else {
            let before = self.text()?;
            let after = without_orphans(&before, plugin.name(), &orphans)?;
            let after = if waiting.is_empty() {
                after
            } else {
                add_grants(&after, plugin.name(), &waiting)?
            };
            let config = self.parsed(&after)?;
            let terms = self.terms_of(&config)?;
            (config, terms, Some((before, after)))
        };
        files::folder(&folder)?;
        let kept = match (&replaced.newest, &replaced.old) {
            (Some(_), Some(old)) => Some(previous::place(&folder, old.name(), old.version())),
            _ => None,
        };
        let change = Change {
            add: Some((target, new.bytes)),
            remove: replaced.remove,
        };
        let plan = load_changed(&config.sources, &change, &terms)?;
        Ok(PreparedChange {
            plan: Ok(plan),
            config,
            plugin: plugin.id(),
            changes: Some(changes),
            granted_now: waiting,
            add: change.add,
            remove: change.remove,
            grants_go: false,
            settings_go: false,
            grants_dropped: orphans.dropped,
            described_pins: Vec::new(),
            text,
            file: self.config.clone(),
            kept,
            replaced: replaced.newest,
            highest: before.highest(),
            _lock: lock,
        })
    }
}

/// What is granted by name and asked for by a version that is removed, and by none that stays or is added.
fn orphans_of(
    config: &PluginConfig,
    new: &VerifiedPlugin,
    installed: &[Found],
    replaced: &Replaced,
) -> Orphans {
    let (mut going, mut staying) = (Vec::new(), vec![new.manifest().as_ref()]);
    for found in installed {
        let list = if replaced.remove.contains(&found.file) {
            &mut going
        } else {
            &mut staying
        };
        list.extend(found.manifest.as_ref());
    }
    orphans(config.grants.plugin.get(new.name()), &going, &staying)
}

fn replaced(
    placement: Placement,
    new: &VerifiedPlugin,
    installed: &[Found],
) -> Result<Replaced, ChangeError> {
    let newest = installed
        .iter()
        .filter_map(|found| found.manifest.as_ref())
        .max_by_key(|old| old.version().clone());
    let same = installed
        .iter()
        .find(|found| found.manifest.as_ref().map(Manifest::version) == Some(new.version()));
    let upgrades = match placement {
        Placement::Beside => false,
        Placement::Instead | Placement::Above => true,
        Placement::Anyhow => newest.is_some(),
    };
    if let Some(found) = same.filter(|_| !matches!(placement, Placement::Instead | Placement::Above)) {
        return Err(ChangeError::Conflict(format!(
            "{}@{} is already installed ({})",
            new.name(),
            new.version(),
            found.file.display()
        )));
    }
    if !upgrades {
        return Ok(Replaced {
            old: newest.cloned(),
            newest: None,
            remove: Vec::new(),
        });
    }
    let Some(newest) = newest else {
        return Err(ChangeError::NotInstalled(format!(
            "{} is not installed; use `mizzen plugins install`",
            new.name()
        )));
    };
    if !is_same_plugin(new.manifest(), newest) {
        return Err(ChangeError::Conflict(format!(
            "{} shares no namespace with the installed {}: it is another plugin of the same name; remove the installed one first if that is what you want",
            new.id(),
            newest.name()
        )));
    }
    if new.version() == newest.version() {
        return Err(ChangeError::Conflict(format!(
            "{}@{} is installed already",
            newest.name(),
            newest.version(),
        )));
    }
    let remove = match placement {
        Placement::Beside | Placement::Above => Vec::new(),
        Placement::Instead | Placement::Anyhow => installed.iter().map(|found| found.file.clone()).collect(),
    };
    let is_newest = |found: &&Found| {
        let version = found.manifest.as_ref().map(Manifest::version);
        version == Some(newest.version())
    };
    Ok(Replaced {
        old: Some(newest.clone()),
        newest: installed
            .iter()
            .find(is_newest)
            .map(|found| found.file.clone())
            .filter(|file| remove.contains(file)),
        remove,
    })
}
