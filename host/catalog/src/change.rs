//! Changes of what is installed: checked as a whole, approved, and only then written.
//!
//! The caller (the command line, the HTTP API) gets a [`PreparedChange`]: the plan of the whole set as it would be. No file has
//! been touched; [`PreparedChange::write`] does that. In between, the caller compiles, describes, registers and mounts the plan
//! (`ops::SetTrial`): a problem that the static stages cannot find would keep the host from starting.

mod granting;
mod grants;
mod package;
mod previous;
mod removal;
mod switch;
mod version;

pub use granting::{Breakage, GrantsChange};
pub use package::{Approval, NewPackage, Placement};
pub use previous::previous_version;
pub use removal::{GrantsFate, Removal};
pub use switch::{Switch, Switching};
pub use version::{Direction, OlderVersion};

use crate::config::{ConfigError, EditError, MAX_CONFIG, PluginConfig};
use crate::diff::UpgradeDiff;
use crate::error::{LoadCode, PluginLoadError};
use crate::files::{self, EditLock, FileError};
use crate::key::KeyId;
use crate::load::{Change, LoadFailure, LoadPlan, Terms, load_changed, load_set};
use crate::trust::{Pin, Pins, TrustFileError, TrustMode, UnixTime};
use mizzen_model::namespace::{Namespace, PluginName};
use mizzen_model::permission::Permission;
use semver::Version;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the development key when it is needed; none if there is none.
pub type FindDevKey = dyn Fn() -> Option<KeyId> + Send + Sync;

/// Where a host's `mizzen.toml` is, and how it is read.
#[derive(Clone)]
pub struct Installation {
    /// `mizzen.toml`.
    pub config: PathBuf,
    /// Sections of it that other parts of the host read.
    pub other_sections: &'static [&'static str],
    /// The key that counts in the trust mode `dev`.
    pub dev_key: Arc<FindDevKey>,
}

