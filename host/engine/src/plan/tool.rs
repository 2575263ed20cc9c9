//! One call of a tool as a plan: a single step without a council around it.
//!
//! It is a plan and not a way around one, so that packs, the journal, recovery and replay treat the call as they treat a chain's step.

use super::{DEFAULT_BACKOFF_MS, Plan, PlannedStep, StepInput, Target, Unresolved};
use mizzen_condition::map::Map;
use mizzen_model::execution::ExecutionError;
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use serde_json::json;
use std::collections::BTreeMap;

/// What a call of a tool is planned from.
#[derive(Debug, Clone)]
pub struct ToolPlan {
    /// Stands where a chain has its council.
    pub council_id: CouncilId,
    /// Stands where a run has its chain: the same for every call of the tool.
    pub chain_id: ChainId,
    /// Stands where a step has its sprite.
    pub sprite_id: SpriteId,
    /// The tool.
    pub tool: String,
    /// How long the call may take.
    pub timeout_ms: u64,
}

impl<C> Plan<C> {
    /// A plan of one step that calls a tool with the whole input. The step has no parameters of its own: the schema of the tool is
    /// checked when it is called. No rules and no gates: both belong to councils.
    pub fn of_tool(tool: ToolPlan, target: Result<Target<C>, Unresolved>) -> Self {
        let step = PlannedStep {
            sprite_id: tool.sprite_id,
            action: tool.tool.clone(),
            sprite_name: String::new(),
            tool: None,
            protected: false,
            input: StepInput::Whole,
            // Without entries: the output is what the tool returned.
            output: Map::default(),
            parameters: None,
            gates_before: Vec::new(),
            gates_after: Vec::new(),
            timeout_ms: None,
            retries: 0,
            backoff_ms: DEFAULT_BACKOFF_MS,
            target: target.map_err(|refusal| ExecutionError::new(&refusal.code, refusal.message, Some(0))),
        };
        Self {
            council_id: tool.council_id,
            chain_id: tool.chain_id,
            council: json!({
                "id": tool.council_id.to_string(), "name": "", "domain": "", "gate_agent": "", "sprites": [],
            }),
            chain: json!({
                "id": tool.chain_id.to_string(), "name": tool.tool, "timeout": format!("{}ms", tool.timeout_ms), "steps": 1,
            }),
            rules: Vec::new(),
            before: Vec::new(),
            after: Vec::new(),
            each_step: Vec::new(),
            on_error: Vec::new(),
            steps: vec![step],
            gate_agent: None,
            timeout_ms: tool.timeout_ms,
            packs: Vec::new(),
            read: BTreeMap::new(),
            gate_tool: None,
            governs: Vec::new(),
            tool_called: Some(tool.tool),
            graph: None,
        }
    }
}
