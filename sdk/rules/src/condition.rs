//! Left-hand sides as they are matched: `or`, `exists` and `forall` rewritten, and every test beside the condition that it follows.
//!
//! CLIPS does the same, in the same order; the network depends on it, and so does the order in which matches are found.

use crate::error::RuleError;
use crate::reader::{Form, FormKind, Span};

/// Most patterns in one rule, those inside `not` included.
pub(crate) const PATTERNS: usize = 16;
/// Most alternatives that the `or`s of one rule multiply to.
const ALTERNATIVES: usize = 32;

/// What to do about a rule that is too large.
pub(crate) const DIVIDE: &str = "let one rule assert what another one asks";

/// A conditional element after `or`, `exists` and `forall` have been rewritten.
#[derive(Debug, Clone)]
enum Element<'a> {
    Pattern(&'a Form, Option<(&'a str, Span)>),
    Test(&'a Form),
    Not(Vec<Element<'a>>, &'a Form),
}

type Alternatives<'a> = Vec<Vec<Element<'a>>>;

/// How something on a left-hand side is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sense {
    /// It is there.
    Positive,
    /// It is not there.
    Negated,
    /// It is there, in whichever way.
    Exists,
}

/// A test, or that several do not hold together.
#[derive(Debug, Clone)]
pub(crate) enum Check<'a> {
    Holds(&'a Form),
    Not(Vec<Check<'a>>),
}

/// What a condition is about.
#[derive(Debug, Clone)]
pub(crate) enum Subject<'a> {
    /// No fact: tests alone.
    Nothing,
    /// One fact, and what is bound to it.
    Pattern(&'a Form, Option<(&'a str, Span)>),
    /// Several conditions together.
    Group(Vec<Condition<'a>>),
}

/// One condition of a left-hand side.
#[derive(Debug, Clone)]
pub(crate) struct Condition<'a> {
    pub(crate) subject: Subject<'a>,
    pub(crate) sense: Sense,
    /// Tests about the fact that the pattern matches and those before.
    pub(crate) tests: Vec<Check<'a>>,
    /// Tests that follow a condition without a fact of its own: they are about those before.
    pub(crate) after: Vec<Check<'a>>,
    /// As it was written.
    pub(crate) form: Option<&'a Form>,
}

/// Reads a left-hand side: one list of conditions for each alternative of its `or`s.
pub(crate) fn read(forms: &[Form]) -> Result<Vec<Vec<Condition<'_>>>, RuleError> {
    let alternatives = conjunction(forms)?;
    alternatives.iter().map(|elements| normalise(elements)).collect()
}

fn normalise<'a>(elements: &[Element<'a>]) -> Result<Vec<Condition<'a>>, RuleError> {
    let mut list: Vec<Condition<'a>> = Vec::new();
    for element in elements {
        match element {
            Element::Pattern(form, address) => list.push(Condition {
                subject: Subject::Pattern(form, *address),
                sense: Sense::Positive,
                tests: Vec::new(),
                after: Vec::new(),
                form: Some(form),
            }),
            Element::Test(form) => test(&mut list, vec![Check::Holds(form)], form)?,
            Element::Not(inner, form) => negate(normalise(inner)?, form, &mut list)?,
        }
    }
    Ok(list)
}

/// A test belongs to the condition before it.
fn test<'a>(list: &mut Vec<Condition<'a>>, checks: Vec<Check<'a>>, form: &'a Form) -> Result<(), RuleError> {
    match list.last_mut() {
        Some(before) if before.sense == Sense::Positive => before.tests.extend(checks),
        // Such a group has a test of its own, or it would be no group.
        Some(before) if matches!(&before.subject, Subject::Group(inner) if inner.len() == 1) => {
            return Err(RuleError::refused(
                form.span,
                "CLIPS loses a test that follows a `not` around one condition and its test",
            )
            .hint("write this test before that `not`"));
        }
        Some(before) => before.after.extend(checks),
        None => list.push(Condition {
            subject: Subject::Nothing,
            sense: Sense::Positive,
            tests: checks,
            after: Vec::new(),
            form: None,
        }),
    }
    Ok(())
}

/// What stands alone inside `not` is turned around; what stands together becomes a group.
fn negate<'a>(
    mut inner: Vec<Condition<'a>>,
    form: &'a Form,
    list: &mut Vec<Condition<'a>>,
) -> Result<(), RuleError> {
    if let [only] = inner.as_mut_slice()
        && only.after.is_empty()
    {
        let turned = match (&only.subject, only.sense) {
            (Subject::Nothing, _) => {
                let checks = std::mem::take(&mut only.tests);
                return test(list, vec![Check::Not(checks)], form);
            }
            (_, Sense::Positive | Sense::Exists) => Sense::Negated,
            (_, Sense::Negated) => Sense::Exists,
        };
        only.sense = turned;
        only.form = Some(form);
        list.append(&mut inner);
        return Ok(());
    }
    list.push(Condition {
        subject: Subject::Group(inner),
        sense: Sense::Negated,
        tests: Vec::new(),
        after: Vec::new(),
        form: Some(form),
    });
    Ok(())
}

