//! Conditions to joints: every variable gets its place, and every test the facts that it is about.

use super::{Joint, Right, Test};
use crate::budget::Room;
use crate::condition::{Check, Condition, DIVIDE, PATTERNS, Sense, Subject};
use crate::constraint::Field;
use crate::error::RuleError;
use crate::expression::{self, Expression, Scope, Variable};
use crate::function::Function;
use crate::pattern::{self, flatten, text_of};
use crate::place::{Getter, Place, Side};
use crate::program::Templates;
use crate::reader::{Form, Span};
use crate::shared::Lasting;
use crate::template::Template;
use std::sync::Arc;

/// Where a variable of a left-hand side stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Bound {
    /// The position of its condition.
    pub(crate) position: usize,
    pub(crate) getter: Getter,
    /// Inside how many groups.
    depth: usize,
    many: bool,
}

/// Compiles one alternative of a left-hand side.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    pub(crate) templates: &'a Templates,
    pub(crate) scope: Scope,
    pub(super) bound: Vec<Bound>,
    /// Variables that stand for facts, with their templates.
    pub(super) addresses: Vec<(Variable, Option<Lasting<Template>>)>,
    /// The position of the condition that is being compiled; none for a test about the facts before.
    position: Option<usize>,
    /// For each group around it: the variables from outside that it looks at.
    groups: Vec<Vec<Variable>>,
    patterns: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(templates: &'a Templates, room: &Room) -> Self {
        Self {
            templates,
            scope: Scope::within(room),
            bound: Vec::new(),
            addresses: Vec::new(),
            position: None,
            groups: Vec::new(),
            patterns: 0,
        }
    }

    /// Compiles conditions, the first of which has this position.
    pub(super) fn conditions(
        &mut self,
        conditions: &[Condition<'_>],
        position: usize,
    ) -> Result<Vec<Joint>, RuleError> {
        let mut joints = Vec::new();
        for (at, condition) in conditions.iter().enumerate() {
            joints.push(self.condition(condition, position + at)?);
        }
        Ok(joints)
    }

    fn condition(&mut self, condition: &Condition<'_>, position: usize) -> Result<Joint, RuleError> {
        // What is bound where nothing is there ends with it.
        let outside = (condition.sense != Sense::Positive).then(|| self.scope.clone());
        let text: Lasting<str> = condition.form.map(text_of).unwrap_or_default().as_str().into();
        let mut joint = Joint {
            right: Right::Nothing,
            sense: condition.sense,
            tests: Vec::new(),
            after: Vec::new(),
            left_key: Vec::new(),
            right_key: Vec::new(),
            text: text.clone(),
        };
        self.position = Some(position);
        match &condition.subject {
            Subject::Nothing => {}
            Subject::Pattern(form, address) => {
                self.count(form)?;
                let (pattern, joining) = pattern::compile(form, self)?;
                let template = pattern.template.clone();
                let text: Lasting<str> = pattern.text.as_str().into();
                joint
                    .tests
                    .extend(joining.tests.into_iter().map(|expression| Test {
                        expression,
                        text: text.clone(),
                    }));
                joint.left_key = joining.key;
                joint.right = Right::Pattern(Arc::new(pattern));
                if let Some((name, span)) = address {
                    self.bind_address(name, *span, template, condition.sense)?;
                }
            }
            Subject::Group(inner) => {
                self.groups.push(Vec::new());
                joint.right = Right::Group(self.conditions(inner, position)?);
                for variable in self.groups.pop().unwrap_or_default() {
                    self.unify(variable, &mut joint);
                }
                self.position = Some(position);
            }
        }
        self.checks(&condition.tests, &mut joint.tests)?;
        if let Some(outside) = outside {
            self.scope = outside;
        }
        self.position = None;
        self.checks(&condition.after, &mut joint.after)?;
        Ok(joint)
    }

    fn count(&mut self, form: &Form) -> Result<(), RuleError> {
        self.patterns += 1;
        if self.patterns > PATTERNS {
            return Err(RuleError::budget(
                form.span,
                format!("the rule has more patterns than the budget of {PATTERNS}"),
            )
            .hint(DIVIDE));
        }
        self.scope.room().take_pattern().map_err(|most| {
            let message = format!("all rules together have more patterns than the budget of {most}");
            RuleError::budget(form.span, message)
                .hint("every alternative of `or` counts by itself; `red|green` inside one field is one")
        })
    }

    /// A match of the group and a match before it must have the same value.
    fn unify(&self, variable: Variable, joint: &mut Joint) {
        let Some(bound) = self.bound.get(variable) else {
            return;
        };
        let at = |side: Side| Place {
            side,
            getter: bound.getter,
        };
        let (left, right) = (at(Side::Left(bound.position)), at(Side::Group(bound.position)));
        joint.tests.push(Test {
            expression: Expression::Call(
                Function::Same,
                vec![Expression::Variable(right), Expression::Variable(left)],
            ),
            text: joint.text.clone(),
        });
        joint.left_key.push(left);
        joint.right_key.push(right);
    }

    fn checks(&mut self, checks: &[Check<'_>], tests: &mut Vec<Test>) -> Result<(), RuleError> {
        for check in checks {
            let (expression, text) = self.check(check)?;
            let text: Lasting<str> = text.as_str().into();
            let mut parts = Vec::new();
            flatten(expression, &mut parts);
            tests.extend(parts.into_iter().map(|expression| Test {
                expression,
                text: text.clone(),
            }));
        }
        Ok(())
    }

    fn check(&mut self, check: &Check<'_>) -> Result<(Expression<Place>, String), RuleError> {
        match check {
            Check::Holds(form) => {
                let expression = expression::compile(form, &self.scope)?;
                let placed = expression.map(&mut |variable| self.place(*variable));
                Ok((placed, format!("(test {})", text_of(form))))
            }
            Check::Not(inner) => {
                let (mut parts, mut texts) = (Vec::new(), Vec::new());
                for check in inner {
                    let (expression, text) = self.check(check)?;
                    flatten(expression, &mut parts);
                    texts.push(text);
                }
                let whole = match parts.len() {
                    1 => parts.pop(),
                    _ => Some(Expression::Call(Function::And, parts)),
                };
                let turned = Expression::Call(Function::Not, whole.into_iter().collect());
                Ok((turned, format!("(not {})", texts.join(" "))))
            }
        }
    }

    /// Binds a variable of a field; the one of the same name that has a value already, if there is one.
    pub(crate) fn bind(
        &mut self,
        name: &str,
        getter: Getter,
        field: &Field,
    ) -> Result<Option<Variable>, RuleError> {
        let before = match self.scope.find(name) {
            Some(_) => Some(self.compared(name, field, field.span)?),
            None => None,
        };
        self.fresh(name, getter, field.many);
        Ok(before)
    }

    /// The variable of a field that must have a value already.
    pub(crate) fn compared(&self, name: &str, field: &Field, span: Span) -> Result<Variable, RuleError> {
        let Some(variable) = self.scope.find(name) else {
            return Err(
                RuleError::refused(span, format!("the variable ?{name} has no value here"))
                    .hint("bind it first: alone in an earlier field, or before `&`, as in ?x&~red"),
            );
        };
        let bound = self.bound.get(variable);
        if bound.is_some_and(|bound| bound.many != field.many) {
            return Err(RuleError::refused(
                span,
                format!("?{name} stands for one value here and for several there"),
            )
            .hint("give one of them another name"));
        }
        Ok(variable)
    }

    fn fresh(&mut self, name: &str, getter: Getter, many: bool) -> Variable {
        let variable = self.bound.len();
        self.bound.push(Bound {
            position: self.position.unwrap_or(0),
            getter,
            depth: self.groups.len(),
            many,
        });
        self.scope.bind(name, variable);
        variable
    }

    fn bind_address(
        &mut self,
        name: &str,
        span: Span,
        template: Option<Lasting<Template>>,
        sense: Sense,
    ) -> Result<(), RuleError> {
        if sense != Sense::Positive || !self.groups.is_empty() {
            return Err(
                RuleError::refused(span, "a fact that must not be there cannot be bound")
                    .hint("take `?… <-` away inside of `not`, `exists` and `forall`"),
            );
        }
        if self.scope.find(name).is_some() {
            return Err(
                RuleError::refused(span, format!("the variable ?{name} has a value already"))
                    .hint("give the fact another name"),
            );
        }
        let variable = self.fresh(name, Getter::Address, false);
        self.addresses.push((variable, template));
        Ok(())
    }

    /// Where a variable stands, seen from the condition that is being compiled. A group that looks at a variable from outside is
    /// joined by it.
    pub(crate) fn place(&mut self, variable: Variable) -> Place {
        let Some(bound) = self.bound.get(variable).copied() else {
            return Place {
                side: Side::Own,
                getter: Getter::Address,
            };
        };
        let side = match self.position == Some(bound.position) {
            true => Side::Own,
            false => Side::Left(bound.position),
        };
        if side != Side::Own {
            for group in self.groups.iter_mut().skip(bound.depth) {
                if !group.contains(&variable) {
                    group.push(variable);
                }
            }
        }
        Place {
            side,
            getter: bound.getter,
        }
    }
}
