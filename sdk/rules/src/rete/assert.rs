//! A fact enters: it finds its patterns, and each match goes through the joins as far as it can.

use super::facing::{Seen, holds};
use super::{Change, Open, Rete};
use crate::agenda::Activation;
use crate::budget::Exhausted;
use crate::condition::Sense;
use crate::fact::{Fact, FactId};
use crate::matches::{Kind, Match, MatchId, NONE};
use crate::network::{AlphaId, Entry, Input, Join, JoinId, Network, Node, NodeTest};
use crate::pattern::StepKind;
use crate::value::Value;

impl<'p> Rete<'p> {
    /// Sends a fact through the steps of the patterns of its name, one after another and each to its end.
    pub(super) fn arrive(&mut self, id: FactId) -> Result<(), Exhausted> {
        let Some(fact) = self.facts.get(id).map(|stored| stored.fact.clone()) else {
            return Ok(());
        };
        let network: &'p Network = self.network;
        let Some(roots) = network.roots.get(fact.name()) else {
            return Ok(());
        };
        let mut open = std::mem::take(&mut self.open);
        open.clear();
        open.push(Open::Nodes(roots, roots.len(), None));
        while let Some(last) = open.last_mut() {
            let (node, split) = match last {
                Open::Nodes(_, 0, _) | Open::Span(_, 0) => {
                    open.pop();
                    continue;
                }
                Open::Nodes(nodes, left, split) => {
                    *left -= 1;
                    let Some(node) = nodes.get(*left) else { continue };
                    (*node, *split)
                }
                Open::Span(node, left) => {
                    *left -= 1;
                    (*node, Some(*left))
                }
            };
            let is_span = matches!(last, Open::Span(..));
            let Some(at) = network.nodes.get(node) else {
                continue;
            };
            self.meter.spend(1)?;
            if let (StepKind::Span { leave }, None) = (at.kind, split) {
                if let Some(slack) = slack(at, &fact, leave) {
                    open.push(Open::Span(node, slack + 1));
                }
                continue;
            }
            let seen = Seen {
                id,
                fact: &fact,
                split: split.unwrap_or(0),
            };
            // A `$?` that is laid over the fields was measured before.
            if let Some(found) = self.step(at, seen, is_span)? {
                if let Some(alpha) = found.alpha {
                    self.found(alpha, seen)?;
                }
                if !found.below.is_empty() {
                    open.push(Open::Nodes(&found.below, found.below.len(), split));
                }
            }
        }
        self.open = open;
        Ok(())
    }

