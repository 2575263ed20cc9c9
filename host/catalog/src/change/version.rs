//! Versions that a change would go back to.

use super::{ChangeError, Installation};
use crate::config::PluginConfig;
use crate::load::{Found, LoadPlan};
use crate::seen::Seen;
use crate::trust::TrustFileError;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::PluginName;
use semver::Version;

/// Whether a change may go back to a version below the highest one that the host has had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Direction {
    /// It may not: an older version has the bugs that a newer one fixed.
    #[default]
    Forward,
    /// The operator approved it.
    Either,
}

/// A change that would go back to an older version.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, serde::Serialize)]
#[error("{name} {version} is older than {newest}, which this host has had")]
pub struct OlderVersion {
    /// The plugin, or the pack.
    pub name: String,
    /// The version that it would go back to.
    pub version: Version,
    /// The highest version that the host has had.
    pub newest: Version,
}

/// What is installed of one plugin before a change.
pub(super) struct Before {
    plugin: PluginName,
    /// The versions that are loaded.
    loaded: Vec<Version>,
    /// The highest version that is installed, loaded or not, or was installed before.
    highest: Option<Version>,
}

impl Before {
    pub(super) fn of(
        plugin: &PluginName,
        config: &PluginConfig,
        installed: &[Found],
    ) -> Result<Self, TrustFileError> {
        let manifests = installed.iter().filter_map(|found| found.manifest.as_ref());
        let versions: Vec<&Version> = manifests
            .filter(|manifest| manifest.name() == plugin)
            .map(Manifest::version)
            .collect();
        let is_loaded = |version: &&&Version| !config.sources.is_disabled(plugin, version);
        let seen = Seen::load(&config.versions_file())?;
        Ok(Self {
            plugin: plugin.clone(),
            loaded: versions
                .iter()
                .filter(is_loaded)
                .map(|&version| version.clone())
                .collect(),
            highest: versions
                .iter()
                .copied()
                .chain(seen.highest(plugin))
                .max()
                .cloned(),
        })
    }

    /// Refuses a new package that is older than the highest version.
    pub(super) fn check_new(&self, version: &Version, direction: Direction) -> Result<(), ChangeError> {
        match &self.highest {
            Some(highest) if version < highest => self.back_to(version, highest, direction),
            _ => Ok(()),
        }
    }

    /// Refuses to leave a version as the highest loaded one that is below the one which is now; or, where none is loaded now, below
    /// the highest one. Removing all versions is not a downgrade.
    pub(super) fn check_left(&self, after: &[Version], direction: Direction) -> Result<(), ChangeError> {
        let now = self.loaded.iter().max().or(self.highest.as_ref());
        match (after.iter().max(), now) {
            (Some(after), Some(now)) if after < now => self.back_to(after, now, direction),
            _ => Ok(()),
        }
    }

    fn back_to(&self, version: &Version, newest: &Version, direction: Direction) -> Result<(), ChangeError> {
        match direction {
            Direction::Either => Ok(()),
            Direction::Forward => Err(ChangeError::Older(Box::new(OlderVersion {
                name: self.plugin.to_string(),
                version: version.clone(),
                newest: newest.clone(),
            }))),
        }
    }

    /// The highest version, to be recorded before anything of it is removed.
    pub(super) fn highest(&self) -> Option<(PluginName, Version)> {
        Some((self.plugin.clone(), self.highest.clone()?))
    }
}

impl Installation {
    /// Records the highest version of every plugin of a plan. Call it when the whole set has passed.
    ///
    /// # Errors
    /// When the file cannot be read or written.
    pub fn remember_versions(&self, config: &PluginConfig, plan: &LoadPlan) -> Result<(), ChangeError> {
        let path = config.versions_file();
        // Most loads add nothing, and then no lock is needed.
        if raised(&mut Seen::load(&path)?, versions_of(plan)) {
            let _lock = self.lock()?;
            remember(config, versions_of(plan))?;
        }
        Ok(())
    }
}

pub(super) fn versions_of(plan: &LoadPlan) -> impl Iterator<Item = (PluginName, Version)> {
    plan.plugins().iter().map(|planned| {
        let plugin = planned.plugin();
        (plugin.name().clone(), plugin.version().clone())
    })
}

/// Read again and added to: another process may have recorded versions since.
pub(super) fn remember(
    config: &PluginConfig,
    versions: impl IntoIterator<Item = (PluginName, Version)>,
) -> Result<(), TrustFileError> {
    let path = config.versions_file();
    let mut seen = Seen::load(&path)?;
    if raised(&mut seen, versions) {
        seen.save(&path)?;
    }
    Ok(())
}

fn raised(seen: &mut Seen, versions: impl IntoIterator<Item = (PluginName, Version)>) -> bool {
    let mut any = false;
    for (name, version) in versions {
        any |= seen.raise(&name, &version);
    }
    any
}
