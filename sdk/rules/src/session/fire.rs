//! Firing: what a rule does with what it matched.

use super::Session;
use crate::agenda::Activation;
use crate::budget::Exhausted;
use crate::error::RunError;
use crate::explain::Firing;
use crate::expression::Expression;
use crate::fact::{Fact, FactId};
use crate::function::Failure;
use crate::network::Partial;
use crate::rule::{Action, NewFact};
use crate::value::Value;
use std::sync::Arc;

/// Values of one slot, or of an ordered fact.
const MOST_VALUES: usize = 4096;

impl Session<'_> {
    /// The values of the variables of a match, and its facts in the order of the patterns.
    pub(super) fn bindings(&self, activation: &Activation) -> Option<(Vec<Option<Value>>, Vec<FactId>)> {
        let branch = self.network.branches.get(activation.branch)?;
        let mut partial = Partial::new(branch.variables, 0);
        let mut facts = Vec::new();
        for (memory, record) in branch.group.memories.iter().zip(activation.tuple.iter()) {
            let memory = self.network.memories.get(*memory)?;
            let record = memory.get(*record)?;
            for (variable, value) in memory.pattern.locals.iter().zip(record.values.iter()) {
                partial.bind(*variable, Some(value.clone()));
            }
            if let Some(address) = memory.pattern.address {
                partial.bind(address, Some(Value::Fact(record.fact)));
            }
            facts.push(record.fact);
        }
        Some((partial.bindings, facts))
    }

    pub(super) fn fire(&mut self, activation: &Activation) -> Result<(), RunError> {
        let program = self.program;
        let Some(branch) = self.network.branches.get(activation.branch) else {
            return Ok(());
        };
        let Some(rule) = program.rules.get(branch.rule) else {
            return Ok(());
        };
        let Some(actions) = rule.branches.get(branch.branch).map(|branch| &branch.actions) else {
            return Ok(());
        };
        let Some((mut bindings, facts)) = self.bindings(activation) else {
            return Ok(());
        };
        self.meter.spend(1)?;
        let shown = facts
            .iter()
            .filter_map(|id| Some((*id, self.facts.get(*id)?.fact.clone())))
            .collect();
        let cycle = facts
            .iter()
            .filter_map(|id| self.facts.get(*id))
            .map(|stored| stored.cycle)
            .max()
            .unwrap_or(0)
            + 1;
        let mut firing = Firing {
            rule: rule.name.clone(),
            facts: shown,
            asserted: Vec::new(),
            retracted: Vec::new(),
        };
        for action in actions {
            self.act(action, &mut bindings, cycle, &mut firing)
                .map_err(|failure| match failure {
                    Failure::Exhausted(exhausted) => RunError::Exhausted(exhausted),
                    Failure::Error(message) => RunError::Action {
                        rule: rule.name.to_string(),
                        message,
                    },
                })?;
        }
        self.meter.reserve(256 + 32 * firing.facts.len())?;
        self.firings.push(firing);
        Ok(())
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
                    && self.remove(id)?
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
                let Some(stored) = self.facts.get(id) else {
                    return Err(Failure::Error("the fact to modify is no longer there".to_owned()));
                };
                let mut slots = stored.fact.slots().to_vec();
                for (at, expressions) in changes {
                    let several = template.slots().get(*at).is_some_and(|slot| slot.is_multislot());
                    let value = self.slot_value(expressions, bindings, several)?;
                    if let Some(slot) = slots.get_mut(*at) {
                        *slot = value;
                    }
                }
                let changed = Fact::from_slots(template, slots).map_err(Failure::Error)?;
                self.remove(id)?;
                firing.retracted.push(id);
                self.derive(changed, cycle, firing)?;
            }
            Action::Bind(variable, expression) => {
                let value = expression.evaluate(bindings, &mut self.meter)?;
                if let Some(binding) = bindings.get_mut(*variable) {
                    *binding = Some(value);
                }
            }
            Action::Evaluate(expression) => {
                expression.evaluate(bindings, &mut self.meter)?;
            }
        }
        Ok(())
    }

    fn derive(&mut self, fact: Fact, cycle: u32, firing: &mut Firing) -> Result<(), Exhausted> {
        if cycle > self.meter.budget.cycles {
            return Err(Exhausted::Cycles(self.meter.budget.cycles));
        }
        if let Some(id) = self.insert(fact.clone(), cycle)? {
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
            return match expression.evaluate(bindings, &mut self.meter)? {
                Value::Fact(_) => Err(Failure::Error("a fact cannot be part of a fact".to_owned())),
                value => Ok(value),
            };
        }
        let mut values = Vec::with_capacity(expressions.len());
        for expression in expressions {
            match expression.evaluate(bindings, &mut self.meter)? {
                Value::Fact(_) => {
                    return Err(Failure::Error("a fact cannot be part of a fact".to_owned()));
                }
                Value::Multifield(many) if several => {
                    self.meter.spend(u64::try_from(many.len()).unwrap_or(u64::MAX))?;
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
