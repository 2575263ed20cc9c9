//! What happened in a run, and why a rule did not fire.

use crate::budget::Exhausted;
use crate::fact::{Fact, FactId, Facts};
use crate::network::{Branch, Partial, Plan, Search};
use crate::rule::Rule;
use crate::shared::Lasting;
use std::fmt;
use std::ops::ControlFlow;

/// A rule that fired.
#[derive(Debug, Clone, PartialEq)]
pub struct Firing {
    /// Its name.
    pub rule: Lasting<str>,
    /// The facts that it matched, in the order of its patterns.
    pub facts: Vec<(FactId, Fact)>,
    /// The facts that it made.
    pub asserted: Vec<(FactId, Fact)>,
    /// The facts that it took away.
    pub retracted: Vec<FactId>,
}

impl fmt::Display for Firing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.rule)?;
        for (at, (id, fact)) in self.facts.iter().enumerate() {
            write!(f, "{} f-{id} {fact}", if at == 0 { " on" } else { "," })?;
        }
        for (id, fact) in &self.asserted {
            write!(f, "; asserted f-{id} {fact}")?;
        }
        for id in &self.retracted {
            write!(f, "; retracted f-{id}")?;
        }
        Ok(())
    }
}

/// What a run did.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// The rules that fired, in order.
    pub firings: Vec<Firing>,
    /// The facts at the end, in order, `(initial-fact)` included.
    pub facts: Vec<(FactId, Fact)>,
    /// Tests that could not be evaluated. They did not match; a mandatory mount fails closed on them.
    pub errors: Vec<String>,
    /// Match operations spent.
    pub operations: u64,
}

/// Why a rule did not fire.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The rule.
    pub rule: String,
    /// The reason, one per alternative of its `or`s.
    pub reasons: Vec<String>,
}

/// Finds the first thing in each alternative of the rule that stood in the way.
pub(crate) fn explain(
    rule: &Rule,
    at: usize,
    branches: &[Branch],
    facts: &Facts,
    search: &mut Search<'_>,
) -> Result<Explanation, Exhausted> {
    let mut reasons = Vec::new();
    for branch in branches.iter().filter(|branch| branch.rule == at) {
        reasons.push(reason(branch, facts, search)?);
    }
    Ok(Explanation {
        rule: rule.name.to_string(),
        reasons,
    })
}

/// What stands against a pattern that no fact matches: whether there are facts of its name at all, and one of them.
fn unmatched(text: &str, name: &str, facts: &Facts) -> String {
    let mut named = facts.iter().filter(|(_, fact)| fact.name() == name);
    match named.next() {
        None => format!("no fact matches {text}: there is none of the name {name}"),
        Some((id, fact)) => {
            let shown: String = fact.to_string().chars().take(200).collect();
            match named.count() {
                0 => format!("no fact matches {text}: there is only f-{id} {shown}"),
                more => format!("no fact matches {text}: not f-{id} {shown}, nor {more} more"),
            }
        }
    }
}

fn reason(branch: &Branch, facts: &Facts, search: &mut Search<'_>) -> Result<String, Exhausted> {
    let group = &branch.group;
    let text = |position: usize| {
        let memory = group
            .memories
            .get(position)
            .and_then(|id| search.memories.get(*id));
        memory.map_or_else(String::new, |memory| memory.pattern.text.clone())
    };
    for memory in group.memories.iter().filter_map(|id| search.memories.get(*id)) {
        if memory.len() == 0 {
            return Ok(unmatched(&memory.pattern.text, &memory.pattern.name, facts));
        }
    }
    // The longest beginning of the join order that has a match.
    let steps = &group.plan.steps;
    for length in 1..=steps.len() {
        let plan = Plan {
            steps: steps.get(..length).unwrap_or_default().to_vec(),
        };
        let mut partial = Partial::new(branch.variables, group.memories.len());
        let mut found = false;
        let _: ControlFlow<()> = search.run(&plan, &group.tests, 0, &mut partial, &mut |_, _| {
            found = true;
            Ok(ControlFlow::Break(()))
        })?;
        if !found {
            let position = steps.get(length - 1).map_or(0, |step| step.position);
            let before: Vec<_> = steps
                .iter()
                .take(length - 1)
                .map(|step| text(step.position))
                .collect();
            return Ok(if before.is_empty() {
                format!("no fact passes the tests of {}", text(position))
            } else {
                format!(
                    "no fact for {} agrees with those for {}",
                    text(position),
                    before.join(" ")
                )
            });
        }
    }
    let mut blocker = None;
    let mut partial = Partial::new(branch.variables, group.memories.len());
    let _: ControlFlow<()> = search.run(
        &group.plan,
        &group.tests,
        0,
        &mut partial,
        &mut |search, partial| {
            blocker = search
                .blocked(&group.nots, partial)?
                .map(|group| group.text.clone());
            Ok(if blocker.is_some() {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        },
    )?;
    Ok(match blocker {
        Some(text) => format!("its patterns match, but {text} does not hold"),
        None => "it matched too late or its facts were taken away before it could fire".to_owned(),
    })
}
