//! What an execution was and is: the seed's result of a chain, with what was left out of it. Runs of graphs and calls of tools have the
//! same record; `graph` is what only a graph has.
//!
//! These are stored, journaled and sent, so their JSON is a promise: unknown fields are refused when they are read back.

macro_rules! serde_as_text {
    ($($name:ty => $parse:expr),+ $(,)?) => { $(
        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                $parse(&text).ok_or_else(|| {
                    serde::de::Error::custom(format!("not a {}: {}", stringify!($name), mizzen_json::quote(&text)))
                })
            }
        }
    )+ };
}

mod graph;
mod log;
mod nested;
mod pack;
mod request;

pub use graph::{GraphExecution, Interrupt, InterruptAnswer, NodeVisit};
pub use log::{CallLog, LOG_BYTES, LOG_LINES, LogEntry, LogLevel};
pub use nested::{NestedExecution, NestedStatus};
pub use pack::PackEvaluation;
pub use request::{
    CHAIN_EXECUTE_REQUEST, ChainExecuteRequest, DECISION_REQUEST, DecisionRequest, EXECUTE_ALL_REQUEST,
    Named, TOOL_CALL_REQUEST, ToolCallRequest, parse_execute_all,
};

use crate::gate::GatePosition;
use crate::id::{ChainId, CouncilId, ExecutionId, SpriteId};
use crate::record::choice;
use crate::rule::{Enforcement, RuleAction};
use crate::timestamp::Timestamp;
use log::is_zero;
use serde::{Deserialize, Serialize};
use serde_json::Value;

choice! {
    /// Where an execution stands.
    pub enum ExecutionStatus {
        /// Accepted, not begun.
        Pending = "pending",
        /// In progress.
        Running = "running",
        /// Waits for a person (D6).
        AwaitingApproval = "awaiting_approval",
        /// A graph waits for the answer to an interrupt (D17).
        AwaitingInput = "awaiting_input",
        /// A person has paused a graph.
        Paused = "paused",
        /// Every step was executed or passed over by its on_error gates.
        Completed = "completed",
        /// A step failed, or time was up.
        Failed = "failed",
        /// A gate or a rule stopped it.
        Vetoed = "vetoed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
}

choice! {
    /// Where a step stands.
    pub enum StepStatus {
        /// Not begun.
        Pending = "pending",
        /// Its call is being made, or waits to be made again.
        Running = "running",
        /// It has an output.
        Completed = "completed",
        /// It has an error.
        Failed = "failed",
        /// It was never begun and will not be.
        Skipped = "skipped",
    }
}

choice! {
    /// What a gate said.
    pub enum GateDecision {
        /// Go on.
        Allow = "allow",
        /// Stop.
        Veto = "veto",
    }
}

serde_as_text! {
    ExecutionStatus => ExecutionStatus::parse,
    StepStatus => StepStatus::parse,
    GateDecision => GateDecision::parse,
    GatePosition => GatePosition::parse,
    RuleAction => RuleAction::parse,
    Enforcement => Enforcement::parse,
    SpriteId => |text: &str| SpriteId::parse(text).ok(),
    CouncilId => |text: &str| CouncilId::parse(text).ok(),
    ChainId => |text: &str| ChainId::parse(text).ok(),
    ExecutionId => |text: &str| ExecutionId::parse(text).ok(),
    Timestamp => |text: &str| Timestamp::parse(text).ok(),
}

impl ExecutionStatus {
    /// Whether nothing more will happen.
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending | Self::Running | Self::AwaitingApproval | Self::AwaitingInput | Self::Paused => {
                false
            }
            Self::Completed | Self::Failed | Self::Vetoed | Self::Cancelled => true,
        }
    }
}

/// The result of an execution, or how far it has come.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChainExecutionResult {
    /// The execution.
    pub execution_id: ExecutionId,
    /// Its council.
    pub council_id: CouncilId,
    /// Its chain.
    pub chain_id: ChainId,
    /// Where it stands.
    pub status: ExecutionStatus,
    /// When it was started.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed_at: Option<Timestamp>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// Its steps, by order.
    pub steps: Vec<StepExecution>,
    /// The gates that were evaluated, in time order.
    pub gates: Vec<GateEvaluation>,
    /// The rules that were evaluated, in order.
    pub rules: Vec<RuleEvaluation>,
    /// Why it failed, was vetoed or cancelled.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ExecutionError>,
    /// What it waits for, or waited for.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub escalation: Option<Escalation>,
    /// What the mounted packs said, in time order and then in load order; absent where no pack is mounted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packs: Option<Vec<PackEvaluation>>,
    /// That its journal and everything that is not in this document was erased.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub erased: Option<Erased>,
    /// The tool, where a tool was called and not a chain.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool: Option<String>,
    /// The graph, where a graph was run and not a chain. Its visits of nodes are the steps.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub graph: Option<Box<GraphExecution>>,
}