    /// Whether a fact passes a step: the node from which it goes on.
    fn step(
        &mut self,
        node: &'p Node,
        seen: Seen<'_>,
        is_measured: bool,
    ) -> Result<Option<&'p Node>, Exhausted> {
        if !is_measured && !fits(node, seen.fact) {
            return Ok(None);
        }
        match &node.test {
            NodeTest::All(tests) => {
                for test in tests {
                    let held = holds(test, &seen, &mut self.meter, &mut self.errors)?;
                    if held != Some(true) {
                        return Ok(None);
                    }
                }
                Ok(Some(node))
            }
            NodeTest::Select(getter) => {
                let Some(value) = getter.get(seen.id, seen.fact, seen.split) else {
                    return Ok(None);
                };
                let network: &'p Network = self.network;
                let below = node.below.iter().filter_map(|id| network.nodes.get(*id));
                let mut selected = None;
                for node in below {
                    self.meter.spend(1)?;
                    if matches!(&node.test, NodeTest::Value(wanted) if *wanted == *value) {
                        selected = Some(node);
                        break;
                    }
                }
                Ok(selected)
            }
            NodeTest::Value(_) => Ok(None),
        }
    }

    /// A fact matches a pattern.
    fn found(&mut self, alpha: AlphaId, seen: Seen<'_>) -> Result<(), Exhausted> {
        let network: &'p Network = self.network;
        let Some(pattern) = network.alphas.get(alpha) else {
            return Ok(());
        };
        let hash = self.hash_of_fact(&pattern.key, seen)?;
        let id = self.add_match(Match {
            kind: Kind::Fact(seen.id),
            owner: alpha,
            split: u32::try_from(seen.split).unwrap_or(u32::MAX),
            hash,
            ..Match::EMPTY
        })?;
        let before = self.facts.add_match(seen.id, id);
        self.matches.change(id, |new| new.next_of_fact = before);
        for join in pattern.joins.iter().rev() {
            self.enter_right(id, *join, Change::Assert)?;
        }
        Ok(())
    }

    /// A match enters a join from the right.
    pub(super) fn enter_right(
        &mut self,
        right: MatchId,
        id: JoinId,
        change: Change,
    ) -> Result<(), Exhausted> {
        let Some(join) = self.join(id) else { return Ok(()) };
        if join.is_first {
            return self.enter_first(right, id, change);
        }
        let mut left = self.memories.first_left(id, self.matches.at(right).hash);
        while left != NONE {
            let Match { next, blocker, .. } = *self.matches.at(left);
            self.meter.spend(1)?;
            if blocker == NONE
                && self.passes(&join.tests, join, left, right)?
                && self.passes(&join.after, join, left, NONE)?
            {
                match join.sense {
                    Sense::Positive => self.go_on(left, right, id, change)?,
                    Sense::Exists => {
                        self.matches.block(left, right);
                        self.go_on(left, NONE, id, change)?;
                    }
                    Sense::Negated => {
                        self.matches.block(left, right);
                        self.take_children(left, change)?;
                    }
                }
            }
            left = next;
        }
        Ok(())
    }

    /// A match enters a join from the left.
    fn enter_left(&mut self, left: MatchId, id: JoinId, change: Change) -> Result<(), Exhausted> {
        if change == Change::Retract && self.will_leave(left)? {
            return Ok(());
        }
        let Some(join) = self.join(id) else { return Ok(()) };
        if let Some(branch) = join.ends {
            return self.activate(left, branch);
        }
        if join.input == Input::Nothing {
            if self.passes(&join.tests, join, left, NONE)? {
                self.go_on(left, NONE, id, change)?;
            }
            return Ok(());
        }
        let hash = self.matches.at(left).hash;
        let mut right = self.memories.first_right(id, join.input, hash);
        while right != NONE {
            self.meter.spend(1)?;
            let is_there = change == Change::Assert || !self.will_leave(right)?;
            if is_there && self.passes(&join.tests, join, left, right)? {
                match join.sense {
                    Sense::Positive => self.go_on(left, right, id, change)?,
                    Sense::Exists => {
                        if self.passes(&join.after, join, left, NONE)? {
                            self.matches.block(left, right);
                            return self.go_on(left, NONE, id, change);
                        }
                    }
                    Sense::Negated => {
                        self.matches.block(left, right);
                        return Ok(());
                    }
                }
            }
            right = self.matches.at(right).next;
        }
        if join.sense == Sense::Negated && self.passes(&join.after, join, left, NONE)? {
            self.go_on(left, NONE, id, change)?;
        }
        Ok(())
    }

    /// A match enters the first join of a rule, or none where the rule begins without a fact.
    pub(super) fn enter_first(
        &mut self,
        right: MatchId,
        id: JoinId,
        change: Change,
    ) -> Result<(), Exhausted> {
        let Some(join) = self.join(id) else { return Ok(()) };
        if !self.passes(&join.tests, join, NONE, right)? || !self.passes(&join.after, join, NONE, NONE)? {
            return Ok(());
        }
        let start = self.beginnings.get(id).copied().unwrap_or(NONE);
        match join.sense {
            Sense::Positive => self.send(NONE, right, join, change),
            _ if self.matches.at(start).blocker != NONE => Ok(()),
            Sense::Exists => {
                self.matches.block(start, right);
                self.send(start, NONE, join, change)
            }
            Sense::Negated => {
                self.matches.block(start, right);
                self.take_children(start, change)
            }
        }
    }

    /// A rule begins with a fact that is not there, and it is not there.
    pub(super) fn begin_again(&mut self, id: JoinId, change: Change) -> Result<(), Exhausted> {
        let Some(join) = self.join(id) else { return Ok(()) };
        let start = self.beginnings.get(id).copied().unwrap_or(NONE);
        if !self.passes(&join.after, join, NONE, NONE)? {
            return Ok(());
        }
        self.send(start, NONE, join, change)
    }

    /// What met at a join goes on to the next ones.
    pub(super) fn go_on(
        &mut self,
        left: MatchId,
        right: MatchId,
        id: JoinId,
        change: Change,
    ) -> Result<(), Exhausted> {
        let Some(join) = self.join(id) else { return Ok(()) };
        self.send(left, right, join, change)
    }

    fn send(
        &mut self,
        left: MatchId,
        right: MatchId,
        join: &'p Join,
        change: Change,
    ) -> Result<(), Exhausted> {
        for (next, entry) in &join.next {
            let Some(to) = self.join(*next) else { continue };
            let (kind, key) = match entry {
                Entry::Left => (Kind::Left, &to.left_key),
                Entry::Right => (Kind::Right, &to.right_key),
            };
            let mut new = Match {
                kind,
                owner: *next,
                left,
                right,
                ..Match::EMPTY
            };
            new.hash = self.hash_of_new(key, &new, join.left_length + 1)?;
            let new = self.add_match(new)?;
            self.matches.descend(new);
            match entry {
                Entry::Left => self.enter_left(new, *next, change)?,
                Entry::Right => self.enter_right(new, *next, change)?,
            }
        }
        Ok(())
    }

    fn activate(&mut self, found: MatchId, branch: usize) -> Result<(), Exhausted> {
        let salience = self
            .network
            .endings
            .get(branch)
            .map_or(0, |ending| ending.salience);
        let number = self
            .agenda
            .add(Activation { found, branch }, salience, &self.meter)?;
        self.matches.change(found, |waiting| waiting.activation = number);
        Ok(())
    }
}

fn length_of(node: &Node, fact: &Fact) -> Option<usize> {
    match fact.slots().get(node.slot)? {
        Value::Multifield(fields) => Some(fields.len()),
        _ => None,
    }
}

fn fits(node: &Node, fact: &Fact) -> bool {
    match node.length {
        None => true,
        Some(length) => length_of(node, fact).is_some_and(|found| length.fits(found)),
    }
}

/// How many fields the first `$?` of a slot can take, where there are enough for what stands around it.
fn slack(node: &Node, fact: &Fact, leave: usize) -> Option<usize> {
    let fits = fits(node, fact);
    let length = length_of(node, fact).filter(|_| fits)?;
    length.checked_sub(node.before() + leave)
}
