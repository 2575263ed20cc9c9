//! What follows in a graph: a node ends, its changes become state and facts, the rules of the document decide, the next node begins.
//!
//! ```text
//! entering a node → packs → call → packs → state → rules → interrupt > halt > retry > goto > parallel > the next node (D15)
//! ```
//!
//! The calls themselves, their packs and deadlines are the kernel's: a visit of a node is a step to it.

mod block;
mod input;

use super::failing::{FailedBy, Failing};
use super::state::{Attempt, State};
use super::{CallFailure, Checkpoint, Command, Run, pending_step};
use crate::graph::{
    Effect, GraphNode, GraphPlan, GraphRules, Memory, NodeDoes, PlannedInterrupt, Routed, RulesFailed,
};
use crate::plan::Plan;
use block::Block;
use mizzen_model::execution::{
    ExecutionError, ExecutionStatus, GraphExecution, NodeVisit, StepExecution, StepStatus,
};
use mizzen_model::timestamp::Timestamp;
use mizzen_rules::{Fact, Value as FactValue};
use serde_json::{Map, Value};
use std::sync::Arc;

/// Visits whose log and nested calls the record keeps; a graph may visit thousands.
const DETAILED: usize = 64;

/// Where a graph stands.
#[derive(Debug, Default)]
pub(super) struct GraphRun {
    /// What rules see.
    memory: Memory,
    /// The nodes that were visited, by task.
    visits: Vec<u32>,
    /// How often each node was visited.
    iterations: Vec<u32>,
    /// What happened since the rules were evaluated last.
    events: Vec<Fact>,
    /// The error of what ended last, unless a rule handles it.
    failed: Option<ExecutionError>,
    /// Where the run goes on when no rule says so.
    next: Option<u32>,
    block: Option<Block>,
    pausing: bool,
    /// How many questions were asked, and the one that is open.
    interrupts: u32,
    interrupt: Option<Arc<PlannedInterrupt>>,
}

impl GraphRun {
    pub(super) fn of<C>(plan: &Plan<C>) -> Option<Box<Self>> {
        let graph = plan.graph.as_ref()?;
        Some(Box::new(Self {
            iterations: vec![0; graph.nodes.len()],
            ..Self::default()
        }))
    }

    pub(super) fn node_of(&self, order: u32) -> usize {
        self.visits
            .get(order as usize)
            .map_or(usize::MAX, |node| *node as usize)
    }
}

/// What the record of a run has of its graph.
pub(super) fn record<C>(plan: &Plan<C>) -> Option<Box<GraphExecution>> {
    let graph = plan.graph.as_ref()?;
    Some(Box::new(GraphExecution {
        graph_id: graph.id.clone(),
        graph_hash: graph.hash.clone(),
        state: Map::new(),
        interrupt: None,
        halted: None,
    }))
}

fn rank(effect: &Effect) -> u8 {
    match effect {
        Effect::Interrupt(_) => 0,
        Effect::Halt(_) => 1,
        Effect::Retry { .. } => 2,
        Effect::Goto(_) => 3,
        Effect::Fork(_) => 4,
        Effect::Assert(_) | Effect::Retract(_) => 5,
    }
}

impl<C> Run<C> {
    fn graph_plan(&self) -> Option<&GraphPlan> {
        self.plan.graph.as_ref()
    }

    fn node(&self, node: u32) -> Option<&GraphNode> {
        self.graph_plan()?.nodes.get(node as usize)
    }

    /// The state of a graph.
    pub(super) fn state_map(&self) -> Option<&Map<String, Value>> {
        self.result.graph.as_ref().map(|graph| &graph.state)
    }

    /// What names the calls of a task, the same over attempts and restarts.
    pub fn key_of(&self, order: u32) -> String {
        let visit = self.step(order).and_then(|step| step.node.as_ref());
        match visit {
            // A step of a chain has one iteration.
            None => format!("{order}/0"),
            Some(visit) => format!("{}/{}", visit.id, visit.iteration),
        }
    }

    /// The facts that rules of the graph have asserted and not retracted, as text.
    pub fn asserted(&self) -> Vec<String> {
        self.graph
            .as_ref()
            .map(|graph| graph.memory.asserted().collect())
            .unwrap_or_default()
    }

