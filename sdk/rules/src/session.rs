//! A session: facts come and go, the network follows, rules fire.

mod fire;

use crate::agenda::Agenda;
use crate::budget::{Budget, Exhausted, Meter};
use crate::error::RunError;
use crate::explain::{self, Explanation, Firing, Report};
use crate::fact::{Fact, FactId, Facts};
use crate::function::Failure;
use crate::memory::{Record, RecordId, moved};
use crate::network::{MemoryId, Network, Partial, Search, Use};
use crate::pattern::Values;
use crate::program::Program;
use crate::value::Value;
use std::ops::ControlFlow;

/// Facts that a session has room for from the beginning: what a moment of a run tells a pack, and some more.
const ROOM: usize = 32;

/// Facts, and the rules of a program over them. It is made for one evaluation and thrown away.
#[derive(Debug)]
pub struct Session<'p> {
    program: &'p Program,
    network: Network,
    facts: Facts,
    agenda: Agenda,
    meter: Meter,
    errors: Vec<String>,
    firings: Vec<Firing>,
    scratch: Scratch,
}

/// What every search needs for a moment; kept, so that a session does not allocate it again for every fact.
#[derive(Debug, Default)]
struct Scratch {
    bindings: Vec<Option<Value>>,
    found: Vec<Values>,
    /// Memories, and the first and the last of their records that are new.
    changed: Vec<(MemoryId, std::ops::Range<RecordId>)>,
    partial: Partial,
}

impl<'p> Session<'p> {
    /// A session with `(initial-fact)` and the facts of the program's `deffacts`.
    pub fn new(program: &'p Program, budget: Budget) -> Result<Self, RunError> {
        let network = Network::new(program);
        let scratch = Scratch {
            bindings: vec![None; network.variables],
            partial: Partial::new(network.variables, network.patterns),
            ..Scratch::default()
        };
        let mut session = Self {
            program,
            network,
            facts: Facts::default(),
            agenda: Agenda::default(),
            meter: Meter::new(budget),
            errors: Vec::new(),
            firings: Vec::new(),
            scratch,
        };
        session.insert(Fact::ordered("initial-fact", Vec::new()), 0)?;
        for fact in &program.facts {
            let fact = session.make(fact, &[]).map_err(|failure| match failure {
                Failure::Exhausted(exhausted) => RunError::Exhausted(exhausted),
                Failure::Error(message) => RunError::Fact(message),
            })?;
            session.insert(fact, 0)?;
        }
        Ok(session)
    }

    /// The match operations that the session may spend from now on, whatever it was made with.
    pub fn refill(&mut self, operations: u64) {
        self.meter.refill(operations);
    }

    /// Finds room for a few dozen facts now, and everything that changes with a fact a place together. For a session that is made
    /// long before it is used: what is not touched need not be put back.
    #[must_use]
    pub fn with_room(mut self) -> Self {
        self.facts.make_room(ROOM);
        self.scratch.bindings = vec![None; self.network.variables];
        self.scratch.partial = Partial::new(self.network.variables, self.network.patterns);
        moved(&mut self.network.memories);
        for memory in &mut self.network.memories {
            memory.make_room(ROOM / 8);
        }
        self.scratch.found.reserve(ROOM);
        self.scratch.changed.reserve(ROOM);
        self.firings.reserve(ROOM / 4);
        self
    }

    /// Whether any pattern of the program looks at facts of this name. A fact that nothing looks at need not be asserted.
    #[must_use]
    pub fn looks_at(&self, name: &str) -> bool {
        self.network.by_name.contains_key(name)
    }

    /// Adds a fact. The same fact twice is one fact; then there is no new id.
    pub fn assert(&mut self, fact: Fact) -> Result<Option<FactId>, RunError> {
        match (self.program.template(fact.name()), fact.template()) {
            // Nearly always the same one. Comparing two of them slot by slot costs more than most facts do.
            (Some(known), Some(given)) if known.is_same(given) || known == given => {}
            (None, None) => {}
            (None, Some(_)) => {
                return Err(RunError::Fact(format!(
                    "the program has no template {}",
                    fact.name()
                )));
            }
            (Some(_), _) => {
                return Err(RunError::Fact(format!(
                    "{} is a template; give its slots",
                    fact.name()
                )));
            }
        }
        Ok(self.insert(fact, 0)?)
    }

    /// Removes a fact; `false` where it is not there.
    pub fn retract(&mut self, id: FactId) -> Result<bool, RunError> {
        Ok(self.remove(id)?)
    }

    /// Fires rules until none is left, and reports what happened.
    pub fn run(mut self) -> Result<Report, RunError> {
        self.run_here()
    }

