//! `when` strings of the IR: a left-hand side alone. What follows from a match is JSON and not ours.

use crate::budget::{Budget, Room};
use crate::condition::Sense;
use crate::error::{RuleError, RunError};
use crate::fact::Fact;
use crate::pattern::Pattern;
use crate::program::Program;
use crate::reader::{Form, TextLimits, read};
use crate::rule::{self, Right, Rule};
use crate::session::Session;
use crate::shared::Lasting;
use crate::sugar;
use crate::template::Template;
use crate::value::Value;
use std::sync::Arc;

/// A compiled `when`: patterns such as `(severity ?s&:(>= ?s 4))`, or `{node: work, verdict: refine}`. Empty always holds.
#[derive(Debug, Clone)]
pub struct When {
    program: Program,
}

/// One way in which a `when` holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Match {
    /// The facts, in the order of the patterns.
    pub facts: Vec<Fact>,
    /// The variables with names and their values.
    pub bindings: Vec<(String, Value)>,
}

/// A fact that a `when` asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Need<'w> {
    /// Its name.
    pub name: &'w str,
    /// How many values it has at least.
    pub values: usize,
    /// Whether it may have more (`$?`).
    pub or_more: bool,
    /// The constant at each place, where there is one.
    pub literals: Vec<Option<&'w Value>>,
}

impl<'w> Need<'w> {
    fn of(pattern: &'w Pattern) -> Self {
        let (values, or_more, literals) = pattern.fields();
        Self {
            name: &pattern.name,
            values,
            or_more,
            literals,
        }
    }
}

/// The answer of a `when`.
#[derive(Debug, Clone, PartialEq)]
pub struct WhenOutcome {
    /// All matches, in the order of the facts.
    pub matches: Vec<Match>,
    /// Tests that could not be evaluated; governance fails closed on them.
    pub errors: Vec<String>,
}

impl WhenOutcome {
    /// Whether it holds at all.
    #[must_use]
    pub fn holds(&self) -> bool {
        !self.matches.is_empty()
    }
}

impl When {
    /// Compiles a `when` over ordered facts.
    pub fn compile(text: &str) -> Result<Self, RuleError> {
        Self::compile_with(text, std::iter::empty())
    }

    /// Compiles a `when` that may use these templates.
    pub fn compile_with(
        text: &str,
        templates: impl IntoIterator<Item = Lasting<Template>>,
    ) -> Result<Self, RuleError> {
        let mut program = Program::default();
        program.templates.extend(
            templates
                .into_iter()
                .map(|template| (Arc::from(template.name()), template)),
        );
        let forms = if text.trim_start().starts_with('{') {
            sugar::read(text)?
        } else {
            read(text, TextLimits::WHEN)?
        };
        if let Some(arrow) = forms.iter().find(|form| form.is("=>")) {
            return Err(RuleError::refused(arrow.span, "a `when` has no right-hand side")
                .hint("put the actions into `then`"));
        }
        if let Some(rule) = forms
            .iter()
            .find(|form| matches!(form.head(), Some("defrule" | "deftemplate" | "deffacts")))
        {
            return Err(
                RuleError::refused(rule.span, "a `when` is patterns, not a rule file")
                    .hint("(severity ?s&:(>= ?s 4))"),
            );
        }
        let branches = rule::branches(&forms, &[], &program.templates, &Room::default())?;
        program.add(Rule {
            name: "when".into(),
            span: forms.first().map(|form: &Form| form.span).unwrap_or_default(),
            salience: 0,
            branches,
        });
        Ok(Self { program })
    }

    /// The facts that must be there, one list for each alternative of its `or`s: when every list asks for a fact that there
    /// cannot be, it never holds. What stands inside `not` and `exists` is not listed.
    pub fn needs(&self) -> impl Iterator<Item = Vec<Need<'_>>> {
        let branches = self.program.rules.iter().flat_map(|rule| &rule.branches);
        branches.map(|branch| {
            let positive = branch
                .joints
                .iter()
                .filter(|joint| joint.sense == Sense::Positive);
            let patterns = positive.filter_map(|joint| match &joint.right {
                Right::Pattern(pattern) => Some(Need::of(pattern)),
                _ => None,
            });
            patterns.collect()
        })
    }

    /// Looks for all matches among the facts. `(initial-fact)` is always one of them.
    pub fn evaluate(
        &self,
        facts: impl IntoIterator<Item = Fact>,
        budget: Budget,
    ) -> Result<WhenOutcome, RunError> {
        let mut session = Session::new(&self.program, budget)?;
        for fact in facts {
            session.assert(fact)?;
        }
        // Nothing fires here, so there is no order of firing: the order is that of the facts.
        let mut waiting: Vec<_> = session.waiting().collect();
        waiting.sort_by(|(one, _), (other, _)| one.cmp(other));
        let matches = waiting
            .into_iter()
            .map(|(facts, bindings)| Match {
                facts: facts.iter().filter_map(|id| session.fact(*id).cloned()).collect(),
                bindings: bindings
                    .into_iter()
                    .filter(|(_, value)| !matches!(value, Value::Fact(_)))
                    .collect(),
            })
            .collect();
        Ok(WhenOutcome {
            matches,
            errors: session.errors().to_vec(),
        })
    }
}

impl Fact {
    /// Reads one ordered fact of constants, such as `(severity 5)`.
    pub fn parse(text: &str) -> Result<Self, RuleError> {
        Self::parse_with(text, &Program::default())
    }

    /// Reads one fact of constants; the program's templates have slots.
    pub fn parse_with(text: &str, program: &Program) -> Result<Self, RuleError> {
        let forms = read(text, TextLimits::WHEN)?;
        let [form] = forms.as_slice() else {
            let span = forms.first().map(|form: &Form| form.span).unwrap_or_default();
            return Err(RuleError::refused(span, "one fact is expected").hint("(name value)"));
        };
        let new = rule::new_fact(form, &program.templates, &crate::expression::Scope::default())?;
        let mut meter = crate::budget::Meter::new(Budget::default());
        let mut values = Vec::new();
        for (at, expressions) in &new.slots {
            let mut slot = Vec::new();
            for expression in expressions {
                let value = expression.evaluate(&[][..], &mut meter).map_err(|_| {
                    RuleError::refused(form.span, "a value of the fact cannot be computed")
                        .hint("write the value itself")
                })?;
                slot.push(value.into_owned());
            }
            values.push((*at, slot));
        }
        let Some(template) = &new.template else {
            return Ok(Self::ordered(
                &new.name,
                values.pop().map(|(_, slot)| slot).unwrap_or_default(),
            ));
        };
        let given: Vec<_> = values
            .into_iter()
            .filter_map(|(at, mut slot)| {
                let known = template.slots().get(at)?;
                let value = if known.is_multislot() {
                    Value::Multifield(slot.into())
                } else {
                    slot.pop()?
                };
                Some((known.name(), value))
            })
            .collect();
        Self::of_template(template, &given).map_err(|message| {
            let known: Vec<_> = template.slots().iter().map(|slot| slot.name()).collect();
            RuleError::refused(form.span, message).hint(format!(
                "{} has {}",
                template.name(),
                known.join(", ")
            ))
        })
    }
}
