//! Removing a plugin, or one version of it.

use super::grants::{Orphans, orphans, without_orphans};
use super::version::Before;
use super::{ChangeError, Direction, Installation, PreparedChange, previous};
use crate::config::{remove_grants, remove_settings};
use crate::load::{Change, Found, scan};
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::PluginName;
use semver::Version;
use std::path::PathBuf;

/// What to remove.
#[derive(Debug, Clone)]
pub struct Removal {
    /// The plugin.
    pub plugin: PluginName,
    /// Which version, when several are installed.
    pub version: Option<Version>,
    /// What to do with its grants by name.
    pub grants: GrantsFate,
    /// Whether an older version may be what is left.
    pub direction: Direction,
}

/// What to do with grants by name when no version of the plugin is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GrantsFate {
    /// They are removed, so that no other plugin inherits them.
    Go,
    /// They are kept for a plugin of the same name.
    Stay,
}

impl Installation {
    /// Checks the set without a plugin. With its last version its settings are removed, and its grants, unless they are to be kept.
    ///
    /// # Errors
    /// When it is not installed, several versions are and none was chosen, an older one would be left, or the rest would not load
    /// although it did before.
    pub fn prepare_removal(&self, removal: &Removal) -> Result<PreparedChange, ChangeError> {
        let lock = self.lock()?;
        let (config, _) = self.terms()?;
        let name = &removal.plugin;
        let installed = scan(&config.sources, config.max_package);
        let before = Before::of(name, &config, &installed)?;
        let (going, staying) = chosen(removal, installed)?;
        let remove: Vec<PathBuf> = going.iter().map(|(_, file)| file.clone()).collect();
        Self::may_remove(&config, &remove)?;
        let after: Vec<Version> = staying
            .iter()
            .map(|(manifest, _)| manifest.version().clone())
            .filter(|version| !config.sources.is_disabled(name, version))
            .collect();
        before.check_left(&after, removal.direction)?;
        let grants_go =
            staying.is_empty() && removal.grants == GrantsFate::Go && config.grants.plugin.contains_key(name);
        let orphans = match staying.is_empty() {
            // All of them are removed, or none.
            true => Orphans::default(),
            false => orphans(
                config.grants.plugin.get(name),
                &manifests(&going),
                &manifests(&staying),
            ),
        };
        let settings_go = staying.is_empty() && config.settings.contains_key(name);
        let text = if grants_go || settings_go || !orphans.dropped.is_empty() {
            let before = self.text()?;
            let mut after = match grants_go {
                true => remove_grants(&before, name, &[])?,
                false => without_orphans(&before, name, &orphans)?,
            };
            if settings_go {
                after = remove_settings(&after, name)?;
            }
            Some((before, after))
        } else {
            None
        };
        let old = config;
        let config = match &text {
            Some((_, after)) => self.parsed(after)?,
            None => old.clone(),
        };
        let mut change = Change { add: None, remove };
        let plan = self.plan_without(&old, &config, &change)?;
        if staying.is_empty()
            && let Some(folder) = config.sources.folders.first()
        {
            // Only something that is installed can be downgraded.
            change.remove.extend(previous::files_of(folder, name));
        }
        Ok(PreparedChange {
            plan,
            config,
            plugin: name.to_string(),
            changes: None,
            granted_now: Vec::new(),
            add: None,
            remove: change.remove,
            grants_go,
            settings_go,
            grants_dropped: orphans.dropped,
            described_pins: Vec::new(),
            text,
            file: self.config.clone(),
            kept: None,
            replaced: None,
            highest: before.highest(),
            _lock: lock,
        })
    }
}

type Versions = Vec<(Manifest, PathBuf)>;

fn manifests(versions: &Versions) -> Vec<&Manifest> {
    versions.iter().map(|(manifest, _)| manifest).collect()
}

/// The installed versions of the plugin: those to remove, and those that stay.
fn chosen(removal: &Removal, installed: Vec<Found>) -> Result<(Versions, Versions), ChangeError> {
    let name = &removal.plugin;
    let own: Versions = installed
        .into_iter()
        .filter_map(|found| {
            Some((
                found.manifest.filter(|manifest| manifest.name() == name)?,
                found.file,
            ))
        })
        .collect();
    let versions: Vec<String> = own
        .iter()
        .map(|(manifest, _)| manifest.version().to_string())
        .collect();
    if own.is_empty() {
        return Err(ChangeError::NotInstalled(format!("{name} is not installed")));
    }
    let goes = |manifest: &Manifest| {
        let wanted = removal.version.as_ref();
        wanted.is_none_or(|wanted| wanted == manifest.version())
    };
    let (going, staying): (Versions, Versions) = own.into_iter().partition(|(manifest, _)| goes(manifest));
    if going.is_empty() {
        return Err(ChangeError::NotInstalled(format!(
            "that version of {name} is not installed; installed: {}",
            versions.join(", ")
        )));
    }
    if going.len() > 1 && removal.version.is_none() {
        return Err(ChangeError::Conflict(format!(
            "several versions of {name} are installed ({}); choose the one to remove: {name}@VERSION",
            versions.join(", ")
        )));
    }
    Ok((going, staying))
}
