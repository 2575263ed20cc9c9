//! The network: memories of all patterns, and for every way a match can begin the order in which to join the rest.
//! This is TREAT: no memory holds partial joins, so a cross product costs time, which is budgeted, and never memory.

use crate::budget::{Exhausted, Meter};
use crate::expression::Variable;
use crate::fact::Map;
use crate::memory::{Memory, RecordId};
use crate::pattern::holds;
use crate::program::Program;
use crate::rule::{Group, Test};
use crate::value::Value;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Which memory.
pub(crate) type MemoryId = usize;

/// A group whose patterns have memories.
#[derive(Debug)]
pub(crate) struct Joined {
    pub(crate) memories: Vec<MemoryId>,
    pub(crate) tests: Vec<Test>,
    pub(crate) nots: Vec<Joined>,
    /// How to look for a match when everything around the group is known.
    pub(crate) plan: Plan,
    pub(crate) text: String,
}

/// One alternative of a rule.
#[derive(Debug)]
pub(crate) struct Branch {
    pub(crate) rule: usize,
    pub(crate) branch: usize,
    pub(crate) salience: i32,
    pub(crate) variables: usize,
    pub(crate) group: Joined,
    /// Beginning with the match of each pattern.
    pub(crate) seeded: Vec<Plan>,
}

/// An order of joins.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) steps: Vec<Step>,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    /// The place of the pattern in its group.
    pub(crate) position: usize,
    pub(crate) memory: MemoryId,
    index: Option<usize>,
    /// The variables whose values are the key of the index.
    key: Vec<Variable>,
    /// Places of the record and the variables they bind.
    binds: Vec<(usize, Variable)>,
    /// Tests whose variables are all bound after this step.
    tests: Vec<usize>,
}

/// How a memory is used: what to do when it changes.
#[derive(Debug, Clone)]
pub(crate) enum Use {
    /// A pattern of the branch itself.
    Positive { branch: usize, position: usize },
    /// A pattern somewhere inside a `not`.
    Negative {
        branch: usize,
        /// Places of the record and the branch's variables that they are compared with.
        shared: Vec<(usize, Variable)>,
        /// The order in which to look at the branch again, with those variables known.
        plan: Plan,
        /// Where only the number of matches with the same shared values counts: the index that knows it.
        counted: Option<Option<usize>>,
    },
}

#[derive(Debug, Default)]
pub(crate) struct Network {
    pub(crate) memories: Vec<Memory>,
    pub(crate) uses: Vec<Vec<Use>>,
    pub(crate) branches: Vec<Branch>,
    pub(crate) by_name: Map<Arc<str>, Vec<MemoryId>>,
    /// The most variables that a branch has.
    pub(crate) variables: usize,
    /// The most patterns that a branch has.
    pub(crate) patterns: usize,
}

impl Network {
    pub(crate) fn new(program: &Program) -> Self {
        let mut network = Self::default();
        for (at, rule) in program.rules.iter().enumerate() {
            for (number, branch) in rule.branches.iter().enumerate() {
                let outer: Vec<Variable> = branch
                    .group
                    .patterns
                    .iter()
                    .flat_map(|pattern| pattern.locals.iter().copied())
                    .collect();
                let group = network.join(&branch.group, &[], &outer);
                let all: Vec<usize> = (0..group.memories.len()).collect();
                let seeded: Vec<_> = all
                    .iter()
                    .map(|first| network.plan(&group.memories, &group.tests, &[], Some(*first)))
                    .collect();
                network.variables = network.variables.max(branch.variables);
                network.patterns = network.patterns.max(group.memories.len());
                let id = network.branches.len();
                for (position, memory) in group.memories.iter().enumerate() {
                    network.used(*memory, Use::Positive { branch: id, position });
                }
                network.use_negatives(&group, id, &group.nots, &outer, 1);
                network.branches.push(Branch {
                    rule: at,
                    branch: number,
                    salience: rule.salience,
                    variables: branch.variables,
                    group,
                    seeded,
                });
            }
        }
        network
    }

    fn used(&mut self, memory: MemoryId, how: Use) {
        if let Some(uses) = self.uses.get_mut(memory) {
            uses.push(how);
        }
    }

