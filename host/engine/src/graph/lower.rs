//! From an IR document to a plan: everything that it names is looked up, and every problem is found at once.

use super::problem::Problems;
use super::rules::GraphRules;
use super::strategy::{Fork, Strategy};
use super::{GraphNode, GraphPlan, GraphProblem, Missing, NodeDoes, NodeKind, StateSchema};
use crate::plan::{Plan, Target, Unresolved};
use mizzen_model::id::{ChainId, CouncilId, SpriteId};
use mizzen_model::ir::{IRDocument, NodeSpec, PackMount, SkillRef, StoreRef, ToolRef, graph_hash};
use std::collections::{HashMap, HashSet};

/// The most nodes of a graph, and the most branches of a block.
const NODES: usize = 10_000;
const BRANCHES: usize = 64;

/// What a host has. It answers for one document.
pub trait Surroundings<C> {
    /// What performs a node that is neither `echo` nor `halt`.
    ///
    /// # Errors
    /// What is missing: the document is refused.
    fn node(&mut self, node: &NodeSpec, kind: &NodeKind<'_>) -> Result<GraphTarget<C>, Missing>;
    /// A tool of the section `tools`.
    ///
    /// # Errors
    /// What is missing.
    fn tool(&mut self, tool: &ToolRef) -> Result<(), Missing>;
    /// A skill of the section `skills`.
    ///
    /// # Errors
    /// What is missing.
    fn skill(&mut self, skill: &SkillRef) -> Result<(), Missing>;
    /// A store of the section `stores`.
    ///
    /// # Errors
    /// What is missing.
    fn store(&mut self, store: &StoreRef) -> Result<(), Missing>;
    /// A pack of the section `governance`.
    ///
    /// # Errors
    /// What is missing, or why it does not fit.
    fn pack(&mut self, pack: &PackMount) -> Result<(), Missing>;
    /// The schema that `state_class` names.
    ///
    /// # Errors
    /// What is missing.
    fn state_class(&mut self, class: &str) -> Result<StateSchema, Missing>;
}

/// What performs a node.
#[derive(Debug)]
pub struct GraphTarget<C> {
    /// The call; or why the node fails in its place, while the document is accepted.
    pub target: Result<Target<C>, Unresolved>,
    /// The fields that its input schema names; none: it takes any.
    pub fields: Option<Vec<String>>,
}

/// What a run of a graph may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphLimits {
    /// Visits of nodes.
    pub step_limit: u32,
    /// Milliseconds, without the time that it waits for people.
    pub timeout_ms: u64,
}

/// Where the identity of a graph stands in places made for councils and chains.
#[derive(Debug, Clone, Copy)]
pub struct Lowered {
    /// Stands where a run of a chain has its council.
    pub council_id: CouncilId,
    /// Stands where a run has its chain: the same for every run of the graph.
    pub chain_id: ChainId,
    /// Stands where a step has its sprite.
    pub sprite_id: SpriteId,
    /// What a run may use.
    pub limits: GraphLimits,
}

/// Nodes by id.
pub(super) struct Nodes<'d> {
    places: HashMap<&'d str, u32>,
    halts: HashSet<u32>,
    count: u32,
}

impl<'d> Nodes<'d> {
    fn of(document: &'d IRDocument, problems: &mut Problems) -> Self {
        let mut nodes = Self {
            places: HashMap::with_capacity(document.nodes.len()),
            halts: HashSet::new(),
            count: 0,
        };
        if document.nodes.len() > NODES {
            let message = format!(
                "the graph has {} nodes, and {NODES} are allowed",
                document.nodes.len()
            );
            problems.add(
                "/nodes".to_owned(),
                "too_many_nodes",
                message,
                "divide it into several graphs",
            );
            return nodes;
        }
        for (index, (node, place)) in document.nodes.iter().zip(0_u32..).enumerate() {
            if nodes.places.insert(&node.id, place).is_some() {
                let message = format!("there are several nodes {:?}", node.id);
                problems.add(
                    format!("/nodes/{index}/id"),
                    "duplicate_node",
                    message,
                    "give each node an id of its own",
                );
            }
            if node.kind == "halt" {
                nodes.halts.insert(place);
            }
            nodes.count = place.saturating_add(1);
        }
        nodes
    }

