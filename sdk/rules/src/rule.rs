//! `defrule`: conditional elements to groups of patterns, and the actions of the right-hand side.

mod new_fact;

pub(crate) use new_fact::new_fact;

use crate::budget::Room;
use crate::error::RuleError;
use crate::expression::{self, Expression, Scope, Variable};
use crate::pattern::{self, Naming, Pattern, text_of};
use crate::program::Templates;
use crate::reader::{Form, FormKind, Span};
use crate::shared::Lasting;
use crate::template::Template;
use crate::value::Value;
use std::sync::Arc;

/// Most patterns in one rule, those inside `not` included.
const PATTERNS: usize = 16;
/// Most alternatives that the `or`s of one rule multiply to.
const ALTERNATIVES: usize = 32;

/// What to do about a rule that is too large.
const DIVIDE: &str = "let one rule assert what another one asks";

/// A rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) name: Lasting<str>,
    pub(crate) salience: i32,
    /// One per alternative of its `or`s.
    pub(crate) branches: Vec<Branch>,
}

/// One alternative of a rule: no `or` is left.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) group: Group,
    /// The number of variables, hidden ones included.
    pub(crate) variables: usize,
    /// The variables that have names, for traces and bindings.
    pub(crate) names: Vec<(Box<str>, Variable)>,
    pub(crate) actions: Vec<Action>,
}

/// Patterns that hold together, tests over them, and groups that must not hold.
#[derive(Debug, Clone, Default)]
pub(crate) struct Group {
    pub(crate) patterns: Vec<Arc<Pattern>>,
    pub(crate) tests: Vec<Test>,
    pub(crate) nots: Vec<Group>,
    /// As it was written, for explanations.
    pub(crate) text: String,
}

/// A test over several patterns.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) expression: Expression,
    pub(crate) text: String,
}

#[derive(Debug, Clone)]
pub(crate) enum Action {
    Assert(NewFact),
    Retract(Variable),
    Modify {
        fact: Variable,
        template: Lasting<Template>,
        changes: Vec<(usize, Vec<Expression>)>,
    },
    Bind(Variable, Expression),
    Evaluate(Expression),
}

/// A fact that an action makes.
#[derive(Debug, Clone)]
pub(crate) struct NewFact {
    pub(crate) name: Lasting<str>,
    pub(crate) template: Option<Lasting<Template>>,
    /// Per slot; an ordered fact has one.
    pub(crate) slots: Vec<(usize, Vec<Expression>)>,
}

impl NewFact {
    /// The text that a slot of a fact of this template has in any case.
    #[cfg(feature = "json")]
    pub(crate) fn literal(&self, template: &str, slot: &str) -> Option<&str> {
        let found = self.template.as_ref().filter(|found| found.name() == template)?;
        let (place, _) = found.slot(slot)?;
        let (_, values) = self.slots.iter().find(|(at, _)| *at == place)?;
        match values.as_slice() {
            [Expression::Value(value)] => value.lexeme(),
            _ => None,
        }
    }
}

/// A conditional element after `or`, `exists` and `forall` have been rewritten.
#[derive(Clone)]
enum Element<'a> {
    Pattern(&'a Form, Option<(&'a str, Span)>),
    Test(&'a Form),
    Not(Vec<Element<'a>>, &'a Form),
}

type Alternatives<'a> = Vec<Vec<Element<'a>>>;

/// Reads `(defrule name "comment" (declare (salience n)) … => …)`.
pub(crate) fn parse(form: &Form, templates: &Templates, room: &Room) -> Result<Rule, RuleError> {
    let items = form.list().unwrap_or_default();
    let name = items.get(1).and_then(Form::symbol).ok_or_else(|| {
        RuleError::refused(form.span, "a defrule needs a name")
            .hint("(defrule name (pattern) => (assert (fact)))")
    })?;
    let mut left = items.get(2..).unwrap_or_default();
    if let Some(Form {
        kind: FormKind::Atom(Value::String(_)),
        ..
    }) = left.first()
    {
        left = left.get(1..).unwrap_or_default();
    }
    let mut salience = 0;
    if left.first().and_then(Form::head) == Some("declare") {
        salience = left.first().map_or(Ok(0), parse_salience)?;
        left = left.get(1..).unwrap_or_default();
    }
    let Some(arrow) = left.iter().position(|item| item.is("=>")) else {
        return Err(RuleError::refused(form.span, format!("rule {name} has no `=>`"))
            .hint("(defrule name (pattern) => (assert (fact)))"));
    };
    let actions = left.get(arrow + 1..).unwrap_or_default();
    let branches = branches(
        left.get(..arrow).unwrap_or_default(),
        actions,
        templates,
        (form.span, room),
    )?;
    Ok(Rule {
        name: name.into(),
        salience,
        branches,
    })
}

