//! Settings of `mizzen.toml` that no plugin reads. A misspelt section would leave a plugin, or a pack with its limits, without them.

use super::LoadPlan;
use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use mizzen_model::namespace::PluginName;

/// The sections `[config.NAME]` that name no installed plugin, or one without a schema. A disabled plugin keeps its section: it is
/// read again when the plugin is enabled.
pub fn unread_settings<'a>(
    sections: impl IntoIterator<Item = &'a PluginName>,
    plan: &LoadPlan,
) -> Vec<PluginLoadError> {
    let problem = |name: &PluginName| {
        if plan.disabled().iter().any(|manifest| manifest.name() == name) {
            return None;
        }
        let mut versions = plan
            .plugins()
            .iter()
            .map(|planned| planned.plugin())
            .filter(|plugin| plugin.name() == name)
            .peekable();
        let (message, help) = if versions.peek().is_none() {
            (
                format!("[config.{name}] of mizzen.toml names no installed plugin"),
                format!(
                    "correct the name, install the plugin, or take the section out{}",
                    installed(plan)
                ),
            )
        } else if versions.all(|plugin| plugin.manifest().config_schema().is_none()) {
            (
                format!(
                    "[config.{name}] of mizzen.toml is for a plugin without settings: its plugin.toml has no [config]"
                ),
                "take the section out of mizzen.toml".to_owned(),
            )
        } else {
            return None;
        };
        let subject = Subject {
            plugin: Some(name.to_string()),
            file: None,
        };
        Some(subject.error(Stage::Register, LoadCode::ConfigInvalid, message, help))
    };
    sections.into_iter().filter_map(problem).collect()
}

/// The plugins that take settings, for a misspelt name.
fn installed(plan: &LoadPlan) -> String {
    let with_schema = plan
        .plugins()
        .iter()
        .map(|planned| planned.plugin())
        .filter(|plugin| plugin.manifest().config_schema().is_some());
    let mut names: Vec<&str> = with_schema.map(|plugin| plugin.name().as_str()).collect();
    names.dedup();
    if names.is_empty() {
        String::new()
    } else {
        format!("; plugins with settings: {}", names.join(", "))
    }
}
