//! Facts that are made: by `deffacts`, and by `assert`.

use super::NewFact;
use crate::error::RuleError;
use crate::expression::{self, Expression, Scope};
use crate::program::Templates;
use crate::reader::Form;
use crate::shared::Lasting;
use crate::template::Template;

/// Reads the fact of an `assert` or of `deffacts`.
pub(crate) fn new_fact(form: &Form, templates: &Templates, scope: &Scope) -> Result<NewFact, RuleError> {
    let Some(name) = form.head() else {
        return Err(RuleError::refused(form.span, "a fact starts with its name").hint("(name value)"));
    };
    let fields = form.list().unwrap_or_default().get(1..).unwrap_or_default();
    match templates.get(name) {
        Some(template) => {
            let slots = slots(fields, template, scope)?;
            for slot in template.slots() {
                let given = slots.iter().any(|(at, _)| {
                    template
                        .slots()
                        .get(*at)
                        .is_some_and(|other| other.name() == slot.name())
                });
                if !given && slot.default_value().is_none() {
                    return Err(RuleError::refused(
                        form.span,
                        format!("slot {} of {name} needs a value", slot.name()),
                    )
                    .hint(format!("add ({} …)", slot.name())));
                }
            }
            Ok(NewFact {
                name: name.into(),
                template: Some(template.clone()),
                slots,
            })
        }
        None => Ok(NewFact {
            name: name.into(),
            template: None,
            slots: vec![(
                0,
                values(fields, scope).map_err(|error| misspelt(form, templates).unwrap_or(error))?,
            )],
        }),
    }
}

/// Where the fields are slots of a template that exists: its name is what is wrong.
fn misspelt(form: &Form, templates: &Templates) -> Option<RuleError> {
    let (name, fields) = (form.head()?, form.list()?.get(1..)?);
    let fits = |template: &&Lasting<Template>| {
        let is_slot = |field: &Form| field.head().is_some_and(|slot| template.slot(slot).is_some());
        fields.iter().all(is_slot)
    };
    let alike = |other: &str| {
        let same = |(a, b): &(u8, u8)| a == b;
        let (from, to) = (
            name.bytes().zip(other.bytes()),
            name.bytes().rev().zip(other.bytes().rev()),
        );
        from.take_while(same).count() + to.take_while(same).count()
    };
    let fitting = templates.values().filter(fits).map(|template| template.name());
    let meant = fitting.max_by_key(|other| alike(other))?;
    let error = RuleError::refused(
        form.span,
        format!("there is no deftemplate {name}, so it has no slots"),
    );
    Some(error.hint(format!(
        "{meant} has such slots; if that is meant, write ({meant} …)"
    )))
}

pub(super) fn slots(
    fields: &[Form],
    template: &Lasting<Template>,
    scope: &Scope,
) -> Result<Vec<(usize, Vec<Expression>)>, RuleError> {
    let mut slots: Vec<(usize, Vec<Expression>)> = Vec::new();
    for field in fields {
        let found = field.head().and_then(|name| template.slot(name));
        let Some((at, slot)) = found else {
            let known: Vec<_> = template.slots().iter().map(|slot| slot.name()).collect();
            return Err(
                RuleError::refused(field.span, format!("this is no slot of {}", template.name()))
                    .hint(format!("it has {}", known.join(", "))),
            );
        };
        if slots.iter().any(|(other, _)| *other == at) {
            return Err(
                RuleError::refused(field.span, format!("slot {} is there twice", slot.name()))
                    .hint("give its value once"),
            );
        }
        let values = values(
            field.list().unwrap_or_default().get(1..).unwrap_or_default(),
            scope,
        )?;
        if !slot.is_multislot() {
            let [value] = values.as_slice() else {
                return Err(RuleError::refused(
                    field.span,
                    format!("slot {} holds exactly one value", slot.name()),
                )
                .hint(format!(
                    "({} value), or a multislot in the deftemplate",
                    slot.name()
                )));
            };
            if let Expression::Value(value) = value {
                slot.check(value)
                    .map_err(|message| RuleError::refused(field.span, message).hint(slot.takes()))?;
            }
        }
        slots.push((at, values));
    }
    Ok(slots)
}

fn values(forms: &[Form], scope: &Scope) -> Result<Vec<Expression>, RuleError> {
    let mut values = Vec::new();
    let mut forms = forms.iter().peekable();
    while let Some(form) = forms.next() {
        // `=(+ 1 2)` is the same as `(+ 1 2)` here.
        if form.is("=") && forms.peek().is_some_and(|next| next.list().is_some()) {
            continue;
        }
        values.push(expression::compile(form, scope)?);
    }
    Ok(values)
}
