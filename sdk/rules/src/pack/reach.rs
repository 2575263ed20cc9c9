//! Which rules of a pack can fire, and act, at the moments at which the pack is asked.
//!
//! A rule that waits for the output of a step in a pack that is asked before steps is no mistake of the language, and does nothing
//! for ever. What is found here is certain: whatever depends on values that are known only later counts as possible.

use super::Ruleset;
use crate::condition::Sense;
use crate::error::RuleError;
use crate::expression::Expression;
use crate::function::Function;
use crate::pattern::{Pattern, StepTest};
use crate::place::{Getter, Place, Side};
use crate::rule::{Action, Branch, Joint, NewFact, Right, Rule};
use crate::value::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A moment at which a pack can be asked, as far as its rules depend on it.
#[derive(Debug, Clone)]
pub struct Occasion<'a> {
    /// Its name.
    pub name: &'a str,
    /// Whether the pack is asked then.
    pub is_asked: bool,
    /// The facts of the host's templates that can be there: the template, and a slot with the symbol that it has.
    pub facts: Vec<(&'a str, Option<(&'a str, &'a str)>)>,
    /// The actions that something comes of.
    pub actions: &'a [&'a str],
}

/// Most facts of one template that are told apart.
const MOST_ALIKE: usize = 32;

/// The slots of a fact that may be there, as far as they are known.
type Known = Vec<(usize, Value)>;

/// What can happen at one occasion.
struct Reach<'a> {
    occasion: &'a Occasion<'a>,
    facts: BTreeMap<&'a str, Vec<Known>>,
    /// The rules that can fire, each with the alternatives by which it can.
    fires: BTreeSet<(usize, usize)>,
}

impl Ruleset {
    /// Every rule that can never fire or never act at the occasions at which the pack is asked, with the reason.
    #[must_use]
    pub fn idle_rules(&self, occasions: &[Occasion<'_>]) -> Vec<RuleError> {
        let reaches: Vec<Reach<'_>> = occasions.iter().map(|one| Reach::of(self, one)).collect();
        let rules = self.program.rules.iter().enumerate();
        rules
            .flat_map(|(at, rule)| idle(self, at, rule, &reaches))
            .collect()
    }

    /// Ordered facts and those of other packs may be there at any time.
    fn comes_from_outside(&self, name: &str) -> bool {
        self.program.template(name).is_none() || name.contains("::")
    }
}

impl<'a> Reach<'a> {
    fn of(rules: &'a Ruleset, occasion: &'a Occasion<'a>) -> Self {
        let program = &rules.program;
        let mut reach = Self {
            occasion,
            facts: BTreeMap::new(),
            fires: BTreeSet::new(),
        };
        for (name, known) in &occasion.facts {
            let slot = known.and_then(|(slot, value)| {
                let (at, _) = program.template(name)?.slot(slot)?;
                Some((at, Value::symbol(value)))
            });
            reach.add(name, slot.into_iter().collect());
        }
        for fact in &program.facts {
            reach.add(&fact.name, known_slots(fact));
        }
        // Every round adds an alternative of a rule, or is the last.
        while reach.grow(rules) {}
        reach
    }

    fn add(&mut self, name: &'a str, known: Known) {
        let alike = self.facts.entry(name).or_default();
        match alike.len() {
            MOST_ALIKE.. => *alike = vec![Known::new()],
            _ if alike.contains(&known) => {}
            _ => alike.push(known),
        }
    }

    /// Whether more rules can fire than was known before.
    fn grow(&mut self, rules: &'a Ruleset) -> bool {
        let mut has_grown = false;
        for (at, rule) in rules.program.rules.iter().enumerate() {
            for (number, branch) in rule.branches.iter().enumerate() {
                let place = (at, number);
                if self.fires.contains(&place) || self.lacks(rules, &branch.joints).is_some() {
                    continue;
                }
                has_grown = true;
                self.fires.insert(place);
                for action in &branch.actions {
                    match action {
                        Action::Assert(fact) => self.add(&fact.name, known_slots(fact)),
                        Action::Modify { template, .. } => self.add(template.name(), Known::new()),
                        Action::Retract(_) | Action::Bind(..) | Action::Evaluate(_) => {}
                    }
                }
            }
        }
        has_grown
    }

    /// The first pattern for which no fact can be there. Groups nest as deep as the text, which the reader bounds.
    fn lacks<'j>(&self, rules: &Ruleset, joints: &'j [Joint]) -> Option<&'j Pattern> {
        joints
            .iter()
            .filter(|joint| joint.sense != Sense::Negated)
            .find_map(|joint| match &joint.right {
                Right::Nothing => None,
                Right::Pattern(pattern) => (!self.has(rules, pattern)).then_some(&**pattern),
                Right::Group(inner) => self.lacks(rules, inner),
            })
    }

    fn has(&self, rules: &Ruleset, pattern: &Pattern) -> bool {
        let facts = self.facts.get(&*pattern.name);
        rules.comes_from_outside(&pattern.name)
            || facts.is_some_and(|facts| facts.iter().any(|known| may_match(pattern, known)))
    }
}

fn known_slots(fact: &NewFact) -> Known {
    let Some(template) = &fact.template else {
        return Known::new();
    };
    let slots = template.slots().iter().enumerate();
    slots
        .filter(|(_, slot)| !slot.is_multislot())
        .filter_map(|(at, slot)| {
            let given = fact.slots.iter().find(|(place, _)| *place == at);
            match given.map(|(_, values)| values.as_slice()) {
                None => Some((at, slot.default_value()?)),
                Some([Expression::Value(value)]) => Some((at, value.clone())),
                Some(_) => None,
            }
        })
        .collect()
}