/// The elements of a list, each with what binds its address, as alternatives without `or`.
fn conjunction(forms: &[Form]) -> Result<Alternatives<'_>, RuleError> {
    let mut all: Alternatives<'_> = vec![Vec::new()];
    let mut at = 0;
    while let Some(form) = forms.get(at) {
        let (alternatives, taken) = match (&form.kind, forms.get(at + 1), forms.get(at + 2)) {
            (FormKind::Single(Some(name)), Some(arrow), Some(pattern)) if arrow.is("<-") => {
                if !is_pattern(pattern) {
                    return Err(
                        RuleError::refused(pattern.span, "only a pattern has a fact to bind")
                            .hint("?f <- (name …)"),
                    );
                }
                (vec![vec![Element::Pattern(pattern, Some((name, form.span)))]], 3)
            }
            _ => (element(form)?, 1),
        };
        at += taken;
        if all.len().saturating_mul(alternatives.len()) > ALTERNATIVES {
            return Err(RuleError::budget(
                form.span,
                format!("the `or`s make more alternatives than the budget of {ALTERNATIVES}"),
            )
            .hint("`red|green` inside one field costs nothing"));
        }
        all = all
            .iter()
            .flat_map(|before| {
                alternatives
                    .iter()
                    .map(|after| [before.as_slice(), after.as_slice()].concat())
            })
            .collect();
        if all.iter().any(|elements| elements.len() > 4 * PATTERNS) {
            return Err(RuleError::budget(
                form.span,
                format!(
                    "the rule has more conditional elements than the budget of {}",
                    4 * PATTERNS
                ),
            )
            .hint(DIVIDE));
        }
    }
    Ok(all)
}

fn is_pattern(form: &Form) -> bool {
    form.head().is_some_and(|head| {
        !matches!(
            head,
            "and" | "or" | "not" | "exists" | "forall" | "test" | "logical"
        )
    })
}

fn element(form: &Form) -> Result<Alternatives<'_>, RuleError> {
    let Some(items) = form.list() else {
        return Err(
            RuleError::refused(form.span, "a condition is a pattern in parentheses").hint("(severity ?s)"),
        );
    };
    let inner = items.get(1..).unwrap_or_default();
    let needs = |least: usize| {
        if inner.len() < least {
            let head = form.head().unwrap_or_default();
            return Err(RuleError::refused(
                form.span,
                format!("`{head}` needs at least {least} condition(s)"),
            )
            .hint(format!("({head}{})", " (name value)".repeat(least))));
        }
        Ok(())
    };
    match form.head() {
        Some("and") => {
            needs(1)?;
            conjunction(inner)
        }
        Some("or") => {
            needs(1)?;
            let mut all = Vec::new();
            for alternative in inner {
                all.extend(element(alternative)?);
            }
            Ok(all)
        }
        Some("not") => {
            if inner.len() != 1 {
                return Err(
                    RuleError::refused(form.span, "`not` takes one condition").hint("(not (and (a) (b)))")
                );
            }
            Ok(vec![negated(conjunction(inner)?, form)])
        }
        Some("exists") => {
            needs(1)?;
            Ok(vec![vec![Element::Not(negated(conjunction(inner)?, form), form)]])
        }
        Some("forall") => {
            needs(2)?;
            let each = conjunction(inner.get(..1).unwrap_or_default())?;
            let then = negated(conjunction(inner.get(1..).unwrap_or_default())?, form);
            let missing = each
                .into_iter()
                .map(|elements| [elements, then.clone()].concat())
                .collect();
            Ok(vec![negated(missing, form)])
        }
        Some("test") => match inner {
            [expression] => Ok(vec![vec![Element::Test(expression)]]),
            _ => Err(RuleError::refused(form.span, "`test` takes one expression").hint("(test (> ?x 3))")),
        },
        Some(head @ ("logical" | "object")) => Err(RuleError::refused(
            form.span,
            format!("`{head}` is not in the rule language"),
        )
        .hint("there are only facts, and no truth maintenance")),
        _ => Ok(vec![vec![Element::Pattern(form, None)]]),
    }
}

/// Not any of the alternatives.
fn negated<'a>(alternatives: Alternatives<'a>, form: &'a Form) -> Vec<Element<'a>> {
    alternatives
        .into_iter()
        .map(|elements| Element::Not(elements, form))
        .collect()
}
