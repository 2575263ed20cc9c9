//! The load plan: what is loaded, in what order, and a hash that is the same for the same files, trust and grants.

use super::{Sources, Terms};
use crate::key::KeyId;
use crate::package::Digest;
use crate::trust::{TrustMode, TrustStore};
use crate::verified::VerifiedPlugin;
use mizzen_model::limits::Limits;
use mizzen_model::manifest::Manifest;
use mizzen_model::namespace::{Namespace, PluginName};
use mizzen_model::permission::PermissionSet;
use semver::Version;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// One plugin of a plan.
#[derive(Debug, Clone)]
pub struct PlannedPlugin {
    plugin: Arc<VerifiedPlugin>,
    is_default: bool,
}

impl PlannedPlugin {
    /// The plugin.
    pub const fn plugin(&self) -> &Arc<VerifiedPlugin> {
        &self.plugin
    }

    /// Whether this is the version that is meant when none is named.
    pub const fn is_default(&self) -> bool {
        self.is_default
    }
}

/// A set that has passed all static stages. The sandbox compiles and describes its plugins in this order.
#[derive(Debug, Clone)]
pub struct LoadPlan {
    plugins: Vec<PlannedPlugin>,
    hash: String,
    new_pins: Vec<(Namespace, KeyId)>,
    disabled: Vec<Arc<Manifest>>,
}

/// What the hash is taken over. The order of the fields is part of it: change them only with `version`.
#[derive(Serialize)]
struct Hashed<'a> {
    version: u8,
    mode: TrustMode,
    trust: &'a TrustStore,
    plugins: Vec<HashedPlugin<'a>>,
}

#[derive(Serialize)]
struct HashedPlugin<'a> {
    name: &'a PluginName,
    version: &'a Version,
    digest: Digest,
    order: u16,
    default: bool,
    signers: BTreeSet<&'a KeyId>,
    granted: &'a PermissionSet,
    limits: Limits,
}

impl LoadPlan {
    pub(super) fn new(
        plugins: Vec<VerifiedPlugin>,
        disabled: Vec<Arc<Manifest>>,
        sources: &Sources,
        terms: &Terms,
    ) -> Self {
        let mut defaults: BTreeMap<PluginName, Version> = BTreeMap::new();
        for plugin in &plugins {
            let chosen = sources.defaults.get(plugin.name());
            let best = defaults
                .entry(plugin.name().clone())
                .or_insert_with(|| plugin.version().clone());
            match chosen {
                Some(chosen) => *best = chosen.clone(),
                // A release is preferred to a pre-release, whatever their numbers.
                None if (plugin.version().pre.is_empty(), plugin.version()) > (best.pre.is_empty(), best) => {
                    *best = plugin.version().clone();
                }
                None => {}
            }
        }
        let new_pins = plugins
            .iter()
            .flat_map(|plugin| plugin.decision().new_pins.clone())
            .collect();
        let mut plugins: Vec<PlannedPlugin> = plugins
            .into_iter()
            .map(|plugin| {
                let is_default = defaults.get(plugin.name()) == Some(plugin.version());
                PlannedPlugin {
                    plugin: Arc::new(plugin),
                    is_default,
                }
            })
            .collect();
        plugins.sort_by(|a, b| {
            let key = |planned: &PlannedPlugin| planned.plugin.manifest().order();
            (key(a), a.plugin.name(), a.plugin.version()).cmp(&(key(b), b.plugin.name(), b.plugin.version()))
        });
        let hash = hash(&plugins, terms);
        Self {
            plugins,
            hash,
            new_pins,
            disabled,
        }
    }

    /// The plugins in load order.
    pub fn plugins(&self) -> &[PlannedPlugin] {
        &self.plugins
    }

    /// `blake3:` and 64 hexadecimal digits: the same for the same files, trust and grants.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The manifests of plugins that are installed and disabled: nothing of them is verified, and they are not part of the hash.
    pub fn disabled(&self) -> &[Arc<Manifest>] {
        &self.disabled
    }

    /// What `tofu` should pin now that the whole set has passed.
    pub fn new_pins(&self) -> &[(Namespace, KeyId)] {
        &self.new_pins
    }

    /// The plugin with this name and version, or with this name and the default version.
    pub fn find(&self, name: &str, version: Option<&Version>) -> Option<&PlannedPlugin> {
        self.plugins.iter().find(|planned| {
            planned.plugin.name().as_str() == name
                && version.map_or(planned.is_default, |version| planned.plugin.version() == version)
        })
    }
}

fn hash(plugins: &[PlannedPlugin], terms: &Terms) -> String {
    let hashed = Hashed {
        version: 1,
        mode: terms.policy.mode,
        trust: &terms.policy.store,
        plugins: plugins
            .iter()
            .map(|planned| HashedPlugin {
                name: planned.plugin.name(),
                version: planned.plugin.version(),
                digest: planned.plugin.digest(),
                order: planned.plugin.manifest().order(),
                default: planned.is_default,
                signers: planned.plugin.signers().iter().collect(),
                granted: planned.plugin.granted(),
                limits: planned.plugin.limits(),
            })
            .collect(),
    };
    // Every part serialises to JSON without fail: strings, numbers, and maps whose keys are strings.
    let bytes = serde_json::to_vec(&hashed).unwrap_or_default();
    format!("blake3:{}", blake3::hash(&bytes).to_hex())
}
