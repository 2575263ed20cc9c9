//! What a run is made from: a council, a graph, or one call of a tool. The text is stored once and named by its hash; recovery, replay and
//! exports read it again, so all kinds are definitions and none is a special case of running.

use crate::document::stored;
use crate::error::{Fault, OpError};
use mizzen_catalog::requirement::ToolRequirement;
use mizzen_engine::graph::{GraphLimits, Lowered};
use mizzen_engine::plan::ToolPlan;
use mizzen_json::{Form, Json, write_string};
use mizzen_model::council::Council;
use mizzen_model::duration::Duration;
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use mizzen_model::ir::{IRDocument, Options, dumps_canonical, inspect_value};
use uuid::Uuid;

/// The one member of a tool call's definition. A council has no such member.
const TOOL_CALL: &str = "tool_call";
/// The one member of a graph's definition.
const GRAPH: &str = "graph";
/// Where the ids of tool calls, and of graphs, are derived from.
const IDS: &str = "mizzen/tool-call/v1";
const GRAPH_IDS: &str = "mizzen/graph/v1";

/// A definition, read.
pub(crate) enum Definition {
    Council(Box<Council>),
    Graph(Box<GraphDefinition>),
    Tool(ToolDefinition),
}

impl Definition {
    /// Reads what this host has written.
    pub(crate) fn read(text: &str) -> Result<Self, OpError> {
        let document = stored(text)?;
        if let Some(graph) = document.get(GRAPH) {
            return GraphDefinition::read(graph)
                .map(|graph| Self::Graph(Box::new(graph)))
                .ok_or_else(|| Fault::Internal("a stored graph is not valid".to_owned()).into());
        }
        match document.get(TOOL_CALL) {
            Some(call) => ToolDefinition::read(call)
                .map(Self::Tool)
                .ok_or_else(|| Fault::Internal("a stored tool call is not valid".to_owned()).into()),
            None => Council::parse(&document)
                .map(|council| Self::Council(Box::new(council)))
                .map_err(|problems| {
                    Fault::Internal(format!("a stored council is not valid: {problems}")).into()
                }),
        }
    }
}

/// A graph: its document, and what a run of it may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GraphDefinition {
    pub(crate) document: IRDocument,
    pub(crate) limits: GraphLimits,
}

impl GraphDefinition {
    fn read(graph: &Json) -> Option<Self> {
        let number = |name: &str| u64::try_from(graph.get(name)?.as_i64()?).ok();
        Some(Self {
            document: inspect_value(graph.get("document")?, Options::default()).document?,
            limits: GraphLimits {
                step_limit: u32::try_from(number("step_limit")?).ok()?,
                timeout_ms: number("timeout_ms")?,
            },
        })
    }

    /// Reads the definition of a run of a graph.
    pub(crate) fn parse(text: &str) -> Result<Self, OpError> {
        match Definition::read(text)? {
            Definition::Graph(graph) => Ok(*graph),
            Definition::Council(_) | Definition::Tool(_) => {
                Err(Fault::Internal("the run is none of a graph".to_owned()).into())
            }
        }
    }

    /// The same graph with the same limits has the same text, so it is stored once.
    pub(crate) fn text(&self) -> String {
        format!(
            "{{\"{GRAPH}\":{{\"document\":{},\"step_limit\":{},\"timeout_ms\":{}}}}}",
            dumps_canonical(&self.document),
            self.limits.step_limit,
            self.limits.timeout_ms
        )
    }

    pub(crate) fn lowered(&self) -> Lowered {
        Lowered {
            council_id: graphs_council(),
            chain_id: chain_of_graph(&self.document.id),
            sprite_id: SpriteId::from(derived(GRAPH_IDS, "sprite/")),
            limits: self.limits,
        }
    }
}

/// Stands where runs of chains have their council. No council has this id (see [`tool_calls_council`]).
pub(crate) fn graphs_council() -> CouncilId {
    CouncilId::from(derived(GRAPH_IDS, "council/"))
}

/// Stands where runs of chains have their chain: the same for every version of a graph.
pub(crate) fn chain_of_graph(id: &str) -> ChainId {
    ChainId::from(derived(GRAPH_IDS, &format!("graph/{id}")))
}

/// A call of a tool: which one, in which versions, and how long it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ToolDefinition {
    pub(crate) wanted: ToolRequirement,
    pub(crate) version: Option<String>,
    pub(crate) timeout: Duration,
}

