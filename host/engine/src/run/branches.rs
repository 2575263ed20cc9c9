//! Branches that run beside each other: each has a task of its own, and the run works on the one in focus.

use super::nested::Within;
use super::state::State;
use super::task::Task;
use super::{Command, Event, Run};

/// The tasks of branches. While one is in focus, its place holds the task of the run itself.
#[derive(Debug, Default)]
pub(super) struct Branches {
    list: Vec<Branch>,
    focus: Option<usize>,
}

#[derive(Debug)]
struct Branch {
    order: u32,
    task: Task,
}

impl Branches {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The branch in focus, by the order of its task.
    pub(super) fn focus(&self) -> Option<u32> {
        Some(self.list.get(self.focus?)?.order)
    }

    /// Their tasks, while none is in focus.
    pub(super) fn tasks(&self) -> impl Iterator<Item = &Task> {
        self.list.iter().map(|branch| &branch.task)
    }

    pub(super) fn orders(&self) -> Vec<u32> {
        self.list.iter().map(|branch| branch.order).collect()
    }

    pub(super) fn add(&mut self, order: u32) {
        let task = Task::at(State::Over);
        self.list.push(Branch { order, task });
    }

    /// Whether packs are asked about any of them.
    pub(super) fn is_judged(&self) -> bool {
        self.tasks().any(Task::is_judged)
    }
}

impl<C> Run<C> {
    /// Whether a task is one of several that run beside each other.
    pub fn is_branch(&self, order: u32) -> bool {
        self.branches.list.iter().any(|branch| branch.order == order)
    }

    /// The branch that packs are asked about. Until they have answered nothing else may be taken in: what follows from their answer
    /// is written before what happens later.
    pub fn judged_branch(&self) -> Option<u32> {
        let judged = self.branches.list.iter().find(|branch| branch.task.is_judged());
        judged.map(|branch| branch.order)
    }

    /// The branch that an event is about.
    pub(super) fn branch_of(&self, event: &Event) -> Option<u32> {
        let by_order = |order: u32| self.is_branch(order).then_some(order);
        let by_within = |within: Within| match within {
            Within::Step { order, .. } => by_order(order),
            Within::Gate { .. } => None,
        };
        match event {
            Event::CallEnded { order, .. } => by_order(*order),
            Event::NestedAsked(asked) => by_within(asked.within),
            Event::NestedEnded { within, .. } | Event::Interrupted { within } => by_within(*within),
            Event::PacksAnswered { question, .. } => {
                let asked = |task: &Task| {
                    task.nested.asks(*question).is_some()
                        || matches!(task.state, State::Judging { question: open, .. } if open == *question)
                };
                let branch = self.branches.list.iter().find(|branch| asked(&branch.task));
                branch.map(|branch| branch.order)
            }
            _ => None,
        }
    }

    /// The task whose call is meant.
    pub(super) fn task_within(&self, within: Within) -> Option<&Task> {
        match within {
            Within::Step { order, .. } if self.is_branch(order) => {
                let branch = self.branches.list.iter().find(|branch| branch.order == order);
                branch.map(|branch| &branch.task)
            }
            _ => Some(&self.task),
        }
    }

    fn focus_on(&mut self, order: u32) -> bool {
        let Some(place) = self.branches.list.iter().position(|branch| branch.order == order) else {
            return false;
        };
        if let (None, Some(branch)) = (self.branches.focus, self.branches.list.get_mut(place)) {
            std::mem::swap(&mut self.task, &mut branch.task);
            self.branches.focus = Some(place);
            return true;
        }
        false
    }

    fn unfocus(&mut self) {
        if let Some(place) = self.branches.focus.take()
            && let Some(branch) = self.branches.list.get_mut(place)
        {
            std::mem::swap(&mut self.task, &mut branch.task);
        }
    }

    /// Works on a branch. What it commands to stop is its own.
    pub(super) fn in_branch(
        &mut self,
        order: u32,
        commands: &mut Vec<Command>,
        work: impl FnOnce(&mut Self, &mut Vec<Command>),
    ) {
        if !self.focus_on(order) {
            return;
        }
        let mut own = Vec::new();
        work(self, &mut own);
        // The run may have ended meanwhile, and then there are no branches any more.
        if self.branches.focus.is_some() {
            for command in &mut own {
                if *command == Command::StopCalls {
                    *command = Command::StopBranch { order };
                }
            }
            self.remember(&own);
            self.unfocus();
        }
        commands.append(&mut own);
    }

    /// Ends one branch, wherever it stands. Returns whether something was under way.
    pub(super) fn drop_branch(&mut self, order: u32, now_ms: u64) -> bool {
        if !self.focus_on(order) {
            return false;
        }
        let is_outside = self.task.state.is_outside();
        self.lose_nested(now_ms);
        self.unfocus();
        self.branches.list.retain(|branch| branch.order != order);
        is_outside
    }

    /// The run goes on, or ends, without its branches. Returns whether there were any.
    pub(super) fn leave_branches(&mut self, now_ms: u64) -> bool {
        self.unfocus();
        let orders = self.branches.orders();
        for order in &orders {
            self.drop_branch(*order, now_ms);
        }
        !orders.is_empty()
    }

    pub(super) fn tick_branches(&mut self, now_ms: u64, commands: &mut Vec<Command>) {
        for order in self.branches.orders() {
            self.in_branch(order, commands, |run, commands| run.tick(now_ms, commands));
        }
    }
}
