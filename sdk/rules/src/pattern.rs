//! Patterns: `(name field …)` and `(name (slot constraint) …)`, compiled, and matched against one fact.

use crate::budget::{Exhausted, Meter};
use crate::constraint::{self, Item};
use crate::error::RuleError;
use crate::expression::{Expression, Scope, Variable};
use crate::fact::Fact;
use crate::function::Failure;
use crate::program::Templates;
use crate::reader::{Form, FormKind};
use crate::shared::Lasting;
use crate::template::Template;
use crate::value::Value;
use std::sync::Arc;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) name: Arc<str>,
    pub(crate) template: Option<Lasting<Template>>,
    slots: Vec<SlotPattern>,
    /// The variables whose values a match has, in the order of [`Record`] values.
    pub(crate) locals: Vec<Variable>,
    /// Tests about this pattern alone.
    pub(crate) tests: Vec<Expression>,
    /// `?f <- pattern`.
    pub(crate) address: Option<Variable>,
    /// As it was written, for explanations.
    pub(crate) text: String,
}

#[derive(Debug, Clone)]
struct SlotPattern {
    slot: usize,
    /// A sequence of values, or one value.
    several: bool,
    items: Vec<Item>,
}

/// Where a pattern's names go.
pub(crate) struct Naming<'a> {
    pub(crate) templates: &'a Templates,
    pub(crate) scope: &'a mut Scope,
    pub(crate) fresh: &'a mut Variable,
}

/// The comparisons that people write between their operands.
const INFIX: [&str; 9] = ["<", "<=", ">", ">=", "=", "==", "!=", "<>", "eq"];

/// Compiles a pattern; the second result are tests that need other patterns' variables too.
pub(crate) fn compile(form: &Form, naming: &mut Naming<'_>) -> Result<(Pattern, Vec<Expression>), RuleError> {
    let items = form.list().unwrap_or_default();
    let Some(name) = items.first().and_then(Form::symbol) else {
        return Err(
            RuleError::refused(form.span, "a pattern starts with the name of a fact").hint("(severity ?s)"),
        );
    };
    let fields = items.get(1..).unwrap_or_default();
    let template = naming.templates.get(name).cloned();
    let mut slots = Vec::new();
    match &template {
        None => {
            refuse_infix(form, name, fields)?;
            if let Some(slot) = fields
                .iter()
                .find(|field| field.head().is_some() && is_slot(fields))
            {
                return Err(RuleError::refused(
                    slot.span,
                    format!("there is no deftemplate {name}, so it has no slots"),
                )
                .hint(format!(
                    "(deftemplate {name} (slot …)), or plain fields: ({name} value)"
                )));
            }
            slots.push(SlotPattern {
                slot: 0,
                several: true,
                items: sequence(fields, naming)?,
            });
        }
        Some(template) => {
            let mut seen = Vec::new();
            for field in fields {
                let Some(slot_name) = field.head() else {
                    return Err(RuleError::refused(
                        field.span,
                        format!("{name} has slots, and this is a plain field"),
                    )
                    .hint("write (slot constraint)"));
                };
                let Some((at, slot)) = template.slot(slot_name) else {
                    let known: Vec<_> = template.slots().iter().map(|slot| slot.name()).collect();
                    return Err(
                        RuleError::refused(field.span, format!("{name} has no slot {slot_name}"))
                            .hint(format!("it has {}", known.join(", "))),
                    );
                };
                if seen.contains(&at) {
                    return Err(
                        RuleError::refused(field.span, format!("slot {slot_name} is there twice"))
                            .hint("join what must hold with `&`"),
                    );
                }
                seen.push(at);
                let constraints = field.list().unwrap_or_default().get(1..).unwrap_or_default();
                refuse_infix(field, slot_name, constraints)?;
                let items = sequence(constraints, naming)?;
                if !slot.is_multislot() && (items.len() != 1 || items.iter().any(|item| item.many)) {
                    return Err(RuleError::refused(
                        field.span,
                        format!("slot {slot_name} holds exactly one value"),
                    )
                    .hint(format!("({slot_name} ?x), or a multislot in the deftemplate")));
                }
                // It could never match: most likely a word is not spelt as its template has it.
                for item in &items {
                    if let Some(Err(problem)) = item.literal.as_ref().map(|value| slot.check_one(value)) {
                        return Err(RuleError::refused(field.span, problem).hint(slot.takes()));
                    }
                }
                slots.push(SlotPattern {
                    slot: at,
                    several: slot.is_multislot(),
                    items,
                });
            }
        }
    }
    let many = slots
        .iter()
        .flat_map(|slot| &slot.items)
        .filter(|item| item.many)
        .count();
    if many > 2 {
        return Err(RuleError::refused(form.span, "a pattern has at most two `$?`")
            .hint("(name $? ?x $?) looks at every place; more is for a second pattern"));
    }
    let mut locals = Vec::new();
    for variable in slots
        .iter()
        .flat_map(|slot| &slot.items)
        .flat_map(|item| &item.binds)
    {
        if !locals.contains(variable) {
            locals.push(*variable);
        }
    }
    let (mut local_tests, mut join_tests) = (Vec::new(), Vec::new());
    for slot in &mut slots {
        for test in slot.items.iter_mut().flat_map(|item| item.tests.drain(..)) {
            let mut local = true;
            test.variables(&mut |variable| local &= locals.contains(&variable));
            if local {
                local_tests.push(test)
            } else {
                join_tests.push(test)
            }
        }
    }
    let pattern = Pattern {
        name: name.into(),
        template,
        slots,
        locals,
        tests: local_tests,
        address: None,
        text: text_of(form),
    };
    Ok((pattern, join_tests))
}

