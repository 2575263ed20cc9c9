//! Constraints of one field: `?x&~red&:(> ?x 3)|=(+ ?y 1)`.

use crate::error::RuleError;
use crate::reader::{Form, FormKind, Span};
use crate::value::Value;

/// What is written at one place of a pattern.
#[derive(Debug)]
pub(crate) struct Field {
    /// `$?…`: any number of values.
    pub(crate) many: bool,
    /// The variable that takes the value, or must already have it: it stands first, alone or before `&`.
    pub(crate) binding: Option<Box<str>>,
    /// One of these must hold, each of them as a whole. None: anything fits.
    pub(crate) alternatives: Vec<Vec<Signed>>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Term {
    Value(Value),
    /// A variable that has a value already.
    Variable(Box<str>),
    Predicate(Form),
    Equals(Form),
}

#[derive(Debug)]
pub(crate) struct Signed {
    pub(crate) term: Term,
    pub(crate) negated: bool,
    pub(crate) span: Span,
}

/// Reads one field at the start of `forms` and gives back how many forms it takes.
pub(crate) fn parse(forms: &[Form]) -> Result<(Field, usize), RuleError> {
    let span = forms.first().map(|form| form.span).unwrap_or_default();
    let mut field = Field {
        many: false,
        binding: None,
        alternatives: Vec::new(),
        span,
    };
    let follows = |at: usize| match forms.get(at).map(|form| &form.kind) {
        Some(FormKind::Sign(sign)) => Some(*sign),
        _ => None,
    };
    let mut at = 0;
    match forms.first().map(|form| &form.kind) {
        Some(FormKind::Single(None) | FormKind::Multi(None)) => {
            field.many = matches!(forms.first().map(|form| &form.kind), Some(FormKind::Multi(_)));
            if matches!(follows(1), Some('&' | '|')) {
                return Err(RuleError::refused(span, "`?` takes part in no constraint")
                    .hint("give it a name, `?x&~red`, or write the constraint alone: `~red`"));
            }
            return Ok((field, 1));
        }
        Some(FormKind::Single(Some(name)) | FormKind::Multi(Some(name))) if follows(1) != Some('|') => {
            field.binding = Some(name.clone());
            field.many = matches!(forms.first().map(|form| &form.kind), Some(FormKind::Multi(_)));
            if follows(1) != Some('&') {
                return Ok((field, 1));
            }
            at = 2;
        }
        _ => {}
    }
    field.alternatives.push(Vec::new());
    loop {
        let (signed, several, taken) = read_term(forms.get(at..).unwrap_or_default())?;
        field.many |= several;
        at += taken;
        if let Some(last) = field.alternatives.last_mut() {
            last.push(signed);
        }
        match follows(at) {
            Some('&') => at += 1,
            Some('|') => {
                field.alternatives.push(Vec::new());
                at += 1;
            }
            _ => return Ok((field, at)),
        }
    }
}

impl Field {
    /// The one value that fits, where it is that simple.
    pub(crate) fn literal(&self) -> Option<&Value> {
        match self.alternatives.as_slice() {
            [only] => only.iter().find_map(|signed| match &signed.term {
                Term::Value(value) if !signed.negated => Some(value),
                _ => None,
            }),
            _ => None,
        }
    }
}

/// A term, whether it stands for several values, and how many forms it takes.
fn read_term(forms: &[Form]) -> Result<(Signed, bool, usize), RuleError> {
    let is_tilde = |at: usize| matches!(forms.get(at).map(|form| &form.kind), Some(FormKind::Sign('~')));
    let negated = is_tilde(0);
    let at = usize::from(negated);
    if let Some(second) = forms.get(at).filter(|_| negated && is_tilde(at)) {
        return Err(
            RuleError::refused(second.span, "`~` stands twice").hint("take both away, or one of them")
        );
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
        (FormKind::Single(Some(name)) | FormKind::Multi(Some(name)), _) => (Term::Variable(name.clone()), 1),
        (FormKind::Single(None) | FormKind::Multi(None), _) if negated => {
            return Err(RuleError::refused(form.span, "`~?` excludes everything")
                .hint("name what it must not be: `~red`, `~?x`"));
        }
        (FormKind::Single(None) | FormKind::Multi(None), _) => {
            return Err(RuleError::refused(form.span, "`?` takes part in no constraint")
                .hint("take it away: without it the constraint means the same"));
        }
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
        matches!(form.kind, FormKind::Multi(_)),
        at + taken,
    ))
}