    /// `known` are the variables around the group, `visible` those of the group's own patterns and around.
    fn join(&mut self, group: &Group, known: &[Variable], visible: &[Variable]) -> Joined {
        let mut memories = Vec::new();
        for pattern in &group.patterns {
            let id = self.memories.len();
            self.by_name
                .entry(Arc::clone(&pattern.name))
                .or_default()
                .push(id);
            self.memories.push(Memory::new(Arc::clone(pattern)));
            self.uses.push(Vec::new());
            memories.push(id);
        }
        let plan = self.plan(&memories, &group.tests, known, None);
        let nots = group
            .nots
            .iter()
            .map(|inner| {
                let within: Vec<Variable> = inner
                    .patterns
                    .iter()
                    .flat_map(|pattern| pattern.locals.iter().copied())
                    .chain(visible.iter().copied())
                    .collect();
                self.join(inner, visible, &within)
            })
            .collect();
        Joined {
            memories,
            tests: group.tests.clone(),
            nots,
            plan,
            text: group.text.clone(),
        }
    }

    fn use_negatives(
        &mut self,
        group: &Joined,
        branch: usize,
        nots: &[Joined],
        outer: &[Variable],
        depth: usize,
    ) {
        for inner in nots {
            for memory in &inner.memories {
                let locals = self
                    .memories
                    .get(*memory)
                    .map_or(&[][..], |memory| &memory.pattern.locals)
                    .to_vec();
                let shared: Vec<(usize, Variable)> = locals
                    .iter()
                    .enumerate()
                    .filter(|(_, variable)| outer.contains(variable))
                    .map(|(place, variable)| (place, *variable))
                    .collect();
                let variables: Vec<Variable> = shared.iter().map(|(_, variable)| *variable).collect();
                let plan = self.plan(&group.memories, &group.tests, &variables, None);
                let simple = depth == 1
                    && inner.memories.len() == 1
                    && inner.tests.is_empty()
                    && inner.nots.is_empty();
                let places: Vec<usize> = shared.iter().map(|(place, _)| *place).collect();
                let counted = simple.then(|| {
                    self.memories
                        .get_mut(*memory)
                        .and_then(|memory| memory.index(&places))
                });
                self.used(
                    *memory,
                    Use::Negative {
                        branch,
                        shared,
                        plan,
                        counted,
                    },
                );
            }
            self.use_negatives(group, branch, &inner.nots, outer, depth + 1);
        }
    }

    /// Chooses the order: always the pattern next that has the most variables known already, the first of equals.
    fn plan(
        &mut self,
        memories: &[MemoryId],
        tests: &[Test],
        known: &[Variable],
        first: Option<usize>,
    ) -> Plan {
        let mut bound: Vec<Variable> = known.to_vec();
        let mut left: Vec<usize> = (0..memories.len()).collect();
        let mut pending: Vec<usize> = (0..tests.len()).collect();
        let mut steps: Vec<Step> = Vec::new();
        while !left.is_empty() {
            let score = |position: &usize| {
                let memory = memories.get(*position).and_then(|id| self.memories.get(*id));
                memory.map_or(0, |memory| {
                    memory
                        .pattern
                        .locals
                        .iter()
                        .filter(|local| bound.contains(local))
                        .count()
                })
            };
            let chosen = match first {
                Some(first) if steps.is_empty() => first,
                _ => left
                    .iter()
                    .copied()
                    .max_by_key(|position| (score(position), usize::MAX - position))
                    .unwrap_or(0),
            };
            left.retain(|position| *position != chosen);
            let Some(id) = memories.get(chosen).copied() else {
                continue;
            };
            let Some(memory) = self.memories.get_mut(id) else {
                continue;
            };
            let (mut places, mut key, mut binds) = (Vec::new(), Vec::new(), Vec::new());
            for (place, variable) in memory.pattern.locals.iter().enumerate() {
                if bound.contains(variable) {
                    places.push(place);
                    key.push(*variable);
                } else {
                    binds.push((place, *variable));
                }
            }
            let index = memory.index(&places);
            bound.extend(binds.iter().map(|(_, variable)| *variable));
            let mut ready = Vec::new();
            pending.retain(|test| {
                let mut all = true;
                if let Some(test) = tests.get(*test) {
                    test.expression
                        .variables(&mut |variable| all &= bound.contains(&variable));
                }
                // After the last pattern nothing more becomes known.
                let now = all || left.is_empty();
                if now {
                    ready.push(*test);
                }
                !now
            });
            steps.push(Step {
                position: chosen,
                memory: id,
                index,
                key,
                binds,
                tests: ready,
            });
        }
        Plan { steps }
    }
}

/// One search through the network.
pub(crate) struct Search<'a> {
    pub(crate) memories: &'a [Memory],
    pub(crate) meter: &'a mut Meter,
    pub(crate) errors: &'a mut Vec<String>,
}

