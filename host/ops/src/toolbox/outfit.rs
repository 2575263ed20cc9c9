//! What stands behind the imports of each plugin: settings, secrets, keys and values, HTTP, other tools.

use super::nested::Nested;
use super::{MemoryKv, Toolbox};
use crate::outgoing::PrivateHosts;
use mizzen_catalog::VerifiedPlugin;
use mizzen_engine::{CallPolicy, Schema};
use mizzen_model::governance::Mount;
use mizzen_model::namespace::PluginName;
use mizzen_model::permission::Use;
use mizzen_sandbox::{Http, KeyValue, Secret, Services};
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What one plugin may keep when the operator says nothing else.
const KV_QUOTA: usize = 16 << 20;

/// Secrets by name, read from where the operator keeps them.
pub type SecretValues = BTreeMap<String, Secret>;

/// Opens the keys and values that are kept under an owner.
pub type OpenKv = dyn Fn(&str) -> Arc<dyn KeyValue> + Send + Sync;

/// What the operator offers to plugins. Each plugin gets only what it may use.
#[derive(Clone)]
pub struct Outfit {
    /// Settings by plugin.
    pub settings: BTreeMap<PluginName, Value>,
    /// Secrets by name.
    pub secrets: SecretValues,
    /// Outgoing HTTP, if it is offered.
    pub http: Option<Arc<dyn Http>>,
    /// Which private hosts it reaches by name: another list is another service, also for plugins that did not change.
    pub private_hosts: PrivateHosts,
    /// Where plugins keep their values.
    pub kv: Arc<OpenKv>,
    /// The terms of calls that tools make.
    pub policy: CallPolicy,
    /// Packs that govern every run.
    pub governance: Vec<Mount>,
    /// What becomes of a plugin without settings whose schema demands some.
    pub unconfigured: Unconfigured,
}

/// Whether a plugin is loaded without the settings that its schema demands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Unconfigured {
    /// It is refused: a host.
    #[default]
    Refused,
    /// It is loaded, to look at what it provides and never to call it.
    Accepted,
}

impl Default for Outfit {
    fn default() -> Self {
        Self {
            settings: BTreeMap::new(),
            secrets: BTreeMap::new(),
            http: None,
            private_hosts: PrivateHosts::default(),
            kv: Arc::new(|_| Arc::new(MemoryKv::new(KV_QUOTA))),
            policy: CallPolicy::default(),
            governance: Vec::new(),
            unconfigured: Unconfigured::default(),
        }
    }
}

/// The operator's settings do not fit the plugin.
#[derive(Debug, thiserror::Error)]
pub enum OutfitError {
    /// The plugin's own schema is refused.
    #[error("[config] of plugin.toml: {0}")]
    Schema(String),
    /// The settings do not fit it.
    #[error("[config.{plugin}] of mizzen.toml does not fit the plugin's schema: {problem}")]
    Settings {
        /// The plugin.
        plugin: PluginName,
        /// Where and how.
        problem: String,
    },
}

/// Whose values these are: the plugin's first namespace and its name. A name alone is not enough: somebody else's plugin
/// of the same name, installed later, must not find the values of the first. Nobody can claim a namespace that they may
/// not sign for.
fn owner(plugin: &VerifiedPlugin) -> String {
    let namespace = plugin.manifest().namespaces().first();
    format!(
        "{}/{}",
        namespace.map(ToString::to_string).unwrap_or_default(),
        plugin.name()
    )
}

impl Outfit {
    pub(super) fn services(
        &self,
        plugin: &VerifiedPlugin,
        toolbox: &Arc<Toolbox>,
    ) -> Result<Services, OutfitError> {
        let effective = plugin.effective();
        let allowed = |name: &&String| effective.allows(&Use::Secret(name));
        Ok(Services {
            config: Some(self.config(plugin)?),
            secrets: self
                .secrets
                .keys()
                .filter(allowed)
                .filter_map(|n| Some((n.clone(), self.secrets.get(n)?.clone())))
                .collect(),
            kv: Some((self.kv)(&owner(plugin))),
            http: self.http.clone(),
            tools: Some(Arc::new(Nested {
                toolbox: Arc::downgrade(toolbox),
                policy: self.policy.clone(),
            })),
        })
    }

    /// The settings, checked against the plugin's schema; an empty object where there are none.
    fn config(&self, plugin: &VerifiedPlugin) -> Result<String, OutfitError> {
        let none = Value::Object(serde_json::Map::new());
        let settings = self.settings.get(plugin.name()).unwrap_or(&none);
        if let Some(schema) = plugin.manifest().config_schema() {
            let schema = Schema::compile(schema).map_err(|error| OutfitError::Schema(error.to_string()))?;
            let is_configured = self.settings.contains_key(plugin.name());
            if !is_configured && self.unconfigured == Unconfigured::Accepted {
                return Ok(settings.to_string());
            }
            schema.check(settings).map_err(|found| OutfitError::Settings {
                plugin: plugin.name().clone(),
                problem: found
                    .iter()
                    .map(|v| format!("{} {}", v.path, v.message))
                    .collect::<Vec<_>>()
                    .join("; "),
            })?;
        }
        Ok(settings.to_string())
    }
}
