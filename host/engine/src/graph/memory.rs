//! The working memory of a run (D37): what rules see, from the first node to the last.
//!
//! A field's fact changes only when its value does, facts about what ran are new each time, and what rules assert stays until it is
//! retracted. A rule fires once for the same facts: a match that fired and still holds does not fire again, one that is gone and
//! comes back does.

use super::rules::{Effect, GraphRules};
use mizzen_model::facts::is_host_template;
use mizzen_rules::{Budget, Fact, FactId, RunError, Session, json};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// Match operations that the rules of one run may spend over all of its nodes.
const RUN_OPERATIONS: u64 = 50_000_000;
/// Match operations after one node.
const NODE_OPERATIONS: u64 = 1_000_000;
/// Firings after one node: rules that assert and retract in turn do not settle.
const FIRINGS: usize = 1_000;
/// Facts that rules may have asserted at the same time.
const ASSERTED: usize = 1_000;

/// Where a fact comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Source {
    /// A field of the state.
    Field(String),
    /// What just happened.
    Event,
    /// A rule.
    Rule,
}

#[derive(Debug)]
struct Known {
    id: u64,
    source: Source,
    fact: Fact,
}

/// A rule with the facts that it matched.
type Match = (usize, Vec<u64>);

/// What rules see.
#[derive(Debug)]
pub(crate) struct Memory {
    facts: Vec<Known>,
    next: u64,
    /// Matches that have fired and held when rules were evaluated last.
    fired: HashSet<Match>,
    operations: u64,
}

/// An action that says where the run goes, by places of its rule and of the action in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Routed {
    pub(crate) rule: usize,
    pub(crate) action: usize,
}