/// What is known so far: values of variables, and a record per pattern.
#[derive(Debug, Default)]
pub(crate) struct Partial {
    pub(crate) bindings: Vec<Option<Value>>,
    pub(crate) tuple: Vec<RecordId>,
    /// Inside how many `not`s the search is. What they find is no part of the match.
    inside: usize,
}

impl Partial {
    pub(crate) fn new(variables: usize, patterns: usize) -> Self {
        let mut partial = Self::default();
        partial.begin(variables, patterns);
        partial
    }

    /// Nothing is known any more.
    pub(crate) fn begin(&mut self, variables: usize, patterns: usize) {
        self.bindings.clear();
        self.bindings.resize(variables, None);
        self.tuple.clear();
        self.tuple.resize(patterns, 0);
        self.inside = 0;
    }

    pub(crate) fn bind(&mut self, variable: Variable, value: Option<Value>) {
        if let Some(binding) = self.bindings.get_mut(variable) {
            *binding = value;
        }
    }
}

/// What is called with every complete match; breaking ends the search.
pub(crate) type Visit<'v> =
    dyn FnMut(&mut Search<'_>, &mut Partial) -> Result<ControlFlow<()>, Exhausted> + 'v;

impl Search<'_> {
    /// Goes through all matches of the steps from `at` on. Recursion is as deep as a rule has patterns.
    pub(crate) fn run(
        &mut self,
        plan: &Plan,
        tests: &[Test],
        at: usize,
        partial: &mut Partial,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Exhausted> {
        let Some(step) = plan.steps.get(at) else {
            return visit(self, partial);
        };
        let memories = self.memories;
        let Some(memory) = memories.get(step.memory) else {
            return Ok(ControlFlow::Continue(()));
        };
        let key = step
            .key
            .iter()
            .filter_map(|variable| partial.bindings.get(*variable)?.as_ref());
        for id in memory.lookup(step.index, key, self.meter)? {
            // One that is gone is listed for a while.
            if memory.get(*id).is_some() && self.enter(plan, tests, at, *id, partial, visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    /// Takes one record for the step `at` and goes on from there.
    pub(crate) fn enter(
        &mut self,
        plan: &Plan,
        tests: &[Test],
        at: usize,
        id: RecordId,
        partial: &mut Partial,
        visit: &mut Visit<'_>,
    ) -> Result<ControlFlow<()>, Exhausted> {
        self.meter.spend(1)?;
        let Some(step) = plan.steps.get(at) else {
            return Ok(ControlFlow::Continue(()));
        };
        let memories = self.memories;
        let Some(record) = memories.get(step.memory).and_then(|memory| memory.get(id)) else {
            return Ok(ControlFlow::Continue(()));
        };
        for (place, variable) in &step.binds {
            partial.bind(*variable, record.values.get(*place).cloned());
        }
        if partial.inside == 0
            && let Some(place) = partial.tuple.get_mut(step.position)
        {
            *place = id;
        }
        let mut all = true;
        for test in step.tests.iter().filter_map(|test| tests.get(*test)) {
            if !holds(
                &test.expression,
                &partial.bindings,
                self.meter,
                self.errors,
                &test.text,
            )? {
                all = false;
                break;
            }
        }
        let flow = if all {
            self.run(plan, tests, at + 1, partial, visit)?
        } else {
            ControlFlow::Continue(())
        };
        for (_, variable) in &step.binds {
            partial.bind(*variable, None);
        }
        Ok(flow)
    }

    /// The first of the negated groups that has a match, if any does.
    pub(crate) fn blocked<'g>(
        &mut self,
        nots: &'g [Joined],
        partial: &mut Partial,
    ) -> Result<Option<&'g Joined>, Exhausted> {
        for group in nots {
            // Without a pattern there is no step that would look at the tests.
            if group.memories.is_empty() {
                let mut all = true;
                for test in &group.tests {
                    all &= holds(
                        &test.expression,
                        &partial.bindings,
                        self.meter,
                        self.errors,
                        &test.text,
                    )?;
                }
                if !all {
                    continue;
                }
            }
            self.meter.spend(2)?;
            partial.inside += 1;
            let mut found = false;
            let searched = self.run(&group.plan, &group.tests, 0, partial, &mut |search, inner| {
                if search.blocked(&group.nots, inner)?.is_none() {
                    found = true;
                    return Ok(ControlFlow::Break(()));
                }
                Ok(ControlFlow::Continue(()))
            });
            partial.inside -= 1;
            let _: ControlFlow<()> = searched?;
            if found {
                return Ok(Some(group));
            }
        }
        Ok(None)
    }
}
