//! A graph with nothing left to look up: an IR document (D11 to D17) lowered to nodes that are called, typed state, compiled rules and
//! parallel blocks. Made once, run many times; the plan of a run is [`crate::plan::Plan`], which carries this.
//!
//! [`lower`] refuses a document with all of its problems, each with its RFC 6901 pointer and what to do. What is installed is not known
//! here: the caller answers for tools, skills, stores and packs through [`Surroundings`].
//!
//! To add a node kind: a variant of [`NodeKind`]. To add an action: `graph/rules.rs`, and what it does in `run/graph.rs`.

mod kind;
mod lower;
mod memory;
mod problem;
mod rules;
mod state;
mod strategy;

pub use kind::NodeKind;
pub use lower::{GraphLimits, GraphTarget, Lowered, Surroundings, lower};
pub use problem::{GraphProblem, Missing};
pub use state::{StateProblem, StateSchema};

pub(crate) use memory::{Memory, Routed, RulesFailed};
pub(crate) use rules::{Effect, GraphRules, PlannedInterrupt};
pub(crate) use strategy::{BranchEnd, Fork, Standing, Strategy};

/// What of a graph is the same for all of its runs. Nodes have the places of the plan's steps.
#[derive(Debug)]
pub struct GraphPlan {
    pub(crate) id: String,
    pub(crate) hash: String,
    pub(crate) nodes: Vec<GraphNode>,
    pub(crate) rules: GraphRules,
    pub(crate) state: StateSchema,
    pub(crate) blocks: Vec<Fork>,
    pub(crate) step_limit: u32,
}

impl GraphPlan {
    /// The document's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The document's hash.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// The fields of the state.
    pub fn state(&self) -> &StateSchema {
        &self.state
    }
}

/// A node.
#[derive(Debug)]
pub(crate) struct GraphNode {
    pub(crate) id: String,
    pub(crate) kind: String,
    pub(crate) does: NodeDoes,
    /// The state fields that its call is given; none: all of them.
    pub(crate) fields: Option<Vec<String>>,
}

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NodeDoes {
    /// Nothing: rules decide.
    Echo,
    /// Ends the run.
    Halt,
    /// Makes the call of the plan's step.
    Call,
}