/// The rules have no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RulesFailed {
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl From<RunError> for RulesFailed {
    fn from(error: RunError) -> Self {
        Self {
            code: match error {
                RunError::Exhausted(_) => "RULES_BUDGET",
                RunError::Action { .. } | RunError::Fact(_) => "RULES_FAILED",
            },
            message: error.to_string(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            facts: Vec::new(),
            next: 1,
            fired: HashSet::new(),
            operations: RUN_OPERATIONS,
        }
    }
}

impl Memory {
    fn add(&mut self, source: Source, fact: Fact) -> u64 {
        let id = self.next;
        self.next = id.saturating_add(1);
        self.facts.push(Known { id, source, fact });
        id
    }

    /// A field has a value. Its fact stays when it had the same before.
    pub(crate) fn set(
        &mut self,
        field: &str,
        before: Option<&Value>,
        value: &Value,
    ) -> Result<(), RulesFailed> {
        if before == Some(value) {
            return Ok(());
        }
        self.facts
            .retain(|known| !matches!(&known.source, Source::Field(name) if name == field));
        // A field is never mistaken for something that the host says.
        let name = match is_host_template(field) {
            true => format!("state.{field}"),
            false => field.to_owned(),
        };
        let one = Map::from_iter([(name, value.clone())]);
        let facts = json::state_facts(&one).map_err(|message| RulesFailed {
            code: "RULES_FAILED",
            message,
        })?;
        for fact in facts {
            self.add(Source::Field(field.to_owned()), fact);
        }
        Ok(())
    }

    /// Forgets what was said to have just happened.
    pub(crate) fn forget_events(&mut self) {
        self.facts.retain(|known| known.source != Source::Event);
    }

    /// Something has just happened.
    pub(crate) fn happened(&mut self, fact: Fact) {
        self.add(Source::Event, fact);
    }

    /// The facts that rules have asserted, as text.
    pub(crate) fn asserted(&self) -> impl Iterator<Item = String> {
        let own = self.facts.iter().filter(|known| known.source == Source::Rule);
        own.map(|known| known.fact.to_string())
    }

    /// Fires rules until none is left. Facts that they assert and retract are there at once; where they want the run to go is returned
    /// in the order in which they fired.
    pub(crate) fn evaluate(&mut self, rules: &GraphRules) -> Result<Vec<Routed>, RulesFailed> {
        if rules.rules.is_empty() {
            return Ok(Vec::new());
        }
        let holding = self.matches(rules)?;
        let is_new = |found: &&Match| !self.fired.contains(*found);
        let has_facts = |found: &Match| {
            let mut effects = rules.effects(found.0).iter();
            effects.any(|effect| matches!(effect, Effect::Assert(_) | Effect::Retract(_)))
        };
        if holding.iter().filter(is_new).any(has_facts) {
            return self.evaluate_facts(rules, &holding);
        }
        // No fact comes or goes, so everything that matches now matches at the end.
        let new = holding.iter().filter(is_new);
        let routed = new.flat_map(|(rule, _)| {
            (0..rules.effects(*rule).len()).map(|action| Routed { rule: *rule, action })
        });
        let routed = routed.collect();
        self.fired = holding.into_iter().collect();
        Ok(routed)
    }

    fn session<'p>(
        &mut self,
        rules: &'p GraphRules,
    ) -> Result<(Session<'p>, HashMap<FactId, u64>), RulesFailed> {
        let budget = Budget {
            operations: NODE_OPERATIONS.min(self.operations),
            ..Budget::default()
        };
        let mut session = Session::new(&rules.program, budget)?;
        let mut ids: HashMap<FactId, u64> = HashMap::with_capacity(self.facts.len());
        for known in &self.facts {
            if session.looks_at(known.fact.name())
                && let Some(id) = session.assert(known.fact.clone())?
            {
                ids.insert(id, known.id);
            }
        }
        Ok((session, ids))
    }

    /// A session is over: what it spent is taken from the run's budget. A test that could not be evaluated has no answer.
    fn spend(&mut self, session: Session<'_>) -> Result<(), RulesFailed> {
        if let Some(error) = session.errors().first() {
            return Err(RulesFailed {
                code: "RULES_FAILED",
                message: format!("a test of the rules could not be evaluated: {error}"),
            });
        }
        let spent = session.run()?.operations;
        self.operations = self.operations.saturating_sub(spent);
        Ok(())
    }

    /// Everything that matches, in the order in which it would fire.
    fn matches(&mut self, rules: &GraphRules) -> Result<Vec<Match>, RulesFailed> {
        let (mut session, ids) = self.session(rules)?;
        let mut found = Vec::new();
        while session.step()? {
            found.extend(last_firing(&session, &ids));
        }
        self.spend(session)?;
        Ok(found)
    }

    /// As [`Memory::evaluate`], where rules assert or retract. A match that fired before and has held since does not fire again; one that
    /// was gone and comes back does.
    fn evaluate_facts(&mut self, rules: &GraphRules, holding: &[Match]) -> Result<Vec<Routed>, RulesFailed> {
        let (mut session, mut ids) = self.session(rules)?;
        let (mut seen, mut routed) = (HashSet::new(), Vec::new());
        let mut firings = 0_usize;
        while session.step()? {
            firings += 1;
            if firings > FIRINGS {
                return Err(RulesFailed {
                    code: "RULES_BUDGET",
                    message: format!(
                        "the rules have fired {FIRINGS} times after one node and do not settle; do two rules assert and retract in turn?"
                    ),
                });
            }
            let Some(found) = last_firing(&session, &ids) else {
                continue;
            };
            let rule = found.0;
            let has_held = self.fired.contains(&found) && holding.contains(&found);
            if seen.insert(found) && has_held {
                continue;
            }
            for (action, effect) in rules.effects(rule).iter().enumerate() {
                match effect {
                    Effect::Assert(fact) => self.assert(fact, &mut session, &mut ids)?,
                    Effect::Retract(pattern) => self.retract(pattern, &mut session, &mut ids)?,
                    _ => routed.push(Routed { rule, action }),
                }
            }
        }
        self.spend(session)?;
        let holding = self.matches(rules)?;
        self.fired = holding.into_iter().filter(|found| seen.contains(found)).collect();
        Ok(routed)
    }

    fn assert(
        &mut self,
        fact: &Fact,
        session: &mut Session<'_>,
        ids: &mut HashMap<FactId, u64>,
    ) -> Result<(), RulesFailed> {
        if self.facts.iter().any(|known| known.fact == *fact) {
            return Ok(());
        }
        let asserted = self
            .facts
            .iter()
            .filter(|known| known.source == Source::Rule)
            .count();
        if asserted >= ASSERTED {
            return Err(RulesFailed {
                code: "RULES_BUDGET",
                message: format!("the rules have asserted more than {ASSERTED} facts"),
            });
        }
        let id = self.add(Source::Rule, fact.clone());
        if let Some(found) = session.assert(fact.clone())? {
            ids.insert(found, id);
        }
        Ok(())
    }

    /// Takes away what rules have asserted and the pattern matches. The facts of the state follow from it and stay.
    fn retract(
        &mut self,
        pattern: &mizzen_rules::When,
        session: &mut Session<'_>,
        ids: &mut HashMap<FactId, u64>,
    ) -> Result<(), RulesFailed> {
        let own = self.facts.iter().filter(|known| known.source == Source::Rule);
        let own: Vec<Fact> = own.map(|known| known.fact.clone()).collect();
        let matched = pattern.evaluate(own, Budget::default())?;
        for fact in matched.matches.iter().flat_map(|found| &found.facts) {
            let Some(place) = self
                .facts
                .iter()
                .position(|known| known.source == Source::Rule && known.fact == *fact)
            else {
                continue;
            };
            let known = self.facts.remove(place);
            let found = ids
                .iter()
                .find(|(_, id)| **id == known.id)
                .map(|(found, _)| *found);
            if let Some(found) = found {
                session.retract(found)?;
                ids.remove(&found);
            }
        }
        Ok(())
    }
}

/// The rule that fired last, with the facts that it matched.
fn last_firing(session: &Session<'_>, ids: &HashMap<FactId, u64>) -> Option<Match> {
    let firing = session.firings().last()?;
    let rule: usize = firing.rule.strip_prefix('r')?.parse().ok()?;
    let facts = firing
        .facts
        .iter()
        .map(|(id, _)| ids.get(id).copied().unwrap_or(0));
    Some((rule, facts.collect()))
}
