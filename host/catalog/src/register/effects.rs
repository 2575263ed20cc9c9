//! Whether the side effects that tools claim are at least those of the tools that they may call (D22).
//!
//! What a tool's own permissions allow was judged when its descriptor was checked. A `tools` permission names a pattern, and
//! only the whole set determines what it matches: so every load, also one that adds a single plugin, checks every caller again.

use super::RegisteredTool;
use crate::error::{LoadCode, PluginLoadError, Stage, Subject};
use mizzen_model::namespace::ToolId;
use mizzen_model::permission::{PermissionKind, Use};
use mizzen_model::tool_spec::SideEffects;
use std::collections::BTreeMap;

/// A tool that may call others, and the least that it must claim.
struct Caller<'a> {
    tool: &'a RegisteredTool,
    id: ToolId,
    least: SideEffects,
    /// The callee that it follows from.
    because: Option<&'a ToolId>,
}

/// The problems of every tool that claims less than a tool that it may call.
pub(super) fn understated(tools: &BTreeMap<ToolId, Vec<RegisteredTool>>) -> Vec<PluginLoadError> {
    // A caller may name any installed version, so the strongest of them counts.
    let mut effects: BTreeMap<&ToolId, SideEffects> = BTreeMap::new();
    let mut callers = Vec::new();
    for (id, versions) in tools {
        for tool in versions {
            let claimed = tool.spec.side_effects();
            let known = effects.entry(id).or_insert(claimed);
            *known = (*known).max(claimed);
            if !tool.spec.permissions().of_kind(PermissionKind::Tools).is_empty() {
                callers.push(Caller {
                    tool,
                    id: id.clone(),
                    least: claimed,
                    because: None,
                });
            }
        }
    }
    // Claims only rise, and there are four of them: this ends, also where tools may call each other in a circle.
    while raise(&mut callers, &mut effects) {}
    callers.iter().filter_map(problem).collect()
}

/// Raises what callers must claim by one round of calls. Returns whether anything rose.
fn raise<'a>(callers: &mut [Caller<'a>], effects: &mut BTreeMap<&'a ToolId, SideEffects>) -> bool {
    let mut rose = false;
    for caller in callers {
        let callees = effects.iter().filter(|(callee, effect)| {
            // A tool cannot call itself, in any version.
            **effect > caller.least
                && **callee != &caller.id
                && caller.tool.spec.permissions().allows(&Use::Tool(callee.as_str()))
        });
        let Some((callee, effect)) = callees.max_by_key(|(_, effect)| **effect) else {
            continue;
        };
        (caller.least, caller.because) = (*effect, Some(*callee));
        if let Some(known) = effects.get_mut(&caller.id) {
            *known = (*known).max(caller.least);
        }
        rose = true;
    }
    rose
}

fn problem(caller: &Caller<'_>) -> Option<PluginLoadError> {
    let (callee, least, plugin) = (caller.because?, caller.least, &caller.tool.plugin);
    let subject = Subject {
        plugin: Some(plugin.id()),
        file: Some(plugin.file().to_owned()),
    };
    let message = format!(
        "tool {} claims the side effects `{}`, and may call {callee}, with which it is at least `{least}`",
        caller.id,
        caller.tool.spec.side_effects()
    );
    let help = format!(
        "write #[tool(side_effects = \"{least}\")] for {}, or let its `permissions` name only tools that do less",
        caller.tool.spec.name()
    );
    Some(subject.error(Stage::Register, LoadCode::SideEffectsUnderstated, message, help))
}
