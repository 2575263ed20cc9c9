//! Patterns: `(name field …)` and `(name (slot constraint) …)`, as steps of the network that looks at one fact.
//!
//! The steps are those that CLIPS makes: patterns with the same beginning share it, and the order in which a fact finds its
//! patterns follows from that.

mod steps;

pub(crate) use steps::{Length, Step, StepKind, StepTest};

use crate::constraint::{self, Field, Signed, Term};
use crate::error::RuleError;
use crate::expression::{self, Expression};
use crate::function::Function;
use crate::place::{Getter, Place, Shape, Side};
use crate::reader::{Form, FormKind};
use crate::rule::{Builder, Test};
use crate::shared::Lasting;
use crate::template::Template;
use crate::value::Value;
use std::sync::Arc;
use steps::SlotSteps;

/// A compiled pattern: what one fact must be, whatever the others are.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    pub(crate) name: Arc<str>,
    pub(crate) template: Option<Lasting<Template>>,
    pub(crate) steps: Vec<Step>,
    /// The values by which matches are found when others are joined with them.
    pub(crate) key: Vec<Getter>,
    /// For an ordered pattern: whether each field is a `$?`, and the constant that it is.
    fields: Vec<(bool, Option<Value>)>,
    /// As it was written, for explanations.
    pub(crate) text: String,
}

/// What a pattern says about other facts too.
#[derive(Debug, Default)]
pub(crate) struct Joining {
    pub(crate) tests: Vec<Expression<Place>>,
    /// The values of facts before that are the same as those of the pattern's key.
    pub(crate) key: Vec<Place>,
}

/// The comparisons that people write between their operands.
const INFIX: [&str; 9] = ["<", "<=", ">", ">=", "=", "==", "!=", "<>", "eq"];

/// Compiles a pattern at its position among the conditions. Its variables have values from here on.
pub(crate) fn compile(form: &Form, builder: &mut Builder<'_>) -> Result<(Pattern, Joining), RuleError> {
    let items = form.list().unwrap_or_default();
    let Some(name) = items.first().and_then(Form::symbol) else {
        return Err(
            RuleError::refused(form.span, "a pattern starts with the name of a fact").hint("(severity ?s)"),
        );
    };
    let fields = items.get(1..).unwrap_or_default();
    let template = builder.templates.get(name).cloned();
    let mut compiler = Compiler {
        builder,
        steps: Vec::new(),
        key: Vec::new(),
        joining: Joining::default(),
        many: 0,
        text: text_of(form).as_str().into(),
    };
    let mut shown = Vec::new();
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
            let fields = sequence(fields)?;
            shown.extend(fields.iter().map(|field| (field.many, field.literal().cloned())));
            compiler.several(0, &fields)?;
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
                let items = sequence(constraints)?;
                // It could never match: most likely a word is not spelt as its template has it.
                for item in &items {
                    if let Some(Err(problem)) = item.literal().map(|value| slot.check_one(value)) {
                        return Err(RuleError::refused(field.span, problem).hint(slot.takes()));
                    }
                }
                match (slot.is_multislot(), items.as_slice()) {
                    (true, items) => compiler.several(at, items)?,
                    (false, [item]) if !item.many => compiler.single(at, item)?,
                    (false, _) => {
                        return Err(RuleError::refused(
                            field.span,
                            format!("slot {slot_name} holds exactly one value"),
                        )
                        .hint(format!("({slot_name} ?x), or a multislot in the deftemplate")));
                    }
                }
            }
        }
    }
    if compiler.many > 2 {
        return Err(RuleError::refused(form.span, "a pattern has at most two `$?`")
            .hint("(name $? ?x $?) looks at every place; more is for a second pattern"));
    }
    if compiler.steps.is_empty() {
        compiler.steps.push(Step::any());
    }
    let pattern = Pattern {
        name: name.into(),
        template: template.clone(),
        steps: compiler.steps,
        key: compiler.key,
        fields: shown,
        text: text_of(form),
    };
    Ok((pattern, compiler.joining))
}

struct Compiler<'c, 'b> {
    builder: &'c mut Builder<'b>,
    steps: Vec<Step>,
    key: Vec<Getter>,
    joining: Joining,
    many: usize,
    text: Lasting<str>,
}

/// What a field says about its own fact.
#[derive(Debug, Default)]
struct Own {
    constant: Option<Value>,
    tests: Vec<Expression<Place>>,
}

impl Own {
    fn tests(self, text: &Lasting<str>) -> (Option<Value>, Vec<Test>) {
        let tests = self.tests.into_iter().map(|expression| Test {
            expression,
            text: text.clone(),
        });
        (self.constant, tests.collect())
    }
}