    pub(super) fn find(&self, id: &str, path: String, problems: &mut Problems) -> Option<u32> {
        let found = self.places.get(id).copied();
        if found.is_none() {
            let near = mizzen_json::nearest(id, self.places.keys().copied());
            let hint = match near {
                Some(near) => format!("did you mean {near:?}?"),
                None => "name a node of the document".to_owned(),
            };
            problems.add(path, "unknown_target", format!("there is no node {id:?}"), &hint);
        }
        found
    }

    pub(super) fn fork(
        &self,
        targets: &[String],
        join: &str,
        strategy: &str,
        path: &str,
        problems: &mut Problems,
    ) -> Option<Fork> {
        let mut places = Vec::with_capacity(targets.len());
        for (index, target) in targets.iter().enumerate() {
            let at = format!("{path}/targets/{index}");
            let Some(place) = self.find(target, at.clone(), problems) else {
                continue;
            };
            if self.halts.contains(&place) {
                let message = format!("{target:?} halts the run, and a branch cannot");
                problems.add(
                    at,
                    "halt_in_parallel",
                    message,
                    "halt at the node where the branches join",
                );
            } else if places.contains(&place) {
                let message = format!("{target:?} is a target already");
                problems.add(at, "duplicate_target", message, "name each branch once");
            } else {
                places.push(place);
            }
        }
        let at = format!("{path}/targets");
        match targets.len() {
            0 => problems.add(
                at,
                "no_targets",
                "the block has no branches".to_owned(),
                "name at least one node",
            ),
            many if many > BRANCHES => {
                let message = format!("the block has {many} branches, and {BRANCHES} are allowed");
                problems.add(
                    at,
                    "too_many_targets",
                    message,
                    "divide the work into several blocks",
                );
            }
            _ => {}
        }
        let strategy = Strategy::parse(strategy, targets.len()).map_err(|message| {
            let hint = "use all, any, race, quorum or quorum:N";
            problems.add(format!("{path}/strategy"), "unknown_strategy", message, hint);
        });
        let next = match join {
            // After the last target in declaration order (D39).
            "" => Some(places.iter().max()?.saturating_add(1)).filter(|next| *next < self.count),
            join => Some(self.find(join, format!("{path}/join"), problems)?),
        };
        let is_whole = places.len() == targets.len() && (1..=BRANCHES).contains(&places.len());
        is_whole.then_some(Fork {
            targets: places,
            next,
            strategy: strategy.ok()?,
        })
    }
}

