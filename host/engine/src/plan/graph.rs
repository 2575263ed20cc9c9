//! A graph as a plan: its nodes stand where a chain has its steps, so that calls, packs, the journal, recovery and replay treat both
//! the same way.

use super::{DEFAULT_BACKOFF_MS, Plan, PlannedStep, StepInput, Target, Unresolved};
use crate::graph::{GraphPlan, Lowered};
use mizzen_condition::map::Map;
use mizzen_model::execution::ExecutionError;
use serde_json::json;
use std::collections::BTreeMap;

/// A node's id, and what performs it; nothing for a node that the run performs itself.
type NodeTarget<C> = (String, Option<Result<Target<C>, Unresolved>>);

impl<C> Plan<C> {
    /// The plan of a graph. No gates and no rules of councils: a document has its own rules.
    pub(crate) fn of_graph(graph: GraphPlan, lowered: Lowered, nodes: Vec<NodeTarget<C>>) -> Self {
        let step = |(id, target): NodeTarget<C>| {
            let target = target.unwrap_or_else(|| {
                Err(Unresolved {
                    code: "NO_CALL".to_owned(),
                    message: format!("node {id:?} makes no call"),
                })
            });
            PlannedStep {
                sprite_id: lowered.sprite_id,
                action: id,
                sprite_name: String::new(),
                tool: None,
                protected: false,
                input: StepInput::State,
                output: Map::default(),
                parameters: None,
                gates_before: Vec::new(),
                gates_after: Vec::new(),
                timeout_ms: None,
                retries: 0,
                backoff_ms: DEFAULT_BACKOFF_MS,
                target: target.map_err(|refusal| ExecutionError::new(&refusal.code, refusal.message, None)),
            }
        };
        Self {
            council_id: lowered.council_id,
            chain_id: lowered.chain_id,
            council: json!({
                "id": lowered.council_id.to_string(), "name": "", "domain": "", "gate_agent": "", "sprites": [],
            }),
            chain: json!({
                "id": lowered.chain_id.to_string(), "name": graph.id, "timeout": format!("{}ms", lowered.limits.timeout_ms),
                "steps": graph.nodes.len(),
            }),
            rules: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            each_step: Vec::new(),
            on_error: Vec::new(),
            steps: nodes.into_iter().map(step).collect(),
            gate_agent: None,
            timeout_ms: lowered.limits.timeout_ms,
            packs: Vec::new(),
            read: BTreeMap::new(),
            gate_tool: None,
            governs: Vec::new(),
            tool_called: None,
            graph: Some(graph),
        }
    }
}