impl Pattern {
    /// For an ordered pattern: how many values the fact must have at least, whether it may have more, and the constants at their
    /// places.
    pub(crate) fn fields(&self) -> (usize, bool, Vec<Option<&Value>>) {
        let items: Vec<&Item> = self.slots.iter().flat_map(|slot| &slot.items).collect();
        let fixed = items.iter().filter(|item| !item.many).count();
        let literals = items.iter().map(|item| item.literal.as_ref()).collect();
        (fixed, fixed < items.len(), literals)
    }
}

/// Fields that are all lists are meant as slots.
fn is_slot(fields: &[Form]) -> bool {
    fields.iter().all(|field| field.list().is_some())
}

fn refuse_infix(form: &Form, name: &str, fields: &[Form]) -> Result<(), RuleError> {
    let at = fields.iter().position(|field| {
        field.symbol().is_some_and(|word| INFIX.contains(&word)) && !matches!(field.symbol(), Some("eq"))
    });
    let Some(at) = at else { return Ok(()) };
    let operator = fields.get(at).and_then(Form::symbol).unwrap_or("=");
    let computed = operator == "=" && fields.get(at + 1).is_some_and(|next| next.list().is_some());
    if computed {
        return Ok(());
    }
    let operand = fields.get(at + 1).map_or_else(|| "3".to_owned(), text_of);
    let (function, variable) = match operator {
        "==" => ("eq", "v"),
        "!=" => ("neq", "v"),
        other => (other, "v"),
    };
    Err(RuleError::refused(
        form.span,
        format!("`{operator}` does not stand between operands here"),
    )
    .hint(format!(
        "write ({name} ?{variable}&:({function} ?{variable} {operand}))"
    )))
}

fn sequence(forms: &[Form], naming: &mut Naming<'_>) -> Result<Vec<Item>, RuleError> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        let (item, taken) =
            constraint::parse(forms.get(at..).unwrap_or_default(), naming.scope, naming.fresh)?;
        items.push(item);
        at += taken.max(1);
    }
    Ok(items)
}

/// A form as text again, shortened.
pub(crate) fn text_of(form: &Form) -> String {
    let mut text = String::new();
    write_form(form, &mut text);
    if text.chars().nth(200).is_some() {
        text.chars().take(200).chain(['…']).collect()
    } else {
        text
    }
}

fn write_form(form: &Form, text: &mut String) {
    match &form.kind {
        FormKind::Atom(value) => text.push_str(&value.to_string()),
        FormKind::Single(name) => text.push_str(&format!("?{}", name.as_deref().unwrap_or(""))),
        FormKind::Multi(name) => text.push_str(&format!("$?{}", name.as_deref().unwrap_or(""))),
        FormKind::Sign(sign) => text.push(*sign),
        FormKind::List(items) => {
            text.push('(');
            let mut glued = true;
            for item in items {
                let joins = match &item.kind {
                    FormKind::Sign('~') => glued,
                    FormKind::Sign(_) => true,
                    _ => glued,
                };
                if !joins {
                    text.push(' ');
                }
                write_form(item, text);
                glued = matches!(item.kind, FormKind::Sign(_)) || item.is(":") || item.is("=");
            }
            text.push(')');
        }
    }
}

/// The values that a pattern's variables have for one fact.
pub(crate) type Values = Box<[Value]>;

impl Pattern {
    /// Puts every way in which the fact matches into `found`. An error in a test is noted and does not match. No variable has a
    /// value before, and none has one after.
    pub(crate) fn matches(
        &self,
        fact: &Fact,
        bindings: &mut [Option<Value>],
        meter: &mut Meter,
        errors: &mut Vec<String>,
        found: &mut Vec<Values>,
    ) -> Result<(), Exhausted> {
        meter.spend(1)?;
        if fact.template().is_some() != self.template.is_some() {
            return Ok(());
        }
        // How far the first `$?` of each slot can be moved; the product is bounded because there are two at most.
        let mut only_way = true;
        for slot in self.slots.iter().filter(|slot| slot.several) {
            match slot.ways(fact) {
                Some(count) => only_way &= count == 1,
                None => return Ok(()),
            }
        }
        if only_way {
            meter.spend(1)?;
            return self.attempt(fact, &[], bindings, meter, errors, found);
        }
        let ways: Vec<usize> = self
            .slots
            .iter()
            .map(|slot| slot.ways(fact).unwrap_or(1))
            .collect();
        let mut choice = vec![0_usize; ways.len()];
        loop {
            meter.spend(1)?;
            self.attempt(fact, &choice, bindings, meter, errors, found)?;
            if !advance(&mut choice, &ways) {
                return Ok(());
            }
        }
    }

