//! What a change of a plugin means for its tools: which come, which go, and which do something else to the world.

use super::Loaded;
use mizzen_model::namespace::ToolId;
use mizzen_model::tool_spec::SideEffects;
use serde::Serialize;
use std::collections::BTreeMap;

/// The difference between the tools of a plugin in two sets, by what an id means without a version.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct ToolChanges {
    added: Vec<ToolEffects>,
    removed: Vec<ToolId>,
    side_effects: Vec<EffectsChange>,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct ToolEffects {
    id: ToolId,
    side_effects: SideEffects,
}

#[derive(Debug, PartialEq, Eq, Serialize)]
struct EffectsChange {
    id: ToolId,
    from: SideEffects,
    to: SideEffects,
}

impl ToolChanges {
    pub(crate) fn between(before: &Loaded, after: &Loaded, plugin: &str) -> Self {
        Self::compare(&tools(before, plugin), &tools(after, plugin))
    }

    fn compare(before: &BTreeMap<ToolId, SideEffects>, after: &BTreeMap<ToolId, SideEffects>) -> Self {
        let mut changes = Self::default();
        for (id, effects) in after {
            match before.get(id) {
                None => changes.added.push(ToolEffects {
                    id: id.clone(),
                    side_effects: *effects,
                }),
                Some(was) if was != effects => changes.side_effects.push(EffectsChange {
                    id: id.clone(),
                    from: *was,
                    to: *effects,
                }),
                Some(_) => {}
            }
        }
        let gone = before.keys().filter(|id| !after.contains_key(*id));
        changes.removed = gone.cloned().collect();
        changes
    }
}

fn tools(loaded: &Loaded, plugin: &str) -> BTreeMap<ToolId, SideEffects> {
    let of_plugin = loaded
        .registry()
        .tools()
        .filter(|tool| tool.plugin().name().as_str() == plugin && tool.is_default());
    of_plugin
        .map(|tool| (tool.spec().id(), tool.spec().side_effects()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_that_come_go_or_change_their_effects_are_named() {
        let set = |tools: &[(&str, SideEffects)]| -> BTreeMap<ToolId, SideEffects> {
            tools
                .iter()
                .map(|(id, effects)| (ToolId::parse(id).unwrap(), *effects))
                .collect()
        };
        let before = set(&[
            ("a.same", SideEffects::Read),
            ("a.gone", SideEffects::None),
            ("a.grows", SideEffects::Read),
        ]);
        let after = set(&[
            ("a.same", SideEffects::Read),
            ("a.grows", SideEffects::External),
            ("a.new", SideEffects::Write),
        ]);
        let changes = serde_json::to_value(ToolChanges::compare(&before, &after)).unwrap();
        assert_eq!(
            changes,
            serde_json::json!({
                "added": [{"id": "a.new", "side_effects": "write"}],
                "removed": ["a.gone"],
                "side_effects": [{"id": "a.grows", "from": "read", "to": "external"}],
            })
        );
    }
}
