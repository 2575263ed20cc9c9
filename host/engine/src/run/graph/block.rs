//! A parallel block (D16, D29, D39): its branches begin from the same state, and its strategy says when it is over.

use super::super::state::State;
use super::super::{Command, Run};
use crate::graph::{BranchEnd, Fork, NodeDoes, Standing, Strategy};
use crate::plan::Repeatable;
use mizzen_model::execution::{ExecutionError, ExecutionStatus, StepStatus};
use serde_json::{Map, Value};
use std::sync::Arc;

/// The code of a branch that was stopped because the others decided.
pub(super) const STOPPED: &str = "BRANCH_STOPPED";
/// How much of a value an error shows.
const SHOWN: usize = 200;

/// A block that is under way.
#[derive(Debug)]
pub(super) struct Block {
    fork: Arc<Fork>,
    /// Those that were begun, in the order of the targets.
    branches: Vec<BranchState>,
    /// How the first one ended.
    first: Option<BranchEnd>,
    /// The one that ended last.
    last: Option<u32>,
}

#[derive(Debug)]
struct BranchState {
    order: u32,
    end: BranchEnd,
    changes: Map<String, Value>,
    error: Option<ExecutionError>,
}

impl Block {
    fn standing(&self) -> Standing {
        let begun = self.branches.iter().map(|branch| branch.end);
        let open = self.fork.targets.len().saturating_sub(self.branches.len());
        let all = begun.chain(std::iter::repeat_n(BranchEnd::Open, open));
        self.fork.strategy.standing(all, self.first)
    }

    /// The changes that count, in the order of the targets.
    fn changes(&mut self) -> Vec<Map<String, Value>> {
        let won = self
            .branches
            .iter_mut()
            .filter(|branch| branch.end == BranchEnd::Succeeded);
        let most = match self.fork.strategy {
            Strategy::Any | Strategy::Race => 1,
            Strategy::All | Strategy::Quorum(_) => usize::MAX,
        };
        won.take(most)
            .map(|branch| std::mem::take(&mut branch.changes))
            .collect()
    }

    /// Why the block has failed: the error of the branch that decided it.
    fn error(&self) -> Option<ExecutionError> {
        let last = self
            .branches
            .iter()
            .find(|branch| Some(branch.order) == self.last);
        let failed = self
            .branches
            .iter()
            .filter(|branch| branch.end == BranchEnd::Failed);
        last.into_iter()
            .chain(failed)
            .find_map(|branch| branch.error.clone())
    }
}

impl<C> Run<C> {
    pub(super) fn begin_block(&mut self, fork: Arc<Fork>) {
        if let Some(graph) = &mut self.graph {
            graph.next = fork.next;
            graph.block = Some(Block {
                fork,
                branches: Vec::new(),
                first: None,
                last: None,
            });
            self.task.state = State::Forked;
        }
    }

    /// The branch in focus has ended. The others go on, so nothing may follow from it yet.
    pub(super) fn branch_ended(
        &mut self,
        order: u32,
        ended: Result<Map<String, Value>, ExecutionError>,
        commands: &mut Vec<Command>,
    ) {
        self.task.state = State::Over;
        commands.push(Command::Noted);
        self.end_branch(order, ended);
    }

    fn end_branch(&mut self, order: u32, ended: Result<Map<String, Value>, ExecutionError>) {
        let Some(block) = self.graph.as_mut().and_then(|graph| graph.block.as_mut()) else {
            return;
        };
        let Some(branch) = block.branches.iter_mut().find(|branch| branch.order == order) else {
            return;
        };
        match ended {
            Ok(changes) => (branch.end, branch.changes) = (BranchEnd::Succeeded, changes),
            Err(error) => (branch.end, branch.error) = (BranchEnd::Failed, Some(error)),
        }
        block.first.get_or_insert(branch.end);
        block.last = Some(order);
    }