/// That an execution was erased.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Erased {
    /// When.
    pub at: Timestamp,
    /// Who did it: the id of an API key, `local`, or `retention`.
    pub by: String,
    /// How many entries its journal had. Their hashes are kept.
    pub entries: u64,
}

/// One step of an execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepExecution {
    /// The step's order.
    pub order: u32,
    /// The sprite that executed it.
    pub sprite_id: SpriteId,
    /// The capability that was invoked.
    pub action: String,
    /// Where it stands.
    pub status: StepStatus,
    /// The mapped output.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "present"
    )]
    pub output: Option<Value>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ExecutionError>,
    /// The mapped input.
    #[serde(
        skip_serializing_if = "Option::is_none",
        default,
        deserialize_with = "present"
    )]
    pub input: Option<Value>,
    /// When it was begun.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub started_at: Option<Timestamp>,
    /// How long it took, retries included.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// How many calls were made.
    pub attempts: u32,
    /// The calls that its tool made in turn, and those that they made, in the order in which they were asked for (D23).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calls: Vec<NestedExecution>,
    /// The last lines that the guest wrote, at most 64 lines and 16 KiB. Absent when packs vetoed or redacted what it answered.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub log: Vec<LogEntry>,
    /// How many lines there were before them.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub log_dropped: u64,
    /// The visit, where the step is a node of a graph.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub node: Option<NodeVisit>,
}

/// A field that is there is `Some`, also when it is null: an output of null is an output.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

/// One evaluation of a gate.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateEvaluation {
    /// The gate's position.
    #[serde(rename = "type")]
    pub position: GatePosition,
    /// Who evaluated it.
    pub sprite_id: SpriteId,
    /// What it said.
    pub decision: GateDecision,
    /// Why.
    pub reason: String,
    /// The step it was evaluated at; none for the chain's own before and after.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<u32>,
    /// The calls that the gate agent's tool made (D23).
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub calls: Vec<NestedExecution>,
}

/// One evaluation of a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleEvaluation {
    /// The rule.
    pub rule_id: String,
    /// Its name.
    pub name: String,
    /// Whether its condition matched. A condition that could not be evaluated counts as a match of a mandatory rule.
    pub matched: bool,
    /// What the rule asks for.
    pub action: RuleAction,
    /// Whether that stops a run.
    pub enforcement: Enforcement,
    /// Why it was decided so.
    pub reason: String,
}

/// Why an execution or a step did not succeed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecutionError {
    /// A stable code in SCREAMING_SNAKE_CASE.
    pub code: String,
    /// What happened, and what to do.
    pub message: String,
    /// The step it happened in.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<u32>,
    /// The tool's own code, where the tool reported the error itself (`code` is `TOOL_FAILED` then).
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub tool_code: Option<String>,
}

impl ExecutionError {
    /// An error that no tool reported.
    pub fn new(code: &str, message: String, step: Option<u32>) -> Self {
        Self {
            code: code.to_owned(),
            message,
            step,
            tool_code: None,
        }
    }
}

/// A decision that a person is asked for (D6).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Escalation {
    /// Its own id: answers name it, so that an answer can not reach another question.
    pub escalation_id: String,
    /// The rule that asks; of a pack, `PACK:RULE`.
    pub rule_id: String,
    /// Why.
    pub reason: String,
    /// When it counts as denied, where the rule or the pack sets a time of its own.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    /// The answer, once there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<EscalationAnswer>,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EscalationAnswer {
    /// The decision.
    pub decision: Approval,
    /// Why.
    pub reason: String,
    /// When.
    pub answered_at: Timestamp,
}

choice! {
    /// A person's decision.
    pub enum Approval {
        /// Go on.
        Approve = "approve",
        /// Stop.
        Deny = "deny",
    }
}

serde_as_text! { Approval => Approval::parse }
