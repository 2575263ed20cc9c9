//! `defrule`: conditional elements to groups of patterns, and the actions of the right-hand side.

mod builder;
mod new_fact;

pub(crate) use builder::{Bound, Builder};
pub(crate) use new_fact::new_fact;

use crate::budget::Room;
use crate::condition::{self, Condition, DIVIDE, Sense};
use crate::error::RuleError;
use crate::expression::{self, Expression, Scope, Variable};
use crate::pattern::Pattern;
use crate::place::Place;
use crate::program::Templates;
use crate::reader::{Form, FormKind, Span};
use crate::shared::Lasting;
use crate::template::Template;
use crate::value::Value;
use std::sync::Arc;

/// A rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) name: Lasting<str>,
    /// Where it stands, for what is said about it as a whole.
    pub(crate) span: Span,
    pub(crate) salience: i32,
    /// One per alternative of its `or`s.
    pub(crate) branches: Vec<Branch>,
}

/// One alternative of a rule: no `or` is left.
#[derive(Debug, Clone)]
pub(crate) struct Branch {
    pub(crate) joints: Vec<Joint>,
    /// Where the variables of the left-hand side stand.
    pub(crate) bound: Vec<Bound>,
    /// The number of variables, those of the right-hand side included.
    pub(crate) variables: usize,
    /// The variables that have names, for traces and bindings.
    pub(crate) names: Vec<(Box<str>, Variable)>,
    /// The variables of the left-hand side that the actions look at.
    pub(crate) wanted: Vec<Variable>,
    pub(crate) actions: Vec<Action>,
}

/// A test over several facts.
#[derive(Debug, Clone)]
pub(crate) struct Test {
    pub(crate) expression: Expression<Place>,
    pub(crate) text: Lasting<str>,
}

/// Where a test stands makes no difference to what it says.
impl PartialEq for Test {
    fn eq(&self, other: &Self) -> bool {
        self.expression == other.expression
    }
}

/// What a condition is joined with.
#[derive(Debug, Clone)]
pub(crate) enum Right {
    Nothing,
    Pattern(Arc<Pattern>),
    Group(Vec<Joint>),
}

/// A condition, compiled: what the network makes a join from.
#[derive(Debug, Clone)]
pub(crate) struct Joint {
    pub(crate) right: Right,
    pub(crate) sense: Sense,
    pub(crate) tests: Vec<Test>,
    /// Tests about the facts before, of a condition without a fact of its own.
    pub(crate) after: Vec<Test>,
    /// The values of facts before by which matches of the right side are found.
    pub(crate) left_key: Vec<Place>,
    /// The same values in a match of a group.
    pub(crate) right_key: Vec<Place>,
    pub(crate) text: Lasting<str>,
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

impl Action {
    /// Calls `seen` with every variable that it looks at.
    fn variables(&self, seen: &mut dyn FnMut(Variable)) {
        let all = |slots: &[(usize, Vec<Expression>)], seen: &mut dyn FnMut(Variable)| {
            for expression in slots.iter().flat_map(|(_, values)| values) {
                expression.variables(&mut |variable| seen(*variable));
            }
        };
        match self {
            Self::Assert(fact) => all(&fact.slots, seen),
            Self::Retract(variable) => seen(*variable),
            Self::Modify { fact, changes, .. } => {
                seen(*fact);
                all(changes, seen);
            }
            Self::Bind(_, expression) | Self::Evaluate(expression) => {
                expression.variables(&mut |variable| seen(*variable));
            }
        }
    }
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
    let branches = branches(left.get(..arrow).unwrap_or_default(), actions, templates, room)?;
    Ok(Rule {
        name: name.into(),
        span: items.get(1).map_or(form.span, |name| name.span),
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
    room: &Room,
) -> Result<Vec<Branch>, RuleError> {
    let alternatives = condition::read(left)?;
    alternatives
        .iter()
        .map(|conditions| branch(conditions, right, templates, room))
        .collect()
}

fn branch(
    conditions: &[Condition<'_>],
    right: &[Form],
    templates: &Templates,
    room: &Room,
) -> Result<Branch, RuleError> {
    let mut builder = Builder::new(templates, room);
    let joints = builder.conditions(conditions, 0)?;
    let mut scope = builder.scope.clone();
    let names: Vec<(Box<str>, Variable)> = scope
        .names()
        .filter(|(name, variable)| builder.scope.find(name) == Some(*variable))
        .map(|(name, variable)| (name.into(), variable))
        .collect();
    let bound = builder.bound.len();
    let mut actions = Actions {
        templates,
        addresses: &builder.addresses,
        fresh: bound,
        done: Vec::new(),
    };
    for form in right {
        actions.read(form, &mut scope)?;
    }
    let variables = actions.fresh;
    let actions = actions.done;
    let mut wanted = Vec::new();
    for action in &actions {
        action.variables(&mut |variable| {
            if variable < bound && !wanted.contains(&variable) {
                wanted.push(variable);
            }
        });
    }
    Ok(Branch {
        joints,
        bound: builder.bound,
        variables,
        names,
        wanted,
        actions,
    })
}

/// Reads right-hand sides.
struct Actions<'a> {
    templates: &'a Templates,
    addresses: &'a [(Variable, Option<Lasting<Template>>)],
    fresh: Variable,
    done: Vec<Action>,
}

impl Actions<'_> {
    fn read(&mut self, form: &Form, scope: &mut Scope) -> Result<(), RuleError> {
        let (addresses, actions) = (self.addresses, &mut self.done);
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
