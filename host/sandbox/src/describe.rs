//! The self-description of a plugin.

use crate::bindings::exports::mizzen::plugin::{pack, skill, store, tool};
use crate::bindings::mizzen::plugin::types;
use crate::call::CallFault;
use mizzen_catalog::register::ItemDraft;
use mizzen_engine::Outcome;
use mizzen_model::manifest::Provides;
use mizzen_model::pack::{Moment, PackDraft};
use mizzen_model::tool_spec::{ExampleDraft, ReplayPolicy, SideEffects, ToolDraft};

/// A plugin with more tools than this should be several plugins.
const MAX_TOOLS: usize = 256;

/// A plugin could not be described.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The guest ended without a description.
    #[error("describe ended without a result: {}", .0.explain())]
    Ended(Outcome),
    /// The call could not be made.
    #[error(transparent)]
    Fault(#[from] CallFault),
    /// Two fresh instances returned different descriptions.
    #[error("describe returned two different results; it must return the same tools at every call")]
    Unstable,
    /// Too many tools.
    #[error("it describes {0} things; at most {MAX_TOOLS} are allowed")]
    TooMany(usize),
}

/// The guest's description in the model's types, still untrusted: the catalog checks every field.
pub(crate) fn descriptions(tools: Vec<tool::Descriptor>) -> Result<Vec<ToolDraft>, DescribeError> {
    if tools.len() > MAX_TOOLS {
        return Err(DescribeError::TooMany(tools.len()));
    }
    Ok(tools.into_iter().map(draft).collect())
}

/// Skills, stores and packs are bounded like tools.
pub(crate) fn bounded_items(items: Vec<ItemDraft>) -> Result<Vec<ItemDraft>, DescribeError> {
    if items.len() > MAX_TOOLS {
        return Err(DescribeError::TooMany(items.len()));
    }
    Ok(items)
}

pub(crate) fn skill(skill: skill::Descriptor) -> ItemDraft {
    ItemDraft {
        kind: Provides::Skill,
        id: format!("{}.{}", skill.namespace, skill.name),
        version: Some(skill.version),
        pack: None,
    }
}

pub(crate) fn store(store: store::Descriptor) -> ItemDraft {
    ItemDraft {
        kind: Provides::Store,
        id: format!("{}.{}", store.namespace, store.name),
        version: None,
        pack: None,
    }
}

pub(crate) fn pack(pack: pack::Descriptor) -> ItemDraft {
    let draft = PackDraft {
        id: pack.id,
        version: pack.version,
        description: pack.description,
        facts_version: pack.requires.stargraph_facts_version,
        api_version: pack.requires.api_version,
        moments: pack.moments.into_iter().map(moment).collect(),
        reads: pack.reads,
        writes: pack.writes,
        shares: pack.shares,
    };
    ItemDraft {
        kind: Provides::Pack,
        id: draft.id.clone(),
        version: Some(draft.version.clone()),
        pack: Some(draft),
    }
}

fn moment(moment: pack::Moment) -> Moment {
    match moment {
        pack::Moment::BeforeRun => Moment::BeforeRun,
        pack::Moment::BeforeStep => Moment::BeforeStep,
        pack::Moment::AfterStep => Moment::AfterStep,
        pack::Moment::OnError => Moment::OnError,
        pack::Moment::AtEnd => Moment::AtEnd,
    }
}

fn draft(tool: tool::Descriptor) -> ToolDraft {
    let example = |example: tool::Example| ExampleDraft {
        name: example.name,
        input: example.input,
        output: example.output,
    };
    ToolDraft {
        name: tool.name,
        namespace: tool.namespace,
        version: tool.version,
        description: tool.description,
        input_schema: tool.input_schema,
        output_schema: tool.output_schema,
        side_effects: match tool.side_effects {
            types::SideEffects::None => SideEffects::None,
            types::SideEffects::Read => SideEffects::Read,
            types::SideEffects::Write => SideEffects::Write,
            types::SideEffects::External => SideEffects::External,
        },
        replay_policy: match tool.replay_policy {
            types::ReplayPolicy::MustStub => ReplayPolicy::MustStub,
            types::ReplayPolicy::FailLoud => ReplayPolicy::FailLoud,
            types::ReplayPolicy::RecordedResult => ReplayPolicy::RecordedResult,
        },
        permissions: tool.permissions,
        idempotency_key: tool.idempotency_key,
        cost_estimate: tool.cost_estimate,
        examples: tool.examples.into_iter().map(example).collect(),
        tags: tool.tags,
        deprecated: tool.deprecated,
    }
}