impl fmt::Debug for Installation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Installation")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// Why a change is not made. Nothing was touched.
#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    /// The set would not load.
    #[error(transparent)]
    Refused(#[from] LoadFailure),
    /// It conflicts with what is installed.
    #[error("{0}")]
    Conflict(String),
    /// No plugin of this name, or no such version of it, is installed.
    #[error("{0}")]
    NotInstalled(String),
    /// It would go back to an older version.
    #[error(transparent)]
    Older(#[from] Box<OlderVersion>),
    /// It asks for more than is granted.
    #[error(transparent)]
    Waiting(#[from] Box<WaitingForApproval>),
    /// `mizzen.toml` cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// `mizzen.toml` cannot be changed.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The trust files cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustFileError),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
}

/// A package that asks for more than is granted, or for higher limits than the installed version has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{plugin} waits for approval of {}", self.wants().join(", "))]
pub struct WaitingForApproval {
    /// `name@version`.
    pub plugin: String,
    /// What changes, compared to the installed version.
    pub changes: UpgradeDiff,
    /// What would have to be granted.
    pub waiting: Vec<Permission>,
}

impl WaitingForApproval {
    /// The permissions and the raised limits, each in words.
    pub fn wants(&self) -> Vec<String> {
        let permissions = self.waiting.iter().map(ToString::to_string);
        let limits = self.changes.limits.raised.iter().map(ToString::to_string);
        permissions.chain(limits).collect()
    }
}

/// A change that passed every static stage. Nothing is written yet.
#[derive(Debug)]
pub struct PreparedChange {
    /// The whole set as it would be. One that is still broken is accepted only where it was broken before, and the change takes
    /// something away: otherwise two bad plugins would keep each other installed.
    pub plan: Result<LoadPlan, LoadFailure>,
    /// The configuration as it would be.
    pub config: PluginConfig,
    /// The plugin: `name@version`, or its name.
    pub plugin: String,
    /// What a new package changes, compared to the installed version.
    pub changes: Option<UpgradeDiff>,
    /// What is granted by this change.
    pub granted_now: Vec<Permission>,
    /// The package's new file, with its bytes.
    pub add: Option<(PathBuf, Vec<u8>)>,
    /// Files to remove.
    pub remove: Vec<PathBuf>,
    /// Whether grants are removed with the plugin.
    pub grants_go: bool,
    /// Whether its settings are removed with it: a section that no plugin reads would keep the host from starting.
    pub settings_go: bool,
    /// The replaced version that is kept for a step back.
    pub kept: Option<PathBuf>,
    /// Grants by name to remove because no installed version asks for them any more.
    pub grants_dropped: Vec<Permission>,
    /// What `tofu` should pin of namespaces that are described and not claimed; set by the trial of the plan.
    pub described_pins: Vec<(Namespace, KeyId)>,
    text: Option<(String, String)>,
    file: PathBuf,
    /// The file of the newest version that is replaced.
    replaced: Option<PathBuf>,
    /// The highest version that the host has had of the plugin.
    highest: Option<(PluginName, Version)>,
    /// Held from the first read of the files to the last write: what was checked is what is changed.
    _lock: EditLock,
}

impl Installation {
    /// The plugin parts of `mizzen.toml`, and the terms that follow from them now.
    ///
    /// # Errors
    /// When a file cannot be used.
    pub fn terms(&self) -> Result<(PluginConfig, Terms), ChangeError> {
        let config = PluginConfig::load(&self.config, self.other_sections)?;
        let terms = self.terms_of(&config)?;
        Ok((config, terms))
    }

    /// The plan of what is installed now.
    ///
    /// # Errors
    /// With all problems of the set.
    pub fn plan(&self) -> Result<(PluginConfig, LoadPlan), ChangeError> {
        let (config, terms) = self.terms()?;
        let plan = load_set(&config.sources, &terms)?;
        Ok((config, plan))
    }

    /// The plan of what is installed now, without what has been revoked; none when nothing of it has, or nothing else loads.
    pub fn plan_without_revoked(&self, failure: &LoadFailure) -> Option<(PluginConfig, LoadPlan)> {
        let is_revoked =
            |error: &&PluginLoadError| matches!(error.code, LoadCode::RevokedKey | LoadCode::RevokedDigest);
        let revoked = failure.errors.iter().filter(is_revoked);
        let remove: Vec<PathBuf> = revoked.filter_map(|error| error.file.clone()).collect();
        if remove.is_empty() {
            return None;
        }
        let (config, terms) = self.terms().ok()?;
        let plan = load_changed(&config.sources, &Change { add: None, remove }, &terms).ok()?;
        Some((config, plan))
    }

    fn terms_of(&self, config: &PluginConfig) -> Result<Terms, ChangeError> {
        let dev_key = (config.mode == TrustMode::Dev)
            .then(|| (self.dev_key)())
            .flatten();
        Ok(config.terms(dev_key, UnixTime::now())?)
    }

    /// The set without something. Where it does not load, it did not before either, and has no problem that is new.
    fn plan_without(
        &self,
        before: &PluginConfig,
        after: &PluginConfig,
        change: &Change,
    ) -> Result<Result<LoadPlan, LoadFailure>, ChangeError> {
        let old = load_set(&before.sources, &self.terms_of(before)?);
        let failure = match load_changed(&after.sources, change, &self.terms_of(after)?) {
            Ok(plan) => return Ok(Ok(plan)),
            Err(failure) => failure,
        };
        let known = |error: &PluginLoadError| {
            let old = old.as_ref().err();
            old.is_some_and(|old| old.errors.contains(error))
        };
        if failure.errors.iter().all(known) {
            Ok(Err(failure))
        } else {
            Err(failure.into())
        }
    }

    /// Refuses to remove a file that `mizzen.toml` names: its line would stay.
    fn may_remove(config: &PluginConfig, files: &[PathBuf]) -> Result<(), ChangeError> {
        match files.iter().find(|file| config.sources.files.contains(file)) {
            None => Ok(()),
            Some(file) => Err(ChangeError::Conflict(format!(
                "{} is named under `files` in mizzen.toml; remove it there first",
                file.display()
            ))),
        }
    }

    /// The right to change what is installed, exclusive among all processes.
    fn lock(&self) -> Result<EditLock, FileError> {
        EditLock::of(&self.config)
    }

    fn text(&self) -> Result<String, FileError> {
        files::read_text(&self.config, MAX_CONFIG)
    }

    fn parsed(&self, text: &str) -> Result<PluginConfig, ChangeError> {
        let base = self.config.parent().unwrap_or(Path::new(""));
        PluginConfig::parse(text, base, self.other_sections).map_err(|problems| {
            ConfigError::Malformed {
                path: self.config.clone(),
                problems,
            }
            .into()
        })
    }
}

impl PreparedChange {
    /// Writes the change: grants first, because a host that watches the folder must find them when it finds the
    /// package; then the package; then the replaced files are removed.
    ///
    /// # Errors
    /// When a file cannot be written; what was written is rolled back.
    pub fn write(&self) -> Result<(), ChangeError> {
        // Before any file is removed: its version must be recorded by then.
        version::remember(&self.config, self.highest.clone())?;
        if let Some((from, to)) = self.keeping() {
            previous::keep(from, to, self.config.max_package)?;
        }
        if let Some((_, after)) = &self.text {
            files::rewrite(&self.file, after.as_bytes(), 0o644)?;
        }
        if let Some((path, bytes)) = &self.add
            && let Err(error) = files::create_new(path, bytes, 0o644)
        {
            if let Some((before, _)) = &self.text {
                files::rewrite(&self.file, before.as_bytes(), 0o644)?;
            }
            return Err(error.into());
        }
        for old in &self.remove {
            files::remove(old)?;
        }
        if let Some((_, to)) = self.keeping() {
            previous::keep_only(to);
        }
        let Ok(plan) = &self.plan else { return Ok(()) };
        version::remember(&self.config, version::versions_of(plan))?;
        let pins = plan.new_pins().iter().chain(&self.described_pins);
        Ok(save_pins(&self.config, pins)?)
    }

    /// The replaced file, and the place where it is kept.
    fn keeping(&self) -> Option<(&Path, &Path)> {
        Some((self.replaced.as_deref()?, self.kept.as_deref()?))
    }

    /// The hash of the plan; none when the set does not load.
    pub fn hash(&self) -> Option<&str> {
        self.plan.as_ref().ok().map(LoadPlan::hash)
    }
}

impl Installation {
    /// Stores the keys that `tofu` saw for the first time, of namespaces that were claimed and of those in which something was
    /// described. Call it when the whole set has passed.
    ///
    /// # Errors
    /// When the pins cannot be read or written.
    pub fn remember_pins(
        &self,
        config: &PluginConfig,
        plan: &LoadPlan,
        described: &[(Namespace, KeyId)],
    ) -> Result<(), ChangeError> {
        if config.mode == TrustMode::Tofu && !(plan.new_pins().is_empty() && described.is_empty()) {
            let _lock = self.lock()?;
            save_pins(config, plan.new_pins().iter().chain(described))?;
        }
        Ok(())
    }
}

impl Installation {
    /// Removes the pin of a namespace: the next key that is seen there is pinned instead. None when there
    /// was no pin.
    ///
    /// # Errors
    /// When the pins cannot be read or written.
    pub fn unpin(&self, namespace: &Namespace) -> Result<Option<Pin>, ChangeError> {
        let _lock = self.lock()?;
        let (config, _) = self.terms()?;
        let mut pins = Pins::load(&config.pins_file)?;
        let pin = pins.forget(namespace);
        if pin.is_some() {
            pins.save(&config.pins_file)?;
        }
        Ok(pin)
    }
}

/// Read again and added to: another process may have remembered keys since the plan was made.
fn save_pins<'a>(
    config: &PluginConfig,
    new: impl Iterator<Item = &'a (Namespace, KeyId)>,
) -> Result<(), TrustFileError> {
    let mut new = new.peekable();
    if config.mode != TrustMode::Tofu || new.peek().is_none() {
        return Ok(());
    }
    let mut pins = Pins::load(&config.pins_file)?;
    for (namespace, key) in new {
        pins.remember_since(namespace.clone(), key.clone(), UnixTime::now());
    }
    pins.save(&config.pins_file)
}

#[cfg(test)]
mod tests;