/// Lowers a document to a plan.
///
/// # Errors
/// With all problems of the document.
pub fn lower<C>(
    document: &IRDocument,
    lowered: Lowered,
    surroundings: &mut impl Surroundings<C>,
) -> Result<Plan<C>, Vec<GraphProblem>> {
    let mut problems = Problems::default();
    let nodes = Nodes::of(document, &mut problems);
    sections(document, surroundings, &mut problems);
    let state = state(document, surroundings, &mut problems);
    let mut planned = Vec::with_capacity(document.nodes.len());
    let mut targets = Vec::with_capacity(document.nodes.len());
    for (index, node) in document.nodes.iter().enumerate() {
        let kind = NodeKind::parse(&node.kind);
        let (does, found) = match kind {
            NodeKind::Echo => (NodeDoes::Echo, None),
            NodeKind::Halt => (NodeDoes::Halt, None),
            NodeKind::Unknown => {
                let message = format!("there is no node kind {:?}", node.kind);
                let hint = "use echo, halt, dspy, or the id of a tool such as text.case";
                problems.add(format!("/nodes/{index}/kind"), "unknown_kind", message, hint);
                continue;
            }
            kind => match surroundings.node(node, &kind) {
                Ok(found) => (NodeDoes::Call, Some(found)),
                Err(missing) => {
                    problems.push(missing.at(format!("/nodes/{index}/kind")));
                    continue;
                }
            },
        };
        let (target, fields) = match found {
            Some(found) => (Some(found.target), found.fields),
            None => (None, None),
        };
        planned.push(GraphNode {
            id: node.id.clone(),
            kind: node.kind.clone(),
            does,
            fields,
        });
        targets.push((node.id.clone(), target));
    }
    let blocks = blocks(document, &nodes, &mut problems);
    let rules = GraphRules::compile(document, &nodes, &mut problems);
    if !problems.is_empty() {
        return Err(problems.into_vec());
    }
    let graph = GraphPlan {
        id: document.id.clone(),
        hash: graph_hash(document),
        nodes: planned,
        rules,
        state,
        blocks,
        step_limit: lowered.limits.step_limit,
    };
    Ok(Plan::of_graph(graph, lowered, targets))
}

/// Everything that is listed must be there, also when no node names it.
fn sections<C>(document: &IRDocument, surroundings: &mut impl Surroundings<C>, problems: &mut Problems) {
    let mut missed = |section: &str, index: usize, answer: Result<(), Missing>| {
        if let Err(missing) = answer {
            problems.push(missing.at(format!("/{section}/{index}")));
        }
    };
    for (index, tool) in document.tools.iter().enumerate() {
        missed("tools", index, surroundings.tool(tool));
    }
    for (index, skill) in document.skills.iter().enumerate() {
        missed("skills", index, surroundings.skill(skill));
    }
    for (index, store) in document.stores.iter().enumerate() {
        missed("stores", index, surroundings.store(store));
    }
    for (index, pack) in document.governance.iter().enumerate() {
        missed("governance", index, surroundings.pack(pack));
    }
}

fn state<C>(
    document: &IRDocument,
    surroundings: &mut impl Surroundings<C>,
    problems: &mut Problems,
) -> StateSchema {
    if let Some(class) = &document.state_class {
        if !document.state_schema.is_empty() {
            problems.add(
                "/state_class".to_owned(),
                "two_state_schemas",
                "the document has a state_class and a state_schema".to_owned(),
                "leave one of them out",
            );
            return StateSchema::default();
        }
        return surroundings.state_class(class).unwrap_or_else(|missing| {
            problems.push(missing.at("/state_class".to_owned()));
            StateSchema::default()
        });
    }
    let fields = document
        .state_schema
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    let (schema, wrong) = StateSchema::parse(fields);
    for (field, text) in wrong {
        let pointer = mizzen_json::escape_token(&field).into_owned();
        let names: Vec<&str> = StateSchema::type_names().collect();
        problems.add(
            format!("/state_schema/{pointer}"),
            "unknown_state_type",
            format!("{text:?} is no type of a state field"),
            &format!("use one of {}", names.join(", ")),
        );
    }
    schema
}

/// A block begins when the run comes to its first target.
fn blocks(document: &IRDocument, nodes: &Nodes<'_>, problems: &mut Problems) -> Vec<Fork> {
    let mut blocks: Vec<Fork> = Vec::with_capacity(document.parallel.len());
    for (index, block) in document.parallel.iter().enumerate() {
        let path = format!("/parallel/{index}");
        let Some(fork) = nodes.fork(&block.targets, &block.join, &block.strategy, &path, problems) else {
            continue;
        };
        let first = fork.targets.first();
        if blocks.iter().any(|other| other.targets.first() == first) {
            let message = "another block begins at the same node".to_owned();
            problems.add(
                format!("{path}/targets/0"),
                "duplicate_block",
                message,
                "begin it at another node",
            );
        }
        blocks.push(fork);
    }
    blocks
}
