//! Constraints of one field: `?x&~red&:(> ?x 3)|=(+ ?y 1)`.

use crate::error::RuleError;
use crate::expression::{self, Expression, Scope, Variable};
use crate::function::Function;
use crate::reader::{Form, FormKind, Span};
use crate::value::Value;

/// One place of a pattern: what it must be, what it binds.
#[derive(Debug, Clone)]
pub(crate) struct Item {
    /// `$?…`: any number of values.
    pub(crate) many: bool,
    /// The one value that fits, where it is that simple.
    pub(crate) literal: Option<Value>,
    /// The variables that take the value, or must already have it.
    pub(crate) binds: Vec<Variable>,
    /// What else must hold.
    pub(crate) tests: Vec<Expression>,
}

enum Term {
    Value(Value),
    Single(Box<str>),
    Multi(Option<Box<str>>),
    Any,
    Predicate(Form),
    Equals(Form),
}

struct Signed {
    term: Term,
    negated: bool,
    span: Span,
}

/// Reads one constraint at the start of `forms` and gives back how many forms it takes. New variables get numbers from
/// `fresh` and names in `scope`.
pub(crate) fn parse(
    forms: &[Form],
    scope: &mut Scope,
    fresh: &mut Variable,
) -> Result<(Item, usize), RuleError> {
    let (alternatives, binding_first, length) = read_terms(forms)?;
    let mut item = Item {
        many: false,
        literal: None,
        binds: Vec::new(),
        tests: Vec::new(),
    };
    item.many = alternatives
        .iter()
        .flatten()
        .any(|signed| matches!(signed.term, Term::Multi(_)));
    let connected = alternatives.len() > 1;
    let mut rest: Vec<Vec<Signed>> = Vec::new();
    for (at, alternative) in alternatives.into_iter().enumerate() {
        let mut kept = Vec::new();
        for (place, signed) in alternative.into_iter().enumerate() {
            // `?x&a|b` is ?x and one of a, b; elsewhere in an alternative a variable is compared, not bound.
            let binds = !signed.negated && (!connected || (at == 0 && place == 0 && binding_first));
            match (&signed.term, binds) {
                (Term::Any | Term::Multi(None), _) if !signed.negated => {}
                (Term::Any | Term::Multi(None), _) => {
                    return Err(RuleError::refused(signed.span, "`~?` excludes everything")
                        .hint("name what it must not be: `~red`, `~?x`"));
                }
                (Term::Single(name) | Term::Multi(Some(name)), true) => {
                    let variable = scope.find(name).unwrap_or_else(|| {
                        let variable = next(fresh);
                        scope.bind(name, variable);
                        variable
                    });
                    if !item.binds.contains(&variable) {
                        item.binds.push(variable);
                    }
                }
                _ => kept.push(signed),
            }
        }
        rest.push(kept);
    }
    if connected && rest.iter().any(Vec::is_empty) {
        // One of the alternatives is `?`: anything goes.
        return Ok((item, length));
    }
    rest.retain(|alternative| !alternative.is_empty());
    match rest.as_slice() {
        [] => {}
        [only]
            if matches!(
                only.as_slice(),
                [Signed {
                    term: Term::Value(_),
                    negated: false,
                    ..
                }]
            ) =>
        {
            if let Some(Signed {
                term: Term::Value(value),
                ..
            }) = rest.pop().and_then(|mut only| only.pop())
            {
                item.literal = Some(value);
            }
        }
        _ => {
            let subject = match item.binds.first() {
                Some(variable) => *variable,
                None => {
                    let hidden = next(fresh);
                    item.binds.push(hidden);
                    hidden
                }
            };
            let compiled: Result<Vec<_>, RuleError> = rest
                .iter()
                .map(|alternative| {
                    let terms: Result<Vec<_>, _> = alternative
                        .iter()
                        .map(|signed| compile(signed, subject, scope))
                        .collect();
                    Ok(joined(Function::And, terms?))
                })
                .collect();
            item.tests.push(joined(Function::Or, compiled?));
        }
    }
    Ok((item, length))
}

fn next(fresh: &mut Variable) -> Variable {
    let variable = *fresh;
    *fresh += 1;
    variable
}

