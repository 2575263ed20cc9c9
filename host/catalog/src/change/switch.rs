//! Enabling and disabling a plugin.

use super::version::Before;
use super::{ChangeError, Direction, Installation, PreparedChange};
use crate::config::{PluginConfig, disable, enable};
use crate::load::{Change, Found, load_set, scan};
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::PluginName;
use semver::Version;

/// Which way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// Load it.
    Enable,
    /// Do not load it.
    Disable,
}

/// What is switched.
#[derive(Debug, Clone)]
pub struct Switching {
    /// The plugin.
    pub plugin: PluginName,
    /// One version of it; none for all of them.
    pub version: Option<Version>,
    /// Which way.
    pub switch: Switch,
    /// Whether an older version may be what is loaded afterwards.
    pub direction: Direction,
}

impl Switching {
    /// As it is written in the list of disabled plugins.
    fn listed(&self) -> String {
        match &self.version {
            Some(version) => format!("{}@{version}", self.plugin),
            None => self.plugin.to_string(),
        }
    }
}

impl Installation {
    /// Checks the set with a plugin, or one version of it, switched on or off.
    ///
    /// # Errors
    /// When it is not installed, an older version would be loaded, or the set would not load.
    pub fn prepare_switch(&self, switching: &Switching) -> Result<PreparedChange, ChangeError> {
        let lock = self.lock()?;
        let (old, _) = self.terms()?;
        let name = &switching.plugin;
        let installed = scan(&old.sources, old.max_package);
        let versions = versions(name, &installed);
        let there = match &switching.version {
            Some(version) => versions.contains(&version),
            None => !versions.is_empty(),
        };
        if !there {
            return Err(ChangeError::NotInstalled(format!(
                "{} is not installed",
                switching.listed()
            )));
        }
        let before = Before::of(name, &old, &installed)?;
        let text = self.text()?;
        let changed = switched(switching, &old, &text)?;
        let config = self.parsed(&changed)?;
        let after: Vec<Version> = versions
            .into_iter()
            .filter(|version| !config.sources.is_disabled(name, version))
            .cloned()
            .collect();
        before.check_left(&after, switching.direction)?;
        let plan = match switching.switch {
            Switch::Enable => Ok(load_set(&config.sources, &self.terms_of(&config)?)?),
            Switch::Disable => self.plan_without(&old, &config, &Change::default())?,
        };
        Ok(PreparedChange {
            plan,
            config,
            plugin: switching.listed(),
            changes: None,
            granted_now: Vec::new(),
            add: None,
            remove: Vec::new(),
            grants_go: false,
            settings_go: false,
            grants_dropped: Vec::new(),
            described_pins: Vec::new(),
            text: (text != changed).then_some((text, changed)),
            file: self.config.clone(),
            kept: None,
            replaced: None,
            highest: before.highest(),
            _lock: lock,
        })
    }
}

fn versions<'a>(plugin: &PluginName, installed: &'a [Found]) -> Vec<&'a Version> {
    let manifests = installed.iter().filter_map(|found| found.manifest.as_ref());
    manifests
        .filter(|manifest| manifest.name() == plugin)
        .map(Manifest::version)
        .collect()
}

/// The text of `mizzen.toml` after the switch.
fn switched(switching: &Switching, config: &PluginConfig, text: &str) -> Result<String, ChangeError> {
    let listed = switching.listed();
    let name = &switching.plugin;
    match switching.switch {
        Switch::Disable => Ok(disable(text, &listed)?),
        Switch::Enable => {
            let mut changed = enable(text, &listed)?;
            // Versions that were disabled one by one come back with the whole.
            for (disabled, version) in &config.sources.disabled {
                if let (true, None, Some(version)) = (disabled == name, &switching.version, version) {
                    changed = enable(&changed, &format!("{name}@{version}"))?;
                }
            }
            Ok(changed)
        }
    }
}
