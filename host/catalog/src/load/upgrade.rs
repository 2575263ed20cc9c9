//! Upgrades of a running set that wait for the operator.

use super::LoadPlan;
use crate::diff::PermissionDiff;
use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use crate::grants;
use crate::verified::VerifiedPlugin;
use mizzen_model::permission::Permission;
use std::collections::BTreeMap;

/// The plugins of a plan that ask for more than the version which runs now, and were not granted it beforehand. They
/// wait for the operator: a set that holds one is refused, and the running set stays.
pub fn waiting_upgrades<'a>(
    running: impl IntoIterator<Item = &'a VerifiedPlugin>,
    plan: &LoadPlan,
) -> Vec<PluginLoadError> {
    let mut newest: BTreeMap<&str, &VerifiedPlugin> = BTreeMap::new();
    for plugin in running {
        let known = newest.entry(plugin.name().as_str()).or_insert(plugin);
        if known.version() < plugin.version() {
            *known = plugin;
        }
    }
    let mut waiting = Vec::new();
    for planned in plan.plugins() {
        let new = planned.plugin();
        let Some(old) = newest
            .get(new.name().as_str())
            .filter(|old| old.digest() != new.digest())
        else {
            continue;
        };
        let diff = PermissionDiff::between(Some(old.manifest()), new.manifest());
        let asked: Vec<&Permission> = diff
            .needs_approval(new.granted())
            .into_iter()
            .map(|asked| &asked.permission)
            .collect();
        if !asked.is_empty() {
            let texts: Vec<String> = asked.iter().map(ToString::to_string).collect();
            let subject = Subject {
                plugin: Some(new.id()),
                file: Some(new.file().to_owned()),
            };
            waiting.push(subject.error(
                Stage::Imports,
                LoadCode::ApprovalNeeded,
                format!(
                    "it asks for more than {}, which runs now: {}",
                    old.id(),
                    texts.join(", ")
                ),
                format!(
                    "if you agree, run: {}",
                    grants::command(new.name(), asked.iter().copied())
                ),
            ));
        }
    }
    waiting
}
