//! What happened in a run, and why a rule did not fire.

use crate::condition::Sense;
use crate::fact::{Fact, FactId, Facts};
use crate::network::{Input, JoinId};
use crate::rete::Rete;
use crate::rule::{Joint, Right, Rule};
use crate::shared::Lasting;
use std::fmt;

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
pub(crate) fn explain(rule: &Rule, at: usize, rete: &Rete<'_>) -> Explanation {
    let endings = rete.network.endings.iter().filter(|ending| ending.rule == at);
    let reasons = endings.filter_map(|ending| {
        let branch = rule.branches.get(ending.branch)?;
        Some(reason(&branch.joints, &ending.path, rete))
    });
    Explanation {
        rule: rule.name.to_string(),
        reasons: reasons.collect(),
    }
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

fn reason(joints: &[Joint], path: &[JoinId], rete: &Rete<'_>) -> String {
    let positive = |joint: &&Joint| joint.sense == Sense::Positive;
    let patterns = joints.iter().zip(path);
    let matched = |join: &JoinId| match rete.network.joins.get(*join).map(|join| join.input) {
        Some(Input::Facts(alpha)) => rete.memories.alphas.get(alpha).map_or(0, |memory| memory.count),
        _ => 0,
    };
    for (joint, join) in patterns.clone().filter(|(joint, _)| positive(joint)) {
        if let Right::Pattern(pattern) = &joint.right
            && matched(join) == 0
        {
            return unmatched(&pattern.text, &pattern.name, &rete.facts);
        }
    }
    // The first condition behind which nothing waits.
    let waits = |join: Option<&JoinId>| {
        let memory = join.and_then(|join| rete.memories.lefts.get(*join));
        memory.is_some_and(|memory| memory.count > 0)
    };
    for (at, joint) in joints.iter().enumerate() {
        if waits(path.get(at + 1)) {
            continue;
        }
        let before: Vec<&str> = joints
            .iter()
            .take(at)
            .filter(positive)
            .map(|joint| &*joint.text)
            .collect();
        return match (&joint.right, joint.sense) {
            (Right::Pattern(_), Sense::Positive) if before.is_empty() => {
                format!("no fact passes the tests of {}", joint.text)
            }
            (Right::Pattern(_), Sense::Positive) => format!(
                "no fact for {} agrees with those for {}",
                joint.text,
                before.join(" ")
            ),
            (Right::Nothing, _) => {
                let tests: Vec<&str> = joint.tests.iter().map(|test| &*test.text).collect();
                format!("{} does not hold", tests.join(" "))
            }
            _ => format!("its patterns match, but {} does not hold", joint.text),
        };
    }
    "it matched too late or its facts were taken away before it could fire".to_owned()
}
