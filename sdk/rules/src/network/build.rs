//! Adding a rule to the network.

use super::{Alpha, AlphaId, Ending, Entry, Input, Join, JoinId, Network, Node, NodeId, NodeTest};
use crate::condition::Sense;
use crate::pattern::{Pattern, Step, StepTest};
use crate::place::Getter;
use crate::rule::{Joint, Right, Rule};

/// Where the next join is added.
#[derive(Debug, Clone, Copy)]
struct At {
    last: Option<JoinId>,
    /// Whether all joins before it are shared: a join can only be shared behind such.
    is_shared: bool,
}

/// Whether a group has a test before its first pattern.
fn begins_with_test(joint: &Joint) -> bool {
    match &joint.right {
        Right::Group(inner) => matches!(inner.first().map(|first| &first.right), Some(Right::Nothing)),
        _ => false,
    }
}

impl Network {
    /// Adds a rule, the next of its program.
    pub(crate) fn add(&mut self, at: usize, rule: &Rule) {
        for (number, branch) in rule.branches.iter().enumerate() {
            let mut path = Vec::new();
            let mut end = At {
                last: None,
                is_shared: true,
            };
            if branch.joints.is_empty() {
                end = self.begin_without_facts(&mut path);
            }
            end = self.joints(&branch.joints, end, &mut path);
            let ending = self.endings.len();
            let last = self.new_join(end.last, Input::Nothing, None);
            if let Some(join) = self.joins.get_mut(last) {
                join.ends = Some(ending);
            }
            path.push(last);
            self.endings.push(Ending {
                rule: at,
                branch: number,
                salience: rule.salience,
                path,
            });
        }
    }

    /// A rule without conditions.
    fn begin_without_facts(&mut self, path: &mut Vec<JoinId>) -> At {
        let joint = Joint {
            right: Right::Nothing,
            sense: Sense::Positive,
            tests: Vec::new(),
            after: Vec::new(),
            left_key: Vec::new(),
            right_key: Vec::new(),
            text: "".into(),
        };
        let start = At {
            last: None,
            is_shared: true,
        };
        self.joints(&[joint], start, path)
    }

    fn joints(&mut self, joints: &[Joint], mut at: At, path: &mut Vec<JoinId>) -> At {
        for joint in joints {
            let input = match &joint.right {
                Right::Nothing => Input::Nothing,
                Right::Pattern(pattern) => Input::Facts(self.pattern(pattern)),
                Right::Group(inner) => match self.joints(inner, at, &mut Vec::new()).last {
                    Some(last) => Input::Group(last),
                    None => Input::Nothing,
                },
            };
            let known = match at.is_shared {
                true => self.shareable(at.last, input, joint),
                false => None,
            };
            at = match known {
                Some(join) => At {
                    last: Some(join),
                    is_shared: true,
                },
                None => At {
                    last: Some(self.new_join(at.last, input, Some(joint))),
                    is_shared: false,
                },
            };
            path.extend(at.last);
        }
        at
    }

    /// A join that is there already and means the same.
    fn shareable(&self, last: Option<JoinId>, input: Input, joint: &Joint) -> Option<JoinId> {
        let below = |join: JoinId| {
            let next = self.joins.get(join).map_or(&[][..], |join| &join.next);
            next.iter().map(|(join, _)| *join).collect()
        };
        let latest_first = |joins: &[JoinId]| joins.iter().rev().copied().collect();
        let candidates: Vec<JoinId> = match (last, input) {
            (Some(last), _) => below(last),
            (None, Input::Nothing) => latest_first(&self.begin_right),
            (None, Input::Facts(alpha)) => {
                latest_first(self.alphas.get(alpha).map_or(&[][..], |alpha| &alpha.joins))
            }
            // CLIPS looks among the rules that begin without a fact, and finds none.
            (None, Input::Group(_)) if begins_with_test(joint) => Vec::new(),
            (None, Input::Group(group)) => below(group),
        };
        candidates.into_iter().find(|id| {
            self.joins.get(*id).is_some_and(|join| {
                join.input == input
                    && join.ends.is_none()
                    && join.is_first == last.is_none()
                    && join.sense == joint.sense
                    && join.tests == joint.tests
                    && join.after == joint.after
                    && join.left_key == joint.left_key
                    && join.right_key == joint.right_key
            })
        })
    }

