//! The running set as API users see it.

use super::Loaded;
use crate::registry::{DisabledPlugin, Installed, InstalledPlugin, Provided};
use mizzen_catalog::VerifiedPlugin;
use mizzen_catalog::register::{RegisteredItem, RegisteredTool};
use mizzen_model::manifest::{Manifest, Provides};
use serde_json::{Value, json};

impl Loaded {
    /// A snapshot for the registry.
    pub fn installed(&self) -> Installed {
        let mut installed = Installed {
            load_plan_hash: Some(self.plan_hash.clone()),
            disabled: self.disabled.iter().map(|manifest| disabled(manifest)).collect(),
            ..Installed::default()
        };
        for tool in self.registry.tools() {
            installed.provided.push(Provided {
                kind: Provides::Tool,
                id: tool.spec().id().to_string(),
                version: tool.spec().version().clone(),
                plugin: tool.plugin().name().to_string(),
                document: tool_document(tool),
            });
        }
        for kind in [Provides::Skill, Provides::Store, Provides::Pack] {
            for item in self.registry.items(kind) {
                installed.provided.push(Provided {
                    kind,
                    id: item.id.clone(),
                    version: item.version.clone(),
                    plugin: item.plugin.name().to_string(),
                    document: item_document(item),
                });
            }
        }
        for ready in self.plugins.values() {
            let verified = ready.plugin.verified();
            let plugin = InstalledPlugin {
                name: verified.name().to_string(),
                version: verified.version().clone(),
                document: plugin_document(verified, &installed.provided),
            };
            // Of two versions side by side, the higher one stands for the name.
            let newer = installed
                .plugins
                .get(&plugin.name)
                .is_none_or(|other| other.version < plugin.version);
            if newer {
                installed.plugins.insert(plugin.name.clone(), plugin);
            }
        }
        installed
    }
}

fn disabled(manifest: &Manifest) -> DisabledPlugin {
    DisabledPlugin {
        name: manifest.name().to_string(),
        version: manifest.version().clone(),
        namespaces: manifest.namespaces().to_vec(),
    }
}

fn item_document(item: &RegisteredItem) -> Value {
    let mut document = json!({
        "id": item.id,
        "version": item.version,
        "plugin": item.plugin.name(),
        "side_effects": item.side_effects,
    });
    // A pack says more of itself: when it is asked, what it reads, what it needs.
    if let (Some(fields), Some(Ok(Value::Object(pack)))) = (
        document.as_object_mut(),
        item.pack.as_deref().map(serde_json::to_value),
    ) {
        fields.extend(pack);
        fields.insert("digest".to_owned(), json!(item.plugin.digest()));
    }
    document
}

fn tool_document(tool: &RegisteredTool) -> Value {
    let spec = tool.spec();
    json!({
        "id": spec.id().to_string(),
        "name": spec.name().to_string(),
        "namespace": spec.namespace().to_string(),
        "version": spec.version(),
        "description": spec.description(),
        "input_schema": spec.input_schema(),
        "output_schema": spec.output_schema(),
        "side_effects": spec.side_effects().as_str(),
        "replay_policy": spec.replay_policy().as_str(),
        "permissions": spec.permissions(),
        "idempotency_key": spec.idempotency_key(),
        "cost_estimate": spec.cost_estimate().map(|cost| cost.as_str()),
        "examples": spec.examples().iter().map(|e| json!({ "name": e.name, "input": e.input, "output": e.output })).collect::<Vec<_>>(),
        "tags": spec.tags(),
        "deprecated": spec.deprecated(),
        "plugin": tool.plugin().name().to_string(),
        "plugin_version": tool.plugin().version(),
        "is_default": tool.is_default(),
    })
}

fn plugin_document(plugin: &VerifiedPlugin, provided: &[Provided]) -> Value {
    let manifest = plugin.manifest();
    let name = plugin.name().to_string();
    let ids: Vec<&str> = provided
        .iter()
        .filter(|item| item.plugin == name)
        .map(|item| item.id.as_str())
        .collect();
    json!({
        "name": name,
        "version": plugin.version(),
        "manifest": {
            "name": plugin.name(),
            "version": plugin.version(),
            "api_version": mizzen_model::manifest::API_VERSION,
            "namespaces": manifest.namespaces(),
            "provides": manifest.provides(),
            "order": manifest.order(),
        },
        "digest": plugin.digest(),
        "signatures": plugin.signers(),
        "trust": plugin.decision().because,
        "permissions": plugin.declared().as_ref(),
        "grants": plugin.granted().as_ref(),
        "imports": plugin.imports(),
        "limits": plugin.limits(),
        "provides": ids,
        "warnings": plugin.warnings(),
    })
}