    /// Fires rules until none is left. What happened stays in the session.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        while let Some(activation) = self.agenda.next() {
            self.fire(&activation)?;
        }
        Ok(())
    }

    /// Like [`Session::run`]; what fired before an error stays in the session.
    pub fn run_here(&mut self) -> Result<Report, RunError> {
        self.settle()?;
        Ok(Report {
            firings: std::mem::take(&mut self.firings),
            facts: self.facts.iter().map(|(id, fact)| (id, fact.clone())).collect(),
            errors: std::mem::take(&mut self.errors),
            operations: self.meter.used(),
        })
    }

    /// Like [`Session::run`], and says of every rule that did not fire why.
    pub fn run_explained(&mut self) -> Result<(Report, Vec<Explanation>), RunError> {
        self.settle()?;
        let mut why = Vec::new();
        for (at, rule) in self.program.rules.iter().enumerate() {
            if !self.firings.iter().any(|firing| *firing.rule == *rule.name) {
                let mut search = Search {
                    memories: &self.network.memories,
                    meter: &mut self.meter,
                    errors: &mut self.errors,
                };
                let (branches, facts) = (&self.network.branches, &self.facts);
                why.push(explain::explain(rule, at, branches, facts, &mut search)?);
            }
        }
        Ok((self.run_here()?, why))
    }

    /// The rules that fired so far, in order: where a run ends in an error, this is what led to it.
    #[must_use]
    pub fn firings(&self) -> &[Firing] {
        &self.firings
    }

    /// The matches that wait, each with its rule, facts and named values, without firing anything.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (usize, Vec<FactId>, Vec<(String, Value)>)> {
        self.agenda.waiting().filter_map(|activation| {
            let branch = self.network.branches.get(activation.branch)?;
            let (bindings, facts) = self.bindings(activation)?;
            let rule = self.program.rules.get(branch.rule)?;
            let names = &rule.branches.get(branch.branch)?.names;
            let named = names
                .iter()
                .filter_map(|(name, variable)| Some((name.to_string(), bindings.get(*variable)?.clone()?)))
                .collect();
            Some((branch.rule, facts, named))
        })
    }

    pub(crate) fn fact(&self, id: FactId) -> Option<&Fact> {
        self.facts.get(id).map(|stored| &stored.fact)
    }

    pub(crate) fn facts(&self) -> impl Iterator<Item = (FactId, &Fact)> {
        self.facts.iter()
    }

    pub(crate) fn errors(&self) -> &[String] {
        &self.errors
    }

    fn insert(&mut self, fact: Fact, cycle: u32) -> Result<Option<FactId>, Exhausted> {
        let Some(id) = self.facts.insert(fact, cycle, &mut self.meter)? else {
            return Ok(None);
        };
        let Some(stored) = self.facts.get(id) else {
            return Ok(None);
        };
        let Some(candidates) = self.network.by_name.get(stored.fact.name()) else {
            return Ok(Some(id));
        };
        let mut changed = std::mem::take(&mut self.scratch.changed);
        changed.clear();
        for memory_id in candidates {
            let Some(memory) = self.network.memories.get_mut(*memory_id) else {
                continue;
            };
            self.scratch.found.clear();
            memory.pattern.matches(
                &stored.fact,
                &mut self.scratch.bindings,
                &mut self.meter,
                &mut self.errors,
                &mut self.scratch.found,
            )?;
            let first = memory.next_id();
            for values in self.scratch.found.drain(..) {
                memory.insert(id, values, &mut self.meter)?;
            }
            if memory.next_id() > first {
                changed.push((*memory_id, first..memory.next_id()));
            }
        }
        // All memories know the fact before anything is joined with it.
        for (memory, records) in &changed {
            for at in 0..self.network.uses.get(*memory).map_or(0, Vec::len) {
                for record in records.clone() {
                    self.added(*memory, at, record)?;
                }
            }
        }
        self.scratch.changed = changed;
        Ok(Some(id))
    }

    fn remove(&mut self, id: FactId) -> Result<bool, Exhausted> {
        let Some(stored) = self.facts.remove(id, &mut self.meter) else {
            return Ok(false);
        };
        let candidates = self
            .network
            .by_name
            .get(stored.fact.name())
            .cloned()
            .unwrap_or_default();
        for memory in &candidates {
            let records = self
                .network
                .memories
                .get(*memory)
                .map(|memory| memory.of_fact(id));
            for record in records.into_iter().flatten() {
                self.withdraw(*memory, record)?;
            }
        }
        let mut removed = Vec::new();
        for memory in &candidates {
            if let Some(records) = self
                .network
                .memories
                .get_mut(*memory)
                .map(|memory| memory.remove(id))
            {
                removed.push((*memory, records));
            }
        }
        for (memory, records) in removed {
            for at in 0..self.network.uses.get(memory).map_or(0, Vec::len) {
                for record in &records {
                    self.refresh(memory, at, record)?;
                }
            }
        }
        Ok(true)
    }

    /// A record came into a memory.
    fn added(&mut self, memory: MemoryId, at: usize, record: RecordId) -> Result<(), Exhausted> {
        let uses = self.network.uses.get(memory).and_then(|uses| uses.get(at));
        if let Some(Use::Positive { branch: id, position }) = uses {
            let Some(branch) = self.network.branches.get(*id) else {
                return Ok(());
            };
            let Some(plan) = branch.seeded.get(*position) else {
                return Ok(());
            };
            let mut search = Search {
                memories: &self.network.memories,
                meter: &mut self.meter,
                errors: &mut self.errors,
            };
            let agenda = &mut self.agenda;
            let partial = &mut self.scratch.partial;
            partial.begin(branch.variables, branch.group.memories.len());
            let _: ControlFlow<()> = search.enter(
                plan,
                &branch.group.tests,
                0,
                record,
                partial,
                &mut |search, partial| {
                    if search.blocked(&branch.group.nots, partial)?.is_none() {
                        agenda.add(*id, branch, &partial.tuple, search.meter)?;
                    }
                    Ok(ControlFlow::Continue(()))
                },
            )?;
            return Ok(());
        }
        let record = self
            .network
            .memories
            .get(memory)
            .and_then(|memory| memory.get(record))
            .cloned();
        match record {
            Some(record) => self.refresh(memory, at, &record),
            None => Ok(()),
        }
    }

    /// A record is about to leave: the matches with it no longer wait.
    fn withdraw(&mut self, memory: MemoryId, record: RecordId) -> Result<(), Exhausted> {
        for at in self.network.uses.get(memory).into_iter().flatten() {
            let Use::Positive { branch: id, position } = at else {
                continue;
            };
            let Some(branch) = self.network.branches.get(*id) else {
                continue;
            };
            let Some(plan) = branch.seeded.get(*position) else {
                continue;
            };
            let mut search = Search {
                memories: &self.network.memories,
                meter: &mut self.meter,
                errors: &mut self.errors,
            };
            let agenda = &mut self.agenda;
            let partial = &mut self.scratch.partial;
            partial.begin(branch.variables, branch.group.memories.len());
            let _: ControlFlow<()> = search.enter(
                plan,
                &branch.group.tests,
                0,
                record,
                partial,
                &mut |_, partial| {
                    agenda.remove(*id, branch, &partial.tuple);
                    Ok(ControlFlow::Continue(()))
                },
            )?;
        }
        Ok(())
    }

    /// A record inside a `not` came or went: the matches that share its values are looked at again. Where only the
    /// presence of such a record counts and another fact has one too, nothing has changed.
    fn refresh(&mut self, memory: MemoryId, at: usize, record: &Record) -> Result<(), Exhausted> {
        let uses = self.network.uses.get(memory).and_then(|uses| uses.get(at));
        let Some(Use::Negative {
            branch: id,
            shared,
            plan,
            counted,
        }) = uses
        else {
            return Ok(());
        };
        let values: Vec<Value> = shared
            .iter()
            .filter_map(|(place, _)| record.values.get(*place).cloned())
            .collect();
        if let (Some(index), Some(memory)) = (counted, self.network.memories.get(memory)) {
            // A fact can match in several ways; ids grow, so the first record is that of the oldest fact.
            let found = memory.lookup(*index, values.iter(), &mut self.meter)?;
            let oldest = found.first().and_then(|oldest| memory.get(*oldest));
            if oldest.is_some_and(|oldest| oldest.fact != record.fact) {
                return Ok(());
            }
        }
        let Some(branch) = self.network.branches.get(*id) else {
            return Ok(());
        };
        let mut search = Search {
            memories: &self.network.memories,
            meter: &mut self.meter,
            errors: &mut self.errors,
        };
        let agenda = &mut self.agenda;
        let partial = &mut self.scratch.partial;
        partial.begin(branch.variables, branch.group.memories.len());
        for ((_, variable), value) in shared.iter().zip(values) {
            partial.bind(*variable, Some(value));
        }
        let _: ControlFlow<()> =
            search.run(plan, &branch.group.tests, 0, partial, &mut |search, partial| {
                if search.blocked(&branch.group.nots, partial)?.is_none() {
                    agenda.add(*id, branch, &partial.tuple, search.meter)?;
                } else {
                    agenda.remove(*id, branch, &partial.tuple);
                }
                Ok(ControlFlow::Continue(()))
            })?;
        Ok(())
    }
}
