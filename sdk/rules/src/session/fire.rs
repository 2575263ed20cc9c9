//! Firing: what a rule does with what it matched.

use super::Session;
use crate::agenda::Activation;
use crate::budget::Exhausted;
use crate::error::RunError;
use crate::explain::Firing;
use crate::expression::Expression;
use crate::fact::Fact;
use crate::function::Failure;
use crate::matches::{MatchId, NONE};
use crate::rule::{Action, Branch, NewFact};
use crate::value::Value;
use std::sync::Arc;

/// Values of one slot, or of an ordered fact.
const MOST_VALUES: usize = 4096;

impl Session<'_> {
    pub(super) fn fire(&mut self, activation: Activation) -> Result<(), RunError> {
        let program = self.program;
        let Some(ending) = program.network.endings.get(activation.branch) else {
            return Ok(());
        };
        let Some(rule) = program.rules.get(ending.rule) else {
            return Ok(());
        };
        let Some(branch) = rule.branches.get(ending.branch) else {
            return Ok(());
        };
        let length = branch.joints.len().max(1);
        self.rete.meter.spend(1)?;
        self.rete
            .matches
            .change(activation.found, |fired| fired.activation = NONE);
        let mut shown = Vec::with_capacity(length);
        let mut cycle = 0;
        for at in 0..length {
            if let Some(seen) = self.rete.seen_at(activation.found, length, at) {
                shown.push((seen.id, seen.fact.clone()));
                let stored = self.rete.facts.get(seen.id);
                cycle = cycle.max(stored.map_or(0, |stored| stored.cycle));
            }
        }
        cycle += 1;
        let failed = |failure| match failure {
            Failure::Exhausted(exhausted) => RunError::Exhausted(exhausted),
            Failure::Error(message) => RunError::Action {
                rule: rule.name.to_string(),
                message,
            },
        };
        let mut bindings = self.bindings(branch, activation.found, length).map_err(failed)?;
        let mut firing = Firing {
            rule: rule.name.clone(),
            facts: shown,
            asserted: Vec::new(),
            retracted: Vec::new(),
        };
        for action in &branch.actions {
            self.act(action, &mut bindings, cycle, &mut firing)
                .map_err(failed)?;
        }
        self.rete.meter.reserve(256 + 32 * firing.facts.len())?;
        self.firings.push(firing);
        Ok(())
    }

    /// The values that the actions of a rule look at.
    fn bindings(
        &mut self,
        branch: &Branch,
        found: MatchId,
        length: usize,
    ) -> Result<Vec<Option<Value>>, Failure> {
        let mut bindings = vec![None; branch.variables];
        for variable in &branch.wanted {
            let Some(bound) = branch.bound.get(*variable) else {
                continue;
            };
            let Some(seen) = self.rete.seen_at(found, length, bound.position) else {
                continue;
            };
            // Looking at a long fact costs as much as it has values.
            let copies = bound.getter.copies(seen.fact);
            let value = bound.getter.get(seen.id, seen.fact, seen.split);
            let value = value.map(std::borrow::Cow::into_owned);
            self.rete.meter.spend(u64::try_from(copies).unwrap_or(u64::MAX))?;
            if let Some(place) = bindings.get_mut(*variable) {
                *place = value;
            }
        }
        Ok(bindings)
    }

    fn act(
        &mut self,
        action: &Action,
        bindings: &mut [Option<Value>],
        cycle: u32,
        firing: &mut Firing,
    ) -> Result<(), Failure> {
        let address = |bindings: &[Option<Value>], variable: usize| match bindings.get(variable) {
            Some(Some(Value::Fact(id))) => Some(*id),
            _ => None,
        };
        match action {
            Action::Assert(new) => {
                let fact = self.make(new, bindings)?;
                self.derive(fact, cycle, firing)?;
            }
            Action::Retract(variable) => {
                if let Some(id) = address(bindings, *variable)
                    && self.rete.retract(id)?
                {
                    firing.retracted.push(id);
                }
            }
            Action::Modify {
                fact,
                template,
                changes,
            } => {
                let Some(id) = address(bindings, *fact) else {
                    return Ok(());
                };
                let Some(stored) = self.rete.facts.get(id) else {
                    return Err(Failure::Error("the fact to modify is no longer there".to_owned()));
                };
                let before = stored.fact.clone();
                let mut slots = before.slots().to_vec();
                for (at, expressions) in changes {
                    let several = template.slots().get(*at).is_some_and(|slot| slot.is_multislot());
                    let value = self.slot_value(expressions, bindings, several)?;
                    if let Some(slot) = slots.get_mut(*at) {
                        *slot = value;
                    }
                }
                // What changes nothing is not done, as in CLIPS: the fact stays, and nothing matches it anew.
                if slots == before.slots() {
                    return Ok(());
                }
                let changed = Fact::from_slots(template, slots).map_err(Failure::Error)?;
                self.check_cycle(cycle)?;
                firing.retracted.push(id);
                if self.rete.replace(id, changed.clone(), cycle)? {
                    firing.asserted.push((id, changed));
                }
            }
            Action::Bind(variable, expression) => {
                let value = expression
                    .evaluate(&*bindings, &mut self.rete.meter)?
                    .into_owned();
                if let Some(binding) = bindings.get_mut(*variable) {
                    *binding = Some(value);
                }
            }
            Action::Evaluate(expression) => {
                expression.evaluate(&*bindings, &mut self.rete.meter)?;
            }
        }
        Ok(())
    }

    fn check_cycle(&self, cycle: u32) -> Result<(), Exhausted> {
        let most = self.rete.meter.budget.cycles;
        match cycle > most {
            true => Err(Exhausted::Cycles(most)),
            false => Ok(()),
        }
    }

    fn derive(&mut self, fact: Fact, cycle: u32, firing: &mut Firing) -> Result<(), Exhausted> {
        self.check_cycle(cycle)?;
        if let Some(id) = self.rete.assert(fact.clone(), cycle)? {
            firing.asserted.push((id, fact));
        }
        Ok(())
    }

    pub(super) fn make(&mut self, new: &NewFact, bindings: &[Option<Value>]) -> Result<Fact, Failure> {
        let Some(template) = &new.template else {
            let expressions = new.slots.first().map_or(&[][..], |(_, expressions)| expressions);
            let value = self.slot_value(expressions, bindings, true)?;
            let fields = match value {
                Value::Multifield(values) => values.to_vec(),
                other => vec![other],
            };
            return Ok(Fact::ordered(&new.name, fields));
        };
        let mut given = Vec::with_capacity(new.slots.len());
        for (at, expressions) in &new.slots {
            let Some(slot) = template.slots().get(*at) else {
                continue;
            };
            given.push((*at, self.slot_value(expressions, bindings, slot.is_multislot())?));
        }
        Fact::of_places(template, given).map_err(Failure::Error)
    }

    /// The value of a slot: one, or all of them one after another.
    fn slot_value(
        &mut self,
        expressions: &[Expression],
        bindings: &[Option<Value>],
        several: bool,
    ) -> Result<Value, Failure> {
        if let ([expression], false) = (expressions, several) {
            return match expression.evaluate(bindings, &mut self.rete.meter)?.into_owned() {
                Value::Fact(_) => Err(Failure::Error("a fact cannot be part of a fact".to_owned())),
                value => Ok(value),
            };
        }
        let mut values = Vec::with_capacity(expressions.len());
        for expression in expressions {
            match expression.evaluate(bindings, &mut self.rete.meter)?.into_owned() {
                Value::Fact(_) => {
                    return Err(Failure::Error("a fact cannot be part of a fact".to_owned()));
                }
                Value::Multifield(many) if several => {
                    self.rete
                        .meter
                        .spend(u64::try_from(many.len()).unwrap_or(u64::MAX))?;
                    values.extend(many.iter().cloned());
                }
                value => values.push(value),
            }
            // Facts that double at every firing meet this bound before any other.
            if values.len() > MOST_VALUES {
                return Err(Exhausted::Values(MOST_VALUES).into());
            }
        }
        if several {
            return Ok(Value::Multifield(Arc::from(values)));
        }
        values
            .pop()
            .ok_or_else(|| Failure::Error("a slot has no value".to_owned()))
    }
}
