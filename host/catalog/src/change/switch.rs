//! A plugin stays installed and is not loaded, or is loaded again.

use super::{ChangeError, Installation, Prepared};
use crate::config::{disable, enable};
use crate::load::{load_set, scan};
use mizzen_model::namespace::PluginName;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Load it.
    Enable,
    /// Do not load it.
    Disable,
}

impl Installation {
    /// Checks the set with a plugin switched on or off, all its versions.
    ///
    /// # Errors
    /// When it is not installed, or the set would not load.
    pub fn prepare_switch(&self, plugin: &PluginName, switch: Switch) -> Result<Prepared, ChangeError> {
        let lock = self.lock()?;
        let (config, _) = self.terms()?;
        let installed = scan(&config.sources, config.max_package);
        let there = installed
            .iter()
            .filter_map(|found| found.manifest.as_ref())
            .any(|manifest| manifest.name() == plugin);
        if !there {
            return Err(ChangeError::NotInstalled(format!("{plugin} is not installed")));
        }
        let before = self.text()?;
        let mut after = before.clone();
        match switch {
            Switch::Disable => after = disable(&after, plugin.as_str())?,
            Switch::Enable => {
                after = enable(&after, plugin.as_str())?;
                // Versions that were disabled one by one come back with it.
                for (name, version) in &config.sources.disabled {
                    if let (true, Some(version)) = (name == plugin, version) {
                        after = enable(&after, &format!("{name}@{version}"))?;
                    }
                }
            }
        }
        let config = self.parsed(&after)?;
        let plan = load_set(&config.sources, &self.terms_of(&config)?)?;
        Ok(Prepared {
            plan,
            config,
            plugin: plugin.to_string(),
            permissions: None,
            granted_now: Vec::new(),
            add: None,
            remove: Vec::new(),
            grants_go: false,
            text: (before != after).then_some((before, after)),
            file: self.config.clone(),
            _lock: lock,
        })
    }
}