fn joined(function: Function, mut parts: Vec<Expression>) -> Expression {
    if parts.len() == 1
        && let Some(only) = parts.pop()
    {
        return only;
    }
    Expression::Call(function, parts)
}

fn compile(signed: &Signed, subject: Variable, scope: &Scope) -> Result<Expression, RuleError> {
    let subject = Expression::Variable(subject);
    let same = if signed.negated {
        Function::Different
    } else {
        Function::Same
    };
    Ok(match &signed.term {
        Term::Value(value) => Expression::Call(same, vec![subject, Expression::Value(value.clone())]),
        Term::Single(name) | Term::Multi(Some(name)) => match scope.find(name) {
            Some(variable) => Expression::Call(same, vec![subject, Expression::Variable(variable)]),
            None => {
                return Err(RuleError::refused(
                    signed.span,
                    format!("the variable ?{name} has no value here"),
                )
                .hint("bind it in an earlier pattern"));
            }
        },
        Term::Equals(form) => Expression::Call(same, vec![subject, expression::compile(form, scope)?]),
        Term::Predicate(form) => {
            let predicate = expression::compile(form, scope)?;
            if signed.negated {
                Expression::Call(Function::Not, vec![predicate])
            } else {
                predicate
            }
        }
        Term::Any | Term::Multi(None) => Expression::Value(Value::boolean(true)),
    })
}

type Terms = (Vec<Vec<Signed>>, bool, usize);

/// The terms, alternatives of conjunctions; whether the first is a variable before `&`; the number of forms.
fn read_terms(forms: &[Form]) -> Result<Terms, RuleError> {
    let mut at = 0;
    let mut alternatives = vec![Vec::new()];
    let mut binding_first = false;
    loop {
        let (signed, taken) = read_term(forms.get(at..).unwrap_or_default())?;
        let variable = !signed.negated && matches!(signed.term, Term::Single(_) | Term::Multi(Some(_)));
        let first = at == 0;
        at += taken;
        if let Some(last) = alternatives.last_mut() {
            last.push(signed);
        }
        match forms.get(at).map(|form| &form.kind) {
            Some(FormKind::Sign('&')) => {
                binding_first |= first && variable;
                at += 1;
            }
            Some(FormKind::Sign('|')) => {
                alternatives.push(Vec::new());
                at += 1;
            }
            _ => return Ok((alternatives, binding_first, at)),
        }
    }
}

fn read_term(forms: &[Form]) -> Result<(Signed, usize), RuleError> {
    let mut at = 0;
    let mut negated = false;
    while matches!(forms.get(at).map(|form| &form.kind), Some(FormKind::Sign('~'))) {
        negated = !negated;
        at += 1;
    }
    let Some(form) = forms.get(at) else {
        let span = forms.last().map(|form| form.span).unwrap_or_default();
        return Err(
            RuleError::refused(span, "a constraint ends too early").hint("a value or variable is missing")
        );
    };
    let follows = forms.get(at + 1).filter(|next| next.list().is_some());
    let (term, taken) = match (&form.kind, follows) {
        (FormKind::Atom(Value::Symbol(name)), Some(list)) if &**name == ":" => {
            (Term::Predicate(list.clone()), 2)
        }
        (FormKind::Atom(Value::Symbol(name)), Some(list)) if &**name == "=" => {
            (Term::Equals(list.clone()), 2)
        }
        (FormKind::Atom(value), _) => (Term::Value(value.clone()), 1),
        (FormKind::Single(Some(name)), _) => (Term::Single(name.clone()), 1),
        (FormKind::Single(None), _) => (Term::Any, 1),
        (FormKind::Multi(name), _) => (Term::Multi(name.clone()), 1),
        (FormKind::Sign(sign), _) => {
            return Err(
                RuleError::refused(form.span, format!("`{sign}` needs a value before it"))
                    .hint("`?x&~red`, `red|green`, `~red`"),
            );
        }
        (FormKind::List(_), _) => {
            return Err(RuleError::refused(form.span, "a list has no place in a field")
                .hint("a test is `?x&:(…)`, a computed value `=(…)`, a slot needs a deftemplate"));
        }
    };
    Ok((
        Signed {
            term,
            negated,
            span: form.span,
        },
        at + taken,
    ))
}