fn parse_salience(form: &Form) -> Result<i32, RuleError> {
    let wrong = || {
        RuleError::refused(form.span, "a rule declares its salience and nothing else")
            .hint("(declare (salience 10)), from -10000 to 10000")
    };
    match form.list().unwrap_or_default() {
        [_, salience] if salience.head() == Some("salience") => match salience.list().unwrap_or_default() {
            [
                _,
                Form {
                    kind: FormKind::Atom(Value::Integer(value)),
                    ..
                },
            ] if (-10_000..=10_000).contains(value) => i32::try_from(*value).map_err(|_| wrong()),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

/// Compiles the left-hand side and, for each of its alternatives, the right-hand side.
pub(crate) fn branches(
    left: &[Form],
    right: &[Form],
    templates: &Templates,
    place: (Span, &Room),
) -> Result<Vec<Branch>, RuleError> {
    let alternatives = conjunction(left)?;
    alternatives
        .iter()
        .map(|elements| branch(elements, right, templates, place))
        .collect()
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

struct Builder<'a> {
    templates: &'a Templates,
    fresh: Variable,
    patterns: usize,
}

fn branch(
    elements: &[Element<'_>],
    right: &[Form],
    templates: &Templates,
    (span, room): (Span, &Room),
) -> Result<Branch, RuleError> {
    let mut builder = Builder {
        templates,
        fresh: 0,
        patterns: 0,
    };
    let mut scope = Scope::within(room);
    let mut group = builder.group(elements, &mut scope, true)?;
    if group.patterns.is_empty() {
        // What has no fact to fire on fires on the one that is always there.
        let initial = Form {
            kind: FormKind::List(vec![Form {
                kind: FormKind::Atom(Value::symbol("initial-fact")),
                span,
            }]),
            span,
        };
        let mut naming = Naming {
            templates,
            scope: &mut scope,
            fresh: &mut builder.fresh,
        };
        group
            .patterns
            .push(Arc::new(pattern::compile(&initial, &mut naming)?.0));
    }
    let names = scope
        .names()
        .map(|(name, variable)| (name.into(), variable))
        .collect();
    let addresses: Vec<_> = group
        .patterns
        .iter()
        .filter_map(|pattern| Some((pattern.address?, pattern.template.clone())))
        .collect();
    let mut actions = Vec::new();
    for form in right {
        builder.action(form, &mut scope, &addresses, &mut actions)?;
    }
    Ok(Branch {
        group,
        variables: builder.fresh,
        names,
        actions,
    })
}

impl Builder<'_> {
    fn group(
        &mut self,
        elements: &[Element<'_>],
        scope: &mut Scope,
        outermost: bool,
    ) -> Result<Group, RuleError> {
        let mut group = Group::default();
        for element in elements {
            match element {
                Element::Pattern(form, address) => {
                    self.patterns += 1;
                    if self.patterns > PATTERNS {
                        return Err(RuleError::budget(
                            form.span,
                            format!("the rule has more patterns than the budget of {PATTERNS}"),
                        )
                        .hint(DIVIDE));
                    }
                    scope.room().take_pattern().map_err(|most| {
                        let message =
                            format!("all rules together have more patterns than the budget of {most}");
                        RuleError::budget(form.span, message).hint(
                            "every alternative of `or` counts by itself; `red|green` inside one field is one",
                        )
                    })?;
                    let mut naming = Naming {
                        templates: self.templates,
                        scope,
                        fresh: &mut self.fresh,
                    };
                    let (mut pattern, tests) = pattern::compile(form, &mut naming)?;
                    if let Some((name, span)) = address {
                        if !outermost {
                            return Err(RuleError::refused(
                                *span,
                                "a fact that must not be there cannot be bound",
                            )
                            .hint("take `?… <-` away inside of `not`, `exists` and `forall`"));
                        }
                        if scope.find(name).is_some() {
                            return Err(RuleError::refused(
                                *span,
                                format!("the variable ?{name} has a value already"),
                            )
                            .hint("give the fact another name"));
                        }
                        scope.bind(name, self.fresh);
                        pattern.address = Some(self.fresh);
                        self.fresh += 1;
                    }
                    let text = pattern.text.clone();
                    group.tests.extend(tests.into_iter().map(|expression| Test {
                        expression,
                        text: text.clone(),
                    }));
                    group.patterns.push(Arc::new(pattern));
                }
                Element::Test(form) => {
                    let expression = expression::compile(form, scope)?;
                    group.tests.push(Test {
                        expression,
                        text: format!("(test {})", text_of(form)),
                    });
                }
                Element::Not(inner, form) => {
                    // What a `not` binds ends with it.
                    let mut inner = self.group(inner, &mut scope.clone(), false)?;
                    inner.text = text_of(form);
                    group.nots.push(inner);
                }
            }
        }
        Ok(group)
    }

    fn action(
        &mut self,
        form: &Form,
        scope: &mut Scope,
        addresses: &[(Variable, Option<Lasting<Template>>)],
        actions: &mut Vec<Action>,
    ) -> Result<(), RuleError> {
        let items = form.list().unwrap_or_default();
        let arguments = items.get(1..).unwrap_or_default();
        let address = |form: &Form| {
            let name = match &form.kind {
                FormKind::Single(Some(name)) => Some(name),
                _ => None,
            };
            name.and_then(|name| scope.find(name))
                .and_then(|variable| addresses.iter().find(|(known, _)| *known == variable))
                .ok_or_else(|| {
                    RuleError::refused(form.span, "this is no fact of the left-hand side")
                        .hint("bind it: ?f <- (name …)")
                })
        };
        match form.head() {
            Some("assert") if !arguments.is_empty() => {
                for argument in arguments {
                    actions.push(Action::Assert(new_fact(argument, self.templates, scope)?));
                }
            }
            Some("retract") if !arguments.is_empty() => {
                for argument in arguments {
                    actions.push(Action::Retract(address(argument)?.0));
                }
            }
            Some("modify") if !arguments.is_empty() => {
                let target = arguments.first().unwrap_or(form);
                let (fact, template) = address(target)?;
                let Some(template) = template else {
                    return Err(
                        RuleError::refused(target.span, "an ordered fact has no slots to modify")
                            .hint("retract it and assert another"),
                    );
                };
                let changes = new_fact::slots(arguments.get(1..).unwrap_or_default(), template, scope)?;
                actions.push(Action::Modify {
                    fact: *fact,
                    template: template.clone(),
                    changes,
                });
            }
            Some("bind") => {
                let [
                    Form {
                        kind: FormKind::Single(Some(name)),
                        ..
                    },
                    value,
                ] = arguments
                else {
                    return Err(
                        RuleError::refused(form.span, "`bind` takes a variable and a value")
                            .hint("(bind ?x (+ ?y 1))"),
                    );
                };
                let expression = expression::compile(value, scope)?;
                scope.bind(name, self.fresh);
                actions.push(Action::Bind(self.fresh, expression));
                self.fresh += 1;
            }
            Some(head @ ("assert" | "retract" | "modify")) => {
                return Err(
                    RuleError::refused(form.span, format!("`{head}` needs an argument")).hint(match head {
                        "assert" => "(assert (name value))",
                        "retract" => "(retract ?f), where ?f <- (name …) is a pattern",
                        _ => "(modify ?f (slot value)), where ?f <- (name …) is a pattern",
                    }),
                );
            }
            Some(_) => actions.push(Action::Evaluate(expression::compile(form, scope)?)),
            None => {
                return Err(RuleError::refused(
                    form.span,
                    "an action is assert, retract, modify, bind or a function",
                )
                .hint("(assert (name value))"));
            }
        }
        if actions.len() > 64 {
            return Err(
                RuleError::budget(form.span, "the rule has more actions than the budget of 64").hint(DIVIDE),
            );
        }
        Ok(())
    }
}
