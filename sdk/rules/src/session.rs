//! A session: facts come and go, the network follows, rules fire.

mod fire;

use crate::budget::Budget;
use crate::error::RunError;
use crate::explain::{self, Explanation, Firing, Report};
use crate::fact::{Fact, FactId};
use crate::function::Failure;
use crate::program::Program;
use crate::rete::Rete;
use crate::value::Value;

/// Facts that a session has room for from the beginning: what a moment of a run tells a pack, and some more.
const ROOM: usize = 32;

/// Facts, and the rules of a program over them. It is made for one evaluation and thrown away.
#[derive(Debug)]
pub struct Session<'p> {
    program: &'p Program,
    rete: Rete<'p>,
    firings: Vec<Firing>,
}

impl<'p> Session<'p> {
    /// A session with `(initial-fact)` and the facts of the program's `deffacts`.
    pub fn new(program: &'p Program, budget: Budget) -> Result<Self, RunError> {
        let mut session = Self {
            program,
            rete: Rete::new(&program.network, budget)?,
            firings: Vec::new(),
        };
        session
            .rete
            .assert(Fact::ordered("initial-fact", Vec::new()), 0)?;
        for fact in &program.facts {
            let fact = session.make(fact, &[]).map_err(|failure| match failure {
                Failure::Exhausted(exhausted) => RunError::Exhausted(exhausted),
                Failure::Error(message) => RunError::Fact(message),
            })?;
            session.rete.assert(fact, 0)?;
        }
        Ok(session)
    }

    /// The match operations that the session may spend from now on, whatever it was made with.
    pub fn refill(&mut self, operations: u64) {
        self.rete.meter.refill(operations);
    }

    /// Finds room for a few dozen facts now, and everything that changes with a fact a place together. For a session that is made
    /// long before it is used: what is not touched need not be put back.
    #[must_use]
    pub fn with_room(mut self) -> Self {
        self.rete.make_room(ROOM);
        self.firings.reserve(ROOM / 4);
        self
    }

    /// Whether any pattern of the program looks at facts of this name. A fact that nothing looks at need not be asserted.
    #[must_use]
    pub fn looks_at(&self, name: &str) -> bool {
        self.program.network.roots.contains_key(name)
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
        Ok(self.rete.assert(fact, 0)?)
    }

    /// Removes a fact; `false` where it is not there.
    pub fn retract(&mut self, id: FactId) -> Result<bool, RunError> {
        Ok(self.rete.retract(id)?)
    }

    /// Fires rules until none is left, and reports what happened.
    pub fn run(mut self) -> Result<Report, RunError> {
        self.run_here()
    }

    /// Fires rules until none is left. What happened stays in the session.
    pub(crate) fn settle(&mut self) -> Result<(), RunError> {
        while self.step()? {}
        Ok(())
    }

    /// Fires the rule that is next; `false` where none waits.
    pub fn step(&mut self) -> Result<bool, RunError> {
        match self.rete.agenda.next() {
            Some(activation) => self.fire(activation).map(|()| true),
            None => Ok(false),
        }
    }

    /// Like [`Session::run`]; what fired before an error stays in the session.
    pub fn run_here(&mut self) -> Result<Report, RunError> {
        self.settle()?;
        Ok(Report {
            firings: std::mem::take(&mut self.firings),
            facts: self
                .rete
                .facts
                .iter()
                .map(|(id, fact)| (id, fact.clone()))
                .collect(),
            errors: std::mem::take(&mut self.rete.errors),
            operations: self.rete.meter.used(),
        })
    }

    /// Like [`Session::run`], and says of every rule that did not fire why.
    pub fn run_explained(&mut self) -> Result<(Report, Vec<Explanation>), RunError> {
        self.settle()?;
        let mut why = Vec::new();
        for (at, rule) in self.program.rules.iter().enumerate() {
            if !self.firings.iter().any(|firing| *firing.rule == *rule.name) {
                why.push(explain::explain(rule, at, &self.rete));
            }
        }
        Ok((self.run_here()?, why))
    }

    /// The rules that fired so far, in order: where a run ends in an error, this is what led to it.
    #[must_use]
    pub fn firings(&self) -> &[Firing] {
        &self.firings
    }

    /// The matches that wait, each with its facts and named values, without firing anything.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = (Vec<FactId>, Vec<(String, Value)>)> {
        self.rete.agenda.waiting().filter_map(|activation| {
            let ending = self.program.network.endings.get(activation.branch)?;
            let rule = self.program.rules.get(ending.rule)?;
            let branch = rule.branches.get(ending.branch)?;
            let length = branch.joints.len().max(1);
            let mut named = Vec::new();
            for (name, variable) in &branch.names {
                let bound = branch.bound.get(*variable)?;
                let seen = self.rete.seen_at(activation.found, length, bound.position)?;
                let value = bound.getter.get(seen.id, seen.fact, seen.split)?;
                named.push((name.to_string(), value.into_owned()));
            }
            let facts =
                (0..length).filter_map(|at| Some(self.rete.seen_at(activation.found, length, at)?.id));
            Some((facts.collect(), named))
        })
    }

    pub(crate) fn fact(&self, id: FactId) -> Option<&Fact> {
        self.rete.facts.get(id).map(|stored| &stored.fact)
    }

    /// The facts that are there, in order.
    pub fn facts(&self) -> impl Iterator<Item = (FactId, &Fact)> {
        self.rete.facts.iter()
    }

    /// Tests that could not be evaluated so far.
    #[must_use]
    pub fn errors(&self) -> &[String] {
        &self.rete.errors
    }
}
