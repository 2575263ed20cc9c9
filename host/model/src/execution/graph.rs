//! What an execution of a graph has beyond that of a chain.

use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A run of a graph.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GraphExecution {
    /// The document's id.
    pub graph_id: String,
    /// The hash of the document that the run follows.
    pub graph_hash: String,
    /// The state: the fields that are set.
    pub state: Map<String, Value>,
    /// What the run waits for, or waited for last.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub interrupt: Option<Interrupt>,
    /// Why it halted before the last node: the reason of the action, or the id of the node.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub halted: Option<String>,
}

/// One visit of a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodeVisit {
    /// The node's id.
    pub id: String,
    /// Its kind.
    pub kind: String,
    /// Which visit of the node, from 1.
    pub iteration: u32,
}

/// A question to a person (D17).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupt {
    /// Its own id: an answer may name it, and then reaches no other question.
    pub interrupt_id: String,
    /// The rule that asks.
    pub rule_id: String,
    /// The prompt.
    pub prompt: String,
    /// What is shown with it.
    pub payload: Map<String, Value>,
    /// The grant that the answer needs.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub requested_capability: Option<String>,
    /// When nobody can answer any more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub expires_at: Option<Timestamp>,
    /// The answer, once there is one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub answer: Option<InterruptAnswer>,
}

/// What a person answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InterruptAnswer {
    /// The response.
    pub response: Map<String, Value>,
    /// Who answered.
    pub actor: String,
    /// When.
    pub answered_at: Timestamp,
}