    /// Begins the next branch, or ends the block. Returns whether something has changed.
    pub(in super::super) fn advance_block(&mut self, now_ms: u64, commands: &mut Vec<Command>) -> bool {
        let Some(block) = self.graph.as_ref().and_then(|graph| graph.block.as_ref()) else {
            return false;
        };
        match block.standing() {
            Standing::Open => {}
            standing => {
                self.end_block(standing, now_ms, commands);
                return true;
            }
        }
        // One question to packs at a time: what follows from it is written before the next.
        if self.branches.is_judged() {
            return false;
        }
        let Some(node) = block.fork.targets.get(block.branches.len()).copied() else {
            return false;
        };
        let Some(order) = self.visit(node, now_ms, commands) else {
            return true;
        };
        let begun = BranchState {
            order,
            end: BranchEnd::Open,
            changes: Map::new(),
            error: None,
        };
        if let Some(block) = self.graph.as_mut().and_then(|graph| graph.block.as_mut()) {
            block.branches.push(begun);
        }
        if self.node(node).is_some_and(|node| node.does == NodeDoes::Call) {
            self.branches.add(order);
            self.in_branch(order, commands, |run, commands| {
                run.call_step(order, now_ms, commands)
            });
        } else {
            self.pass(order, now_ms);
            self.end_branch(order, Ok(Map::new()));
        }
        true
    }

    /// The block is over: losers are stopped, the changes of the others become the state, and rules decide.
    fn end_block(&mut self, standing: Standing, now_ms: u64, commands: &mut Vec<Command>) {
        let plan = Arc::clone(&self.plan);
        let Some(mut block) = self.graph.as_mut().and_then(|graph| graph.block.take()) else {
            return;
        };
        for branch in block
            .branches
            .iter()
            .filter(|branch| branch.end == BranchEnd::Open)
        {
            if self.drop_branch(branch.order, now_ms) {
                commands.push(Command::StopBranch { order: branch.order });
            }
            self.stop_branch(branch.order, now_ms);
        }
        self.leave_branches(now_ms);
        for branch in &block.branches {
            self.visited(branch.order, now_ms);
        }
        self.task.state = State::Deciding;
        if standing == Standing::Failed {
            let error = block.error();
            if let Some(graph) = &mut self.graph {
                graph.failed = error;
            }
            return;
        }
        let changes = block.changes();
        let (Some(graph), Some(state)) = (plan.graph.as_ref(), self.state_map()) else {
            return;
        };
        let merged = graph.state.merge(state, changes).map_err(|conflict| {
            let [one, other] = conflict.values.each_ref().map(shown);
            let message = format!(
                "two branches set {:?} to different values: {one} and {other}; let one of them set it, or make it a list",
                conflict.field
            );
            ExecutionError::new("STATE_CONFLICT", message, None)
        });
        let fits = merged.and_then(|merged| match graph.state.check_size(state, &merged) {
            Ok(()) => Ok(merged),
            Err(problem) => Err(ExecutionError::new("STATE_TOO_LARGE", problem.message, None)),
        });
        match fits {
            Ok(merged) => self.set_fields(merged, now_ms, commands),
            Err(error) => self.finish(ExecutionStatus::Failed, Some(error), now_ms, commands),
        }
    }

    /// A branch that lost. What its call did before it was stopped is not known.
    fn stop_branch(&mut self, order: u32, now_ms: u64) {
        let is_harmless = self.planned(order).is_some_and(|step| {
            let target = step.target.as_ref();
            target.is_ok_and(|target| target.repeatable == Repeatable::Yes)
        });
        let message = match is_harmless {
            true => "the block was decided before this branch ended".to_owned(),
            false => "the block was decided before this branch ended; its call may have changed the world"
                .to_owned(),
        };
        let error = ExecutionError::new(STOPPED, message, Some(order));
        self.end_step(order, now_ms, |step| {
            step.status = StepStatus::Failed;
            step.error = Some(error);
            step.input = None;
        });
    }
}

fn shown(value: &Value) -> String {
    let mut text = value.to_string();
    if text.len() > SHOWN {
        text.truncate(text.floor_char_boundary(SHOWN));
        text.push('…');
    }
    text
}