impl ToolDefinition {
    fn read(call: &Json) -> Option<Self> {
        let tool = call.get("tool")?.as_str()?;
        let version = match call.get("version") {
            None => None,
            Some(version) => Some(version.as_str()?.to_owned()),
        };
        Some(Self {
            wanted: requirement(tool, version.as_deref()).ok()?,
            version,
            timeout: Duration::parse(call.get("timeout")?.as_str()?).ok()?,
        })
    }

    /// Canonical JSON: the same call has the same text, so it is stored once.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{{\"{TOOL_CALL}\":{{\"timeout\":");
        write_string(self.timeout.as_str(), Form::Canonical, &mut text);
        text.push_str(",\"tool\":");
        write_string(self.tool(), Form::Canonical, &mut text);
        if let Some(version) = &self.version {
            text.push_str(",\"version\":");
            write_string(version, Form::Canonical, &mut text);
        }
        text.push_str("}}");
        text
    }

    /// The tool's id.
    pub(crate) fn tool(&self) -> &str {
        self.wanted.id().as_str()
    }

    pub(crate) fn planned(&self) -> ToolPlan {
        ToolPlan {
            council_id: tool_calls_council(),
            chain_id: chain_of_tool(self.tool()),
            sprite_id: SpriteId::from(derived(IDS, "sprite")),
            tool: self.tool().to_owned(),
            timeout_ms: self.timeout.milliseconds(),
        }
    }
}

/// A tool by id, in the versions that were asked for.
pub(crate) fn requirement(
    tool: &str,
    version: Option<&str>,
) -> Result<ToolRequirement, mizzen_catalog::requirement::RequirementError> {
    match version {
        None => ToolRequirement::parse(tool),
        Some(version) => ToolRequirement::parse(&format!("{tool}@{version}")),
    }
}

/// Stands where runs of chains have their council. No council has this id: councils get random ones (version 4), and this is version 8.
pub(crate) fn tool_calls_council() -> CouncilId {
    CouncilId::from(derived(IDS, "council"))
}

/// Stands where runs of chains have their chain: histories and totals of a tool are those of a chain.
pub(crate) fn chain_of_tool(tool: &str) -> ChainId {
    // A tool id has a dot, so no tool has the text of another id.
    ChainId::from(derived(IDS, tool))
}

fn derived(ids: &str, of: &str) -> Uuid {
    let bytes = blake3::derive_key(ids, of.as_bytes());
    let mut half = [0; 16];
    for (to, from) in half.iter_mut().zip(bytes) {
        *to = from;
    }
    uuid::Builder::from_custom_bytes(half).into_uuid()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_call_is_read_as_it_is_written() {
        for version in [None, Some("^1.2")] {
            let call = ToolDefinition {
                wanted: requirement("acme.text.case", version).unwrap(),
                version: version.map(str::to_owned),
                timeout: Duration::parse("60s").unwrap(),
            };
            let Definition::Tool(again) = Definition::read(&call.text()).unwrap() else {
                panic!("a tool call is not a council");
            };
            assert_eq!(again, call);
        }
    }

    #[test]
    fn definitions_and_ids_of_tool_calls_stay_as_they_are() {
        let call = ToolDefinition {
            wanted: requirement("text.case", None).unwrap(),
            version: None,
            timeout: Duration::parse("60s").unwrap(),
        };
        assert_eq!(
            call.text(),
            r#"{"tool_call":{"timeout":"60s","tool":"text.case"}}"#
        );
        // Stored runs name these: another derivation would lose their history.
        let ids = [
            tool_calls_council().to_string(),
            chain_of_tool("text.case").to_string(),
        ];
        for id in &ids {
            assert_eq!(Uuid::try_parse(id).unwrap().get_version_num(), 8, "{id}");
        }
        assert_eq!(ids, [COUNCIL.to_owned(), TEXT_CASE.to_owned()]);
    }

    const COUNCIL: &str = "d7f1b64b-6562-8e5f-bb4b-9f9806f01d7f";
    const TEXT_CASE: &str = "accc3f84-a022-888a-8d72-f09df03dfcfe";

    #[test]
    fn what_is_neither_a_council_nor_a_tool_call_is_refused() {
        for text in [
            "{}",
            r#"{"tool_call":{}}"#,
            r#"{"tool_call":{"tool":"x","timeout":"1s"}}"#,
            "[]",
        ] {
            assert!(Definition::read(text).is_err(), "{text}");
        }
    }
}