fn may_match(pattern: &Pattern, slots: &[(usize, Value)]) -> bool {
    let known = |getter: Getter| match getter {
        Getter::Slot(at) => slots.iter().find(|(slot, _)| *slot == at).map(|(_, value)| value),
        _ => None,
    };
    pattern.steps.iter().all(|step| match &step.test {
        StepTest::Constant(getter, wanted) => known(*getter).is_none_or(|value| value == wanted),
        StepTest::All(tests) => tests
            .iter()
            .all(|test| holds(&test.expression, &known) != Some(false)),
    })
}

/// Whether a test about one fact holds, where that can be told from what is known of the fact.
fn holds<'v>(test: &'v Expression<Place>, known: &dyn Fn(Getter) -> Option<&'v Value>) -> Option<bool> {
    let value = |expression: &'v Expression<Place>| match expression {
        Expression::Value(value) => Some(value),
        Expression::Variable(place) if place.side == Side::Own => known(place.getter),
        _ => None,
    };
    let Expression::Call(function, parts) = test else {
        return value(test).map(Value::is_true);
    };
    let all = |wanted: bool| {
        let mut sum = Some(wanted);
        for part in parts {
            match holds(part, known) {
                Some(holds) if holds == wanted => {}
                Some(holds) => return Some(holds),
                None => sum = None,
            }
        }
        sum
    };
    match (function, parts.as_slice()) {
        (Function::And, _) => all(true),
        (Function::Or, _) => all(false),
        (Function::Not, [inner]) => holds(inner, known).map(|holds| !holds),
        (Function::Is | Function::Same, [one, two]) => Some(value(one)? == value(two)?),
        (Function::IsNot | Function::Different, [one, two]) => Some(value(one)? != value(two)?),
        _ => None,
    }
}

/// What is wrong with one rule.
fn idle(rules: &Ruleset, at: usize, rule: &Rule, reaches: &[Reach<'_>]) -> Vec<RuleError> {
    let asked = || reaches.iter().filter(|reach| reach.occasion.is_asked);
    let fires = |reach: &&Reach<'_>| reach.fires.range((at, 0)..(at + 1, 0)).next().is_some();
    if !asked().any(|reach| fires(&reach)) {
        let first = rule.branches.first();
        return first
            .map(|branch| never_fires(rules, rule, branch, reaches))
            .into_iter()
            .collect();
    }
    let mut found = Vec::new();
    let actions = rule.branches.iter().flat_map(|branch| &branch.actions);
    let mut seen = Vec::new();
    for action in actions.filter_map(|action| match action {
        Action::Assert(fact) => fact.literal("decision", "action"),
        _ => None,
    }) {
        let is_done = |reach: &Reach<'_>| reach.occasion.actions.contains(&action);
        if seen.contains(&action) || asked().filter(fires).any(is_done) {
            continue;
        }
        seen.push(action);
        let message = format!(
            "rule {} can ask for `{action}` only at {}, where nothing comes of it",
            rule.name,
            names(asked().filter(fires)),
        );
        let hint = format!(
            "`{action}` is carried out at {}: add one of them to `moments` in pack.toml, and let the rule look at what is there then",
            names(reaches.iter().filter(|reach| is_done(reach)))
        );
        found.push(RuleError::refused(rule.span, message).hint(hint));
    }
    found
}

fn never_fires(rules: &Ruleset, rule: &Rule, branch: &Branch, reaches: &[Reach<'_>]) -> RuleError {
    let asked = names(reaches.iter().filter(|reach| reach.occasion.is_asked));
    let refused = |why: String| {
        let message = format!("rule {} can never fire: {why}", rule.name);
        RuleError::refused(rule.span, message)
    };
    let lacking = reaches
        .iter()
        .filter(|reach| reach.occasion.is_asked)
        .find_map(|reach| reach.lacks(rules, &branch.joints));
    let Some(pattern) = lacking else {
        return refused(format!(
            "the pack is asked at no moment at which it could ({asked})"
        ))
        .hint("add a moment to `moments` in pack.toml");
    };
    let there = |reach: &&Reach<'_>| reach.has(rules, pattern);
    let is_there_when_asked = reaches
        .iter()
        .filter(|reach| reach.occasion.is_asked)
        .any(|reach| there(&reach));
    let elsewhere = names(reaches.iter().filter(there));
    if is_there_when_asked {
        return refused(format!(
            "what it waits for is not there together at any moment at which the pack is asked ({asked})"
        ))
        .hint(format!(
            "{} is there at {elsewhere}; divide the rule, or add a moment to `moments` in pack.toml",
            pattern.text
        ));
    }
    if elsewhere.is_empty() {
        return refused(format!("nothing makes a fact that matches {}", pattern.text)).hint(format!(
            "let a rule that can fire, or deffacts, assert ({} …), or leave the rule out",
            pattern.name
        ));
    }
    refused(format!(
        "{} is there at {elsewhere}, and the pack is asked at {asked}",
        pattern.text
    ))
    .hint(format!(
        "add {elsewhere} to `moments` in pack.toml, or leave the rule out"
    ))
}

fn names<'r, 'a: 'r>(reaches: impl Iterator<Item = &'r Reach<'a>>) -> String {
    let names: Vec<&str> = reaches.map(|reach| reach.occasion.name).collect();
    names.join(", ")
}
