//! A plugin, or one version of it, goes.

use super::{ChangeError, Installation, Prepared};
use crate::config::remove_grants;
use crate::load::{Change, load_changed, scan};
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::path::PathBuf;

/// What goes.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The plugin.
    pub plugin: PluginName,
    /// Which version, when several are installed.
    pub version: Option<Version>,
}

impl Installation {
    /// Checks the set without a plugin. With its last version its grants go, so that nobody else inherits them.
    ///
    /// # Errors
    /// When it is not installed, several versions are and none was chosen, or the rest would not load.
    pub fn prepare_removal(&self, removal: &Removal) -> Result<Prepared, ChangeError> {
        let lock = self.lock()?;
        let (config, _) = self.terms()?;
        let name = &removal.plugin;
        let mut installed: Vec<(Version, PathBuf)> = Vec::new();
        for found in scan(&config.sources, config.max_package) {
            if let Some(manifest) = found.manifest.filter(|manifest| manifest.name() == name) {
                installed.push((manifest.version().clone(), found.file));
            }
        }
        let versions: Vec<String> = installed.iter().map(|(version, _)| version.to_string()).collect();
        let remove: Vec<PathBuf> = installed
            .iter()
            .filter(|(own, _)| removal.version.as_ref().is_none_or(|wanted| wanted == own))
            .map(|(_, file)| file.clone())
            .collect();
        if remove.is_empty() && installed.is_empty() {
            return Err(ChangeError::NotInstalled(format!("{name} is not installed")));
        }
        if remove.is_empty() {
            return Err(ChangeError::NotInstalled(format!(
                "that version of {name} is not installed; installed: {}",
                versions.join(", ")
            )));
        }
        if remove.len() > 1 && removal.version.is_none() {
            return Err(ChangeError::Conflict(format!(
                "several versions of {name} are installed ({}); say which one goes",
                versions.join(", ")
            )));
        }
        Self::may_remove(&config, &remove)?;
        let last = remove.len() == installed.len();
        let grants_go = last && config.grants.plugin.contains_key(name);
        let text = if grants_go {
            let before = self.text()?;
            let after = remove_grants(&before, name, &[])?;
            Some((before, after))
        } else {
            None
        };
        let config = match &text {
            Some((_, after)) => self.parsed(after)?,
            None => config,
        };
        let change = Change { add: None, remove };
        let plan = load_changed(&config.sources, &change, &self.terms_of(&config)?)?;
        Ok(Prepared {
            plan,
            config,
            plugin: name.to_string(),
            permissions: None,
            granted_now: Vec::new(),
            add: None,
            remove: change.remove,
            grants_go,
            text,
            file: self.config.clone(),
            _lock: lock,
        })
    }
}
