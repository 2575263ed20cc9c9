//! What is installed, for callers.

use crate::error::{OpError, Refusal};
use crate::host::Host;
use mizzen_model::manifest::Provides;
use serde_json::Value;

impl Host {
    /// Every installed plugin, by name.
    pub fn list_plugins(&self) -> Vec<Value> {
        self.registry
            .installed()
            .plugins
            .values()
            .map(|plugin| plugin.document.clone())
            .collect()
    }

    /// One plugin.
    pub fn get_plugin(&self, name: &str) -> Result<Value, OpError> {
        let installed = self.registry.installed();
        let plugin = installed.plugins.get(name).ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            Refusal::PluginNotFound(shown)
        })?;
        Ok(plugin.document.clone())
    }

    /// Every tool with a tag, by id.
    pub fn list_tools_tagged(&self, tag: &str) -> Vec<Value> {
        let tagged = |tool: &Value| {
            let tags = tool.get("tags").and_then(Value::as_array);
            tags.is_some_and(|tags| tags.iter().any(|own| own == tag))
        };
        let mut tools = self.list_provided(Provides::Tool);
        tools.retain(tagged);
        tools
    }

    /// Every tool, skill, store or pack, by id.
    pub fn list_provided(&self, kind: Provides) -> Vec<Value> {
        let installed = self.registry.installed();
        let mut items: Vec<_> = installed
            .provided
            .iter()
            .filter(|item| item.kind == kind)
            .collect();
        items.sort_by(|a, b| a.id.cmp(&b.id).then_with(|| a.version.cmp(&b.version)));
        items.into_iter().map(|item| item.document.clone()).collect()
    }
}