    /// One way to lay the pattern over the fact: the first `$?` of a slot takes as many values as `choice` says.
    fn attempt(
        &self,
        fact: &Fact,
        choice: &[usize],
        bindings: &mut [Option<Value>],
        meter: &mut Meter,
        errors: &mut Vec<String>,
        found: &mut Vec<Values>,
    ) -> Result<(), Exhausted> {
        let mut all = Ok(self.bind(fact, choice, bindings).is_some());
        if all == Ok(true) {
            for test in &self.tests {
                all = holds(test, bindings, meter, errors, &self.text);
                if all != Ok(true) {
                    break;
                }
            }
        }
        let mut take = |variable: &Variable| bindings.get_mut(*variable).and_then(Option::take);
        if all != Ok(true) {
            self.locals.iter().for_each(|variable| drop(take(variable)));
            return all.map(drop);
        }
        let mut values = Vec::with_capacity(self.locals.len());
        values.extend(self.locals.iter().filter_map(take));
        if values.len() == self.locals.len() {
            found.push(values.into_boxed_slice());
        }
        Ok(())
    }

    fn bind(&self, fact: &Fact, choice: &[usize], bindings: &mut [Option<Value>]) -> Option<()> {
        for (at, slot) in self.slots.iter().enumerate() {
            let value = fact.slots().get(slot.slot)?;
            if !slot.several {
                take(slot.items.first()?, value, bindings)?;
                continue;
            }
            let Value::Multifield(fields) = value else {
                return None;
            };
            let fixed = slot.items.iter().filter(|item| !item.many).count();
            let mut slack = fields.len().checked_sub(fixed)?;
            let mut lengths = slot.items.iter().filter(|item| item.many).count();
            let mut place = 0;
            for item in &slot.items {
                if item.many {
                    lengths -= 1;
                    let length = match lengths {
                        0 => slack,
                        _ => choice.get(at).copied().unwrap_or(0),
                    };
                    slack = slack.checked_sub(length)?;
                    if item.literal.is_some() || !item.binds.is_empty() {
                        let part = fields.get(place..place + length)?;
                        take(item, &Value::Multifield(part.into()), bindings)?;
                    }
                    place += length;
                } else {
                    take(item, fields.get(place)?, bindings)?;
                    place += 1;
                }
            }
        }
        Some(())
    }
}

/// Evaluates a test. An error is noted, with where it happened, and the test does not hold.
pub(crate) fn holds(
    test: &Expression,
    bindings: &[Option<Value>],
    meter: &mut Meter,
    errors: &mut Vec<String>,
    place: &str,
) -> Result<bool, Exhausted> {
    match test.evaluate(bindings, meter) {
        Ok(value) => Ok(value.is_true()),
        Err(Failure::Exhausted(exhausted)) => Err(exhausted),
        Err(Failure::Error(message)) => {
            // A hundred tell as much as all of them.
            if errors.len() < 100 {
                let note = format!("in {place}: {message}");
                if !errors.contains(&note) {
                    errors.push(note);
                }
            }
            Ok(false)
        }
    }
}

fn take(item: &Item, value: &Value, bindings: &mut [Option<Value>]) -> Option<()> {
    if item.literal.as_ref().is_some_and(|literal| literal != value) {
        return None;
    }
    for variable in &item.binds {
        let place = bindings.get_mut(*variable)?;
        match place {
            Some(known) if known != value => return None,
            Some(_) => {}
            None => *place = Some(value.clone()),
        }
    }
    Some(())
}

fn advance(choice: &mut [usize], ways: &[usize]) -> bool {
    for (at, count) in choice.iter_mut().zip(ways) {
        *at += 1;
        if *at < *count {
            return true;
        }
        *at = 0;
    }
    false
}

impl SlotPattern {
    /// The number of ways to lay the items over the values; `None` where there is none.
    fn ways(&self, fact: &Fact) -> Option<usize> {
        let value = fact.slots().get(self.slot)?;
        if !self.several {
            return Some(1);
        }
        let Value::Multifield(fields) = value else {
            return None;
        };
        let many = self.items.iter().filter(|item| item.many).count();
        let slack = fields.len().checked_sub(self.items.len() - many)?;
        match many {
            0 => (slack == 0).then_some(1),
            1 => Some(1),
            _ => Some(slack + 1),
        }
    }
}