    fn new_join(&mut self, last: Option<JoinId>, input: Input, joint: Option<&Joint>) -> JoinId {
        let id = self.joins.len();
        let length =
            |network: &Self, join: JoinId| network.joins.get(join).map_or(0, |join| join.left_length + 1);
        let is_group = matches!(input, Input::Group(_));
        let join = Join {
            is_first: last.is_none(),
            input,
            sense: joint.map_or(Sense::Positive, |joint| joint.sense),
            tests: joint.map(|joint| joint.tests.clone()).unwrap_or_default(),
            after: joint.map(|joint| joint.after.clone()).unwrap_or_default(),
            left_key: joint.map(|joint| joint.left_key.clone()).unwrap_or_default(),
            right_key: joint.map(|joint| joint.right_key.clone()).unwrap_or_default(),
            left_length: last.map_or(0, |last| length(self, last)),
            right_length: match input {
                Input::Group(group) => length(self, group),
                _ => 0,
            },
            next: Vec::new(),
            ends: None,
        };
        let begins_left = join.is_first && join.sense == Sense::Negated && input != Input::Nothing;
        self.joins.push(join);
        if let Some(before) = last.and_then(|last| self.joins.get_mut(last)) {
            // A match reaches the group first: what the group finds keeps it from going further here.
            let place = usize::from(is_group && !before.next.is_empty());
            before.next.insert(place, (id, Entry::Left));
        }
        if begins_left {
            self.begin_left.push(id);
        }
        match input {
            Input::Nothing if last.is_none() => self.begin_right.push(id),
            Input::Nothing => {}
            Input::Facts(alpha) => {
                if let Some(alpha) = self.alphas.get_mut(alpha) {
                    alpha.joins.push(id);
                }
            }
            Input::Group(group) => {
                if let Some(group) = self.joins.get_mut(group) {
                    group.next.insert(0, (id, Entry::Right));
                }
            }
        }
        id
    }

    /// The memory of a pattern, whose steps are shared as far as they are there.
    fn pattern(&mut self, pattern: &Pattern) -> AlphaId {
        let mut above = None;
        for (at, step) in pattern.steps.iter().enumerate() {
            let key = match at + 1 == pattern.steps.len() {
                true => pattern.key.as_slice(),
                false => &[],
            };
            let (test, value) = match &step.test {
                StepTest::All(tests) => (NodeTest::All(tests.clone()), None),
                StepTest::Constant(getter, value) => (NodeTest::Select(*getter), Some(value)),
            };
            above = Some(self.node(above, &pattern.name, step, test, key));
            if let Some(value) = value {
                above = Some(self.node(above, &pattern.name, step, NodeTest::Value(value.clone()), key));
            }
        }
        let next = self.alphas.len();
        let Some(node) = above.and_then(|node| self.nodes.get_mut(node)) else {
            return next;
        };
        let alpha = *node.alpha.get_or_insert(next);
        if alpha == next {
            self.alphas.push(Alpha {
                key: pattern.key.clone(),
                joins: Vec::new(),
            });
        }
        alpha
    }

    fn node(
        &mut self,
        above: Option<NodeId>,
        name: &str,
        step: &Step,
        test: NodeTest,
        key: &[Getter],
    ) -> NodeId {
        // The length is looked at before the value that selects.
        let length = match test {
            NodeTest::Value(_) => None,
            _ => step.length,
        };
        let siblings = match above {
            Some(above) => self.nodes.get(above).map(|above| &above.below),
            None => self.roots.get(name),
        };
        let known = siblings.into_iter().flatten().rev().find(|id| {
            self.nodes.get(**id).is_some_and(|node| {
                node.kind == step.kind
                    && node.slot == step.slot
                    && node.field == step.field
                    && node.ends_slot == step.ends_slot
                    && node.length == length
                    && node.test == test
                    && node.key == key
            })
        });
        if let Some(known) = known {
            return *known;
        }
        let id = self.nodes.len();
        self.nodes.push(Node {
            kind: step.kind,
            slot: step.slot,
            field: step.field,
            ends_slot: step.ends_slot,
            length,
            test,
            key: key.to_vec(),
            below: Vec::new(),
            alpha: None,
        });
        match above.and_then(|above| self.nodes.get_mut(above)) {
            Some(above) => above.below.push(id),
            None => self.roots.entry(name.into()).or_default().push(id),
        }
        id
    }
}