    /// The parameters become the state. Whoever begins a run has checked them; a run that was not is over at once.
    pub(super) fn begin_graph(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        self.task.state = State::Moving(Checkpoint::Start, 0);
        let input = match &self.input {
            Value::Object(input) => input.clone(),
            _ => Map::new(),
        };
        let plan = Arc::clone(&self.plan);
        let checked = plan
            .graph
            .as_ref()
            .map_or(Ok(()), |graph| graph.state.check_start(&input));
        match checked {
            Ok(()) => self.set_fields(input, now_ms, commands),
            Err(problem) => {
                let error = ExecutionError::new("INVALID_STATE", problem.message, None);
                self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands);
            }
        }
    }

    /// Sets fields of the state, and their facts.
    fn set_fields(&mut self, changes: Map<String, Value>, now_ms: u64, commands: &mut Vec<Command>) {
        let (Some(graph), Some(record)) = (&mut self.graph, &mut self.result.graph) else {
            return;
        };
        let is_ruled = self
            .plan
            .graph
            .as_ref()
            .is_some_and(|plan| !plan.rules.rules.is_empty());
        let mut failed = None;
        for (field, value) in changes {
            if is_ruled && let Err(error) = graph.memory.set(&field, record.state.get(&field), &value) {
                failed.get_or_insert(error);
            }
            record.state.insert(field, value);
        }
        if let Some(failed) = failed {
            self.rules_failed(failed, now_ms, commands);
        }
    }

    fn rules_failed(&mut self, failed: RulesFailed, now_ms: u64, commands: &mut Vec<Command>) {
        let error = ExecutionError::new(failed.code, failed.message, None);
        self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands);
    }

    /// Begins a node, or the block that begins at it.
    pub(super) fn enter(&mut self, node: Option<u32>, now_ms: u64, commands: &mut Vec<Command>) {
        let Some(node) = node else {
            return self.finish(ExecutionStatus::Completed, None, now_ms, commands);
        };
        let plan = Arc::clone(&self.plan);
        let (Some(graph), Some(planned)) = (&mut self.graph, plan.graph.as_ref()) else {
            return;
        };
        if std::mem::take(&mut graph.pausing) {
            self.result.status = ExecutionStatus::Paused;
            self.task.state = State::Paused {
                node: Some(node),
                since_ms: now_ms,
            };
            commands.push(Command::Noted);
            return;
        }
        let block = planned
            .blocks
            .iter()
            .find(|block| block.targets.first() == Some(&node));
        if let Some(block) = block {
            return self.begin_block(Arc::new(block.clone()));
        }
        let Some(order) = self.visit(node, now_ms, commands) else {
            return;
        };
        if let Some(graph) = &mut self.graph {
            graph.next = Some(node.saturating_add(1)).filter(|next| (*next as usize) < planned.nodes.len());
        }
        match self.node(node).map(|node| node.does) {
            Some(NodeDoes::Call) => self.call_step(order, now_ms, commands),
            Some(NodeDoes::Halt) => {
                self.pass(order, now_ms);
                let id = self.node(node).map(|node| node.id.clone());
                if let Some(record) = &mut self.result.graph {
                    record.halted = id;
                }
                self.finish(ExecutionStatus::Completed, None, now_ms, commands);
            }
            Some(NodeDoes::Echo) | None => {
                self.pass(order, now_ms);
                self.visited(order, now_ms);
                self.task.state = State::Deciding;
            }
        }
    }

    /// One more visit of a node; none when there may be no more, and then the run has ended.
    fn visit(&mut self, node: u32, now_ms: u64, commands: &mut Vec<Command>) -> Option<u32> {
        let plan = Arc::clone(&self.plan);
        let planned = plan.graph.as_ref()?;
        let graph = self.graph.as_mut()?;
        let order = u32::try_from(graph.visits.len()).ok()?;
        if order >= planned.step_limit {
            let message = format!(
                "the run has visited {} nodes, which is the limit; does a rule go back again and again?",
                planned.step_limit
            );
            let error = ExecutionError::new("STEP_LIMIT", message, None);
            self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands);
            return None;
        }
        let found = planned.nodes.get(node as usize)?;
        let iteration = graph.iterations.get_mut(node as usize)?;
        *iteration = iteration.saturating_add(1);
        graph.visits.push(node);
        let visit = NodeVisit {
            id: found.id.clone(),
            kind: found.kind.clone(),
            iteration: *iteration,
        };
        let step = plan.steps.get(node as usize)?;
        self.result.steps.push(StepExecution {
            node: Some(visit),
            ..pending_step(step, order)
        });
        if let Some(old) = (order as usize)
            .checked_sub(DETAILED)
            .and_then(|old| self.result.steps.get_mut(old))
        {
            (old.log, old.calls) = (Vec::new(), Vec::new());
        }
        Some(order)
    }

    /// A node that needs nothing from outside has ended.
    fn pass(&mut self, order: u32, now_ms: u64) {
        if let Some(step) = self.result.steps.get_mut(order as usize) {
            step.started_at = Some(Timestamp::from_unix_ms(now_ms));
            step.status = StepStatus::Completed;
            step.duration_ms = Some(0);
        }
    }

    /// What rules are told of a visit that has ended.
    fn visited(&mut self, order: u32, now_ms: u64) {
        let plan = Arc::clone(&self.plan);
        if plan
            .graph
            .as_ref()
            .is_none_or(|graph| graph.rules.rules.is_empty())
        {
            return;
        }
        let Some(step) = self.result.steps.get(order as usize) else {
            return;
        };
        let Some(visit) = &step.node else { return };
        let is_stopped = step
            .error
            .as_ref()
            .is_some_and(|error| error.code == block::STOPPED);
        let outcome = match step.status {
            StepStatus::Completed => "completed",
            _ if is_stopped => "stopped",
            _ => "failed",
        };
        let number = |number: u64| FactValue::Integer(i64::try_from(number).unwrap_or(i64::MAX));
        let place = [
            ("run-id", FactValue::string(&self.result.execution_id.to_string())),
            ("step", number(u64::from(order))),
            ("time", number(now_ms)),
        ];
        let mut slots = vec![
            ("node", FactValue::string(&visit.id)),
            ("kind", FactValue::string(&visit.kind)),
            ("iteration", number(u64::from(visit.iteration))),
            ("outcome", FactValue::symbol(outcome)),
            ("source", FactValue::string("graph")),
        ];
        slots.extend(place.iter().cloned());
        let mut facts = vec![host_fact("visit", &slots)];
        if let Some(error) = step.error.as_ref().filter(|_| !is_stopped) {
            let mut slots = vec![
                ("code", FactValue::string(&error.code)),
                ("message", FactValue::string(&error.message)),
                ("source", FactValue::string(&visit.id)),
            ];
            slots.extend(place.iter().cloned());
            facts.push(host_fact("error", &slots));
        }
        if let Some(graph) = &mut self.graph {
            graph.events.extend(facts.into_iter().flatten());
        }
    }

    /// What a node's call is given: the state, as far as it takes it.
    pub(super) fn state_input(&self, order: u32) -> Value {
        let Some(state) = self.state_map() else {
            return Value::Object(Map::new());
        };
        let fields = u32::try_from(self.node_of(order))
            .ok()
            .and_then(|node| self.node(node)?.fields.as_ref());
        Value::Object(match fields {
            None => state.clone(),
            Some(fields) => fields
                .iter()
                .filter_map(|field| Some((field.clone(), state.get(field)?.clone())))
                .collect(),
        })
    }

    /// A node's call has answered: what it returns are fields to set, all of them or none.
    pub(super) fn node_responded(
        &mut self,
        attempt: Attempt,
        response: Value,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let plan = Arc::clone(&self.plan);
        let changes = match response {
            Value::Object(changes) => Ok(changes),
            Value::Null => Ok(Map::new()),
            _ => Err("a node returns an object of state fields, and this is none".to_owned()),
        };
        let checked = changes.and_then(|changes| {
            let graph = plan.graph.as_ref().ok_or_else(String::new)?;
            let state = self.state_map().ok_or_else(String::new)?;
            let fits = graph.state.check(&changes);
            fits.and_then(|()| graph.state.check_size(state, &changes))
                .map_err(|problem| problem.message)?;
            Ok(changes)
        });
        match checked {
            Err(message) => {
                let failed = CallFailure::lasting("STATE_MISMATCH".to_owned(), message);
                self.attempt_failed(attempt, Failing::new(failed, FailedBy::Run), now_ms, commands);
            }
            Ok(changes) => {
                let order = attempt.order;
                let log = std::mem::take(&mut self.task.log);
                self.end_step(order, now_ms, |step| {
                    step.status = StepStatus::Completed;
                    step.input = None;
                    (step.log, step.log_dropped) = (log.lines, log.dropped);
                });
                if self.branches.focus().is_some() {
                    return self.branch_ended(order, Ok(changes), commands);
                }
                self.task.state = State::Deciding;
                self.visited(order, now_ms);
                self.set_fields(changes, now_ms, commands);
            }
        }
    }

    /// A node has failed: rules are evaluated all the same (D37).
    pub(super) fn node_failed(
        &mut self,
        order: u32,
        error: ExecutionError,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let log = std::mem::take(&mut self.task.log);
        self.end_step(order, now_ms, |step| {
            step.status = StepStatus::Failed;
            step.error = Some(error.clone());
            step.input = None;
            (step.log, step.log_dropped) = (log.lines, log.dropped);
        });
        if self.branches.focus().is_some() {
            return self.branch_ended(order, Err(error), commands);
        }
        self.visited(order, now_ms);
        self.task.state = State::Deciding;
        if let Some(graph) = &mut self.graph {
            graph.failed = Some(error);
        }
    }

    /// The rules decide what follows.
    pub(super) fn decide_next(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        let plan = Arc::clone(&self.plan);
        let (Some(graph), Some(planned)) = (&mut self.graph, plan.graph.as_ref()) else {
            return;
        };
        graph.memory.forget_events();
        for fact in std::mem::take(&mut graph.events) {
            graph.memory.happened(fact);
        }
        let routed = match graph.memory.evaluate(&planned.rules) {
            Ok(routed) => routed,
            Err(failed) => return self.rules_failed(failed, now_ms, commands),
        };
        let failed = graph.failed.take();
        let next = graph.next;
        let effect = |routed: &Routed| {
            let rule = planned.rules.rules.get(routed.rule)?;
            Some((rule, rule.effects.get(routed.action)?))
        };
        // Of equal ones the first that fired.
        let chosen = routed
            .iter()
            .filter_map(effect)
            .min_by_key(|(_, effect)| rank(effect));
        match (chosen, failed) {
            (None, Some(error)) => self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands),
            (None, None) => self.task.state = State::Entering(next),
            (Some((rule, effect)), _) => match effect {
                Effect::Goto(node) => self.task.state = State::Entering(Some(*node)),
                Effect::Halt(reason) => {
                    if let Some(record) = &mut self.result.graph {
                        record.halted = Some(reason.clone());
                    }
                    self.finish(ExecutionStatus::Completed, None, now_ms, commands);
                }
                Effect::Retry { node, backoff_ms: 0 } => self.task.state = State::Entering(Some(*node)),
                Effect::Retry { node, backoff_ms } => {
                    let until_ms = now_ms.saturating_add(*backoff_ms);
                    self.task.state = State::Delay {
                        node: *node,
                        until_ms,
                    };
                    commands.push(Command::WakeAt { at_ms: until_ms });
                }
                Effect::Fork(fork) => self.begin_block(Arc::clone(fork)),
                Effect::Interrupt(interrupt) => {
                    self.interrupt(&rule.id, Arc::clone(interrupt), now_ms, commands);
                }
                // These say nothing about where the run goes.
                Effect::Assert(_) | Effect::Retract(_) => self.task.state = State::Entering(next),
            },
        }
    }

    /// The nodes that are under way, in words.
    pub(super) fn whereabouts(&self) -> String {
        let open = self.result.steps.iter().rev().take(DETAILED);
        let open = open.filter(|step| step.status == StepStatus::Running);
        let names: Vec<&str> = open.map(|step| step.action.as_str()).collect();
        match names.as_slice() {
            [] => "a pause".to_owned(),
            names => format!("node {}", names.join(", ")),
        }
    }
}

/// A fact of the host's vocabulary; none where it does not fit, which a test excludes.
fn host_fact(template: &str, slots: &[(&str, FactValue)]) -> Option<Fact> {
    Fact::of_template(GraphRules::host_template(template)?, slots).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rules_are_told_fits_the_vocabulary() {
        let place = [
            ("run-id", FactValue::string("r")),
            ("step", FactValue::Integer(0)),
            ("time", FactValue::Integer(1)),
            ("source", FactValue::string("graph")),
        ];
        let with = |own: &[(&'static str, FactValue)]| [own, &place].concat();
        let visit = with(&[
            ("node", FactValue::string("a")),
            ("kind", FactValue::string("echo")),
            ("iteration", FactValue::Integer(1)),
            ("outcome", FactValue::symbol("completed")),
        ]);
        let error = with(&[
            ("code", FactValue::string("X")),
            ("message", FactValue::string("m")),
        ]);
        let respond = with(&input::respond_slots("ada", "answered", Some("tools:x")));
        for (template, slots) in [("visit", visit), ("error", error), ("respond", respond)] {
            assert!(host_fact(template, &slots).is_some(), "{template}");
        }
    }
}