impl Compiler<'_, '_> {
    /// A slot with one value.
    fn single(&mut self, slot: usize, field: &Field) -> Result<(), RuleError> {
        let getter = Getter::Slot(slot);
        let (constant, tests) = self.field(field, getter)?.tests(&self.text);
        self.steps.extend(Step::of_slot(slot, getter, constant, tests));
        Ok(())
    }

    /// A slot with several values, or the fields of an ordered fact.
    fn several(&mut self, slot: usize, fields: &[Field]) -> Result<(), RuleError> {
        self.many += fields.iter().filter(|field| field.many).count();
        let mut steps = SlotSteps::new(slot, fields.iter().map(|field| field.many).collect());
        for (item, field) in fields.iter().enumerate() {
            let getter = getter(slot, item, fields);
            let (constant, tests) = self.field(field, getter)?.tests(&self.text);
            steps.push(item, getter, constant, tests);
        }
        self.steps.extend(steps.end());
        Ok(())
    }

    /// One field: its variable gets its place, and what it says is divided between its own fact and others.
    fn field(&mut self, field: &Field, getter: Getter) -> Result<Own, RuleError> {
        let place = Place {
            side: Side::Own,
            getter,
        };
        let mut own = Own::default();
        let same = |other: Place| same_value(place, other, false);
        if let Some(name) = &field.binding {
            let before = self.builder.bind(name, getter, field)?;
            match before.map(|variable| self.builder.place(variable)) {
                None => {}
                Some(other) if other.side == Side::Own => own.tests.push(same(other)),
                Some(other) => {
                    self.joining.tests.push(same(other));
                    self.key.push(getter);
                    self.joining.key.push(other);
                }
            }
        }
        if mentions(field, |term| matches!(term, Term::Equals(_))) {
            refuse_behind_span(field, getter, "`=(…)`")?;
        }
        let mut alternatives = Vec::new();
        for alternative in &field.alternatives {
            let terms: Result<Vec<_>, _> = alternative
                .iter()
                .map(|signed| self.term(signed, field, place))
                .collect();
            alternatives.push(terms?);
        }
        let is_own = |term: &Expression<Place>| {
            let mut all = true;
            term.variables(&mut |place| all &= place.side == Side::Own);
            all
        };
        match alternatives.as_slice() {
            [] => {}
            [only] => {
                for term in only {
                    if is_own(term) {
                        flatten(term.clone(), &mut own.tests);
                    } else {
                        flatten(term.clone(), &mut self.joining.tests);
                    }
                }
                if let Some(constant) = field.literal() {
                    // CLIPS looks at the constant and at nothing else.
                    if own.tests.len() > 1 {
                        return Err(RuleError::refused(
                            field.span,
                            "CLIPS takes a constant for all that a field says, and drops what `&` joins to it",
                        )
                        .hint("write the constant alone, and what else must hold in (test …)"));
                    }
                    own.tests.clear();
                    own.constant = Some(constant.clone());
                }
            }
            _ => {
                let all_own = alternatives.iter().flatten().all(is_own);
                if !all_own && mentions(field, |term| matches!(term, Term::Value(_))) {
                    refuse_behind_span(field, getter, "a constant beside a variable of another pattern")?;
                }
                let whole = alternatives.into_iter().map(|terms| {
                    let mut parts = Vec::new();
                    terms.into_iter().for_each(|term| flatten(term, &mut parts));
                    joined(Function::And, parts)
                });
                let whole = joined(Function::Or, whole.collect());
                match all_own {
                    true => own.tests.push(whole),
                    false => self.joining.tests.push(whole),
                }
            }
        }
        Ok(own)
    }

    fn term(&mut self, signed: &Signed, field: &Field, place: Place) -> Result<Expression<Place>, RuleError> {
        let subject = Expression::Variable(place);
        let same = match signed.negated {
            true => Function::Different,
            false => Function::Same,
        };
        Ok(match &signed.term {
            Term::Value(_) | Term::Equals(_) if field.many => {
                return Err(RuleError::refused(
                    signed.span,
                    "this is one value, and `$?` stands for several",
                )
                .hint("look at its parts: $?x&:(eq (nth$ 1 ?x) red), or give the value a field of its own"));
            }
            Term::Value(value) => {
                let function = match place.getter {
                    Getter::Split { .. } => same,
                    _ => constraint(signed.negated),
                };
                Expression::Call(function, vec![subject, Expression::Value(value.clone())])
            }
            Term::Variable(name) => {
                let variable = self.builder.compared(name, field, signed.span)?;
                same_value(place, self.builder.place(variable), signed.negated)
            }
            Term::Equals(form) => Expression::Call(same, vec![subject, self.expression(form)?]),
            Term::Predicate(form) => {
                let predicate = self.expression(form)?;
                match signed.negated {
                    true => Expression::Call(Function::Not, vec![predicate]),
                    false => predicate,
                }
            }
        })
    }

