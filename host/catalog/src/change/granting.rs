//! Adding and removing grants by name.

use super::{ChangeError, Installation, PreparedChange};
use crate::config::{PluginConfig, add_grants, remove_grants};
use crate::error::PluginLoadError;
use crate::load::{LoadFailure, LoadPlan, load_set};
use mizzen_model::namespace::PluginName;
use mizzen_model::permission::Permission;

/// What to do with a change after which the set does not load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Breakage {
    /// It is refused, unless the set did not load before for the same reasons.
    Refused,
    /// It is made: the operator requested it.
    Accepted,
}

/// A change of what is granted to a plugin by name.
#[derive(Debug, Clone)]
pub struct GrantsChange {
    /// The plugin; it need not be installed yet.
    pub plugin: PluginName,
    /// What is granted.
    pub add: Vec<Permission>,
    /// What is revoked.
    pub remove: Vec<Permission>,
    /// What to do when the set does not load afterwards.
    pub breakage: Breakage,
}

impl GrantsChange {
    /// Whether a set that does not load afterwards is a reason to refuse the change. Grants that are only added break nothing: they
    /// are how a set that waits for them is repaired.
    pub fn must_load(&self) -> bool {
        !self.remove.is_empty() && self.breakage == Breakage::Refused
    }
}

impl Installation {
    /// Checks the set with other grants.
    ///
    /// # Errors
    /// When something that is revoked was not granted, or the set would no longer load.
    pub fn prepare_grants(&self, change: &GrantsChange) -> Result<PreparedChange, ChangeError> {
        let lock = self.lock()?;
        let (old, _) = self.terms()?;
        let name = &change.plugin;
        let granted = old.grants.plugin.get(name);
        let is_granted = |wanted: &&Permission| {
            granted.is_some_and(|granted| granted.iter().any(|known| known == *wanted))
        };
        if let Some(stranger) = change.remove.iter().find(|wanted| !is_granted(wanted)) {
            return Err(ChangeError::Conflict(format!(
                "{stranger} is not granted to {name}; `mizzen plugins grants {name}` shows what is"
            )));
        }
        let text = self.text()?;
        let mut changed = text.clone();
        if !change.add.is_empty() {
            changed = add_grants(&changed, name, &change.add)?;
        }
        if !change.remove.is_empty() {
            changed = remove_grants(&changed, name, &change.remove)?;
        }
        let config = self.parsed(&changed)?;
        Ok(PreparedChange {
            plan: self.plan_regranted(change, &old, &config)?,
            config,
            plugin: name.to_string(),
            changes: None,
            granted_now: change.add.clone(),
            add: None,
            remove: Vec::new(),
            grants_go: false,
            settings_go: false,
            grants_dropped: change.remove.clone(),
            described_pins: Vec::new(),
            text: (text != changed).then_some((text, changed)),
            file: self.config.clone(),
            kept: None,
            replaced: None,
            highest: None,
            _lock: lock,
        })
    }

    fn plan_regranted(
        &self,
        change: &GrantsChange,
        before: &PluginConfig,
        after: &PluginConfig,
    ) -> Result<Result<LoadPlan, LoadFailure>, ChangeError> {
        let failure = match load_set(&after.sources, &self.terms_of(after)?) {
            Ok(plan) => return Ok(Ok(plan)),
            Err(failure) => failure,
        };
        if change.must_load() {
            let old = load_set(&before.sources, &self.terms_of(before)?).err();
            let old = old.map(|failure| failure.errors).unwrap_or_default();
            let known = |error: &PluginLoadError| old.iter().any(|other| is_same_problem(other, error));
            if !failure.errors.iter().all(known) {
                return Err(failure.into());
            }
        }
        Ok(Err(failure))
    }
}

/// The message of a missing grant names all of them, so it changes when one more is missing.
fn is_same_problem(a: &PluginLoadError, b: &PluginLoadError) -> bool {
    (a.code, a.stage, &a.plugin, &a.file) == (b.code, b.stage, &b.plugin, &b.file)
}