    fn expression(&mut self, form: &Form) -> Result<Expression<Place>, RuleError> {
        let expression = expression::compile(form, &self.builder.scope)?;
        Ok(expression.map(&mut |variable| self.builder.place(*variable)))
    }
}

fn constraint(negated: bool) -> Function {
    match negated {
        true => Function::IsNot,
        false => Function::Is,
    }
}

/// That the value of a field is, or is not, that of a variable. Where CLIPS can tell beforehand where both stand, it is a constraint;
/// otherwise a call of `eq`.
fn same_value(own: Place, other: Place, negated: bool) -> Expression<Place> {
    let is_plain = |getter: Getter| {
        matches!(
            getter,
            Getter::Slot(_) | Getter::First { .. } | Getter::Last { .. }
        )
    };
    let is_last = |getter: Getter| matches!(getter, Getter::Split { item, shape, .. } if item > shape.second);
    let known = match other.side {
        // In one pattern only slots with one value are compared directly.
        Side::Own => matches!((own.getter, other.getter), (Getter::Slot(_), Getter::Slot(_))),
        _ => is_plain(own.getter) && (is_plain(other.getter) || is_last(other.getter)),
    };
    let function = match (known, negated) {
        (true, negated) => constraint(negated),
        (false, true) => Function::Different,
        (false, false) => Function::Same,
    };
    Expression::Call(
        function,
        vec![Expression::Variable(own), Expression::Variable(other)],
    )
}

fn mentions(field: &Field, is_it: impl Fn(&Term) -> bool) -> bool {
    field
        .alternatives
        .iter()
        .flatten()
        .any(|signed| is_it(&signed.term))
}

/// Behind the only `$?` of a slot, CLIPS 6.4.2 counts from the beginning for some constraints, as if the `$?` took one field.
fn refuse_behind_span(field: &Field, getter: Getter, what: &str) -> Result<(), RuleError> {
    match getter {
        Getter::Last { .. } => Err(RuleError::refused(
            field.span,
            format!("behind `$?`, CLIPS compares {what} with another field than this one"),
        )
        .hint("bind the field and test it: ?x&:(eq ?x (…))")),
        _ => Ok(()),
    }
}

/// What must hold together, one beside the other.
pub(crate) fn flatten(test: Expression<Place>, all: &mut Vec<Expression<Place>>) {
    match test {
        Expression::Call(Function::And, parts) => all.extend(parts),
        other => all.push(other),
    }
}

fn joined(function: Function, mut parts: Vec<Expression<Place>>) -> Expression<Place> {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    Expression::Call(function, parts)
}

/// Where the value of a field stands among those of its slot.
fn getter(slot: usize, item: usize, fields: &[Field]) -> Getter {
    let is_many = |at: &usize| fields.get(*at).is_some_and(|field| field.many);
    let spans: Vec<usize> = (0..fields.len()).filter(is_many).collect();
    let before = spans.iter().filter(|span| **span < item).count();
    let behind = spans.iter().filter(|span| **span > item).count();
    match (spans.as_slice(), is_many(&item)) {
        (_, false) if before == 0 => Getter::First { slot, offset: item },
        (_, false) if before == 1 && behind == 0 => Getter::Last {
            slot,
            offset: fields.len() - item - 1,
        },
        ([_], true) => Getter::Span {
            slot,
            before: item,
            after: fields.len() - item - 1,
        },
        (spans, _) => Getter::Split {
            slot,
            item,
            shape: Shape {
                first: spans.first().copied().unwrap_or(0),
                second: spans.get(1).copied().unwrap_or(0),
                items: fields.len(),
            },
        },
    }
}

impl Pattern {
    /// For an ordered pattern: how many values the fact must have at least, whether it may have more, and the constants at their
    /// places.
    pub(crate) fn fields(&self) -> (usize, bool, Vec<Option<&Value>>) {
        let fixed = self.fields.iter().filter(|(many, _)| !many).count();
        let literals = self.fields.iter().map(|(_, literal)| literal.as_ref()).collect();
        (fixed, fixed < self.fields.len(), literals)
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

fn sequence(forms: &[Form]) -> Result<Vec<Field>, RuleError> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < forms.len() {
        let (field, taken) = constraint::parse(forms.get(at..).unwrap_or_default())?;
        fields.push(field);
        at += taken.max(1);
    }
    Ok(fields)
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
