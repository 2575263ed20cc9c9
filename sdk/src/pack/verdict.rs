//! What a pack in Rust concludes.

use super::Fact;
use serde_json::{Map, Value, json};
use std::time::Duration;

/// How much a decision matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Worth recording.
    Info,
    /// Worth a look.
    Warning,
    /// A rule was broken.
    Violation,
}

/// What should happen. Everything narrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// The run stops.
    Veto,
    /// The run waits for a person.
    Escalate,
    /// The failed step is tried again, if its own policy allows that.
    Retry,
    /// A text of the step's output is replaced.
    Redact,
    /// It is written into the journal.
    Annotate,
}

/// One conclusion.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    pub(crate) action: Action,
    pub(crate) severity: Severity,
    pub(crate) rule: String,
    pub(crate) reason: String,
    pub(crate) details: Map<String, Value>,
    pub(crate) facts: Vec<Value>,
}

/// What an evaluation comes to. Empty: nothing to say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    pub(crate) decisions: Vec<Decision>,
    pub(crate) shared: Vec<(String, Map<String, Value>)>,
}

impl Verdict {
    /// The run stops.
    pub fn veto(&mut self, rule: &str, reason: impl Into<String>) -> &mut Decision {
        self.add(Action::Veto, Severity::Violation, rule, reason.into())
    }

    /// The run waits for a person.
    pub fn escalate(&mut self, rule: &str, reason: impl Into<String>) -> &mut Decision {
        self.add(Action::Escalate, Severity::Warning, rule, reason.into())
    }

    /// The failed step is tried again after a while, if its own policy allows that.
    pub fn retry(&mut self, rule: &str, reason: impl Into<String>, after: Option<Duration>) -> &mut Decision {
        let decision = self.add(Action::Retry, Severity::Warning, rule, reason.into());
        if let Some(after) = after {
            let millis = u64::try_from(after.as_millis()).unwrap_or(u64::MAX);
            decision.details.insert("delay_ms".to_owned(), json!(millis));
        }
        decision
    }

    /// What the pattern matches in the text at this pointer of the output is replaced; all of it without a pattern.
    pub fn redact(
        &mut self,
        rule: &str,
        reason: impl Into<String>,
        pointer: &str,
        pattern: Option<&str>,
    ) -> &mut Decision {
        let decision = self.add(Action::Redact, Severity::Warning, rule, reason.into());
        decision.details.insert("pointer".to_owned(), json!(pointer));
        if let Some(pattern) = pattern {
            decision.details.insert("pattern".to_owned(), json!(pattern));
        }
        decision
    }

    /// It is written into the journal.
    pub fn annotate(&mut self, rule: &str, reason: impl Into<String>) -> &mut Decision {
        self.add(Action::Annotate, Severity::Info, rule, reason.into())
    }

    /// Hands a fact on to packs that are asked later at the same moment. The template must be one that `describe` shares.
    pub fn share(&mut self, template: &str, slots: Map<String, Value>) {
        self.shared.push((template.to_owned(), slots));
    }

    /// What was concluded so far.
    pub fn decisions(&self) -> &[Decision] {
        &self.decisions
    }

    fn add(&mut self, action: Action, severity: Severity, rule: &str, reason: String) -> &mut Decision {
        let at = self.decisions.len();
        self.decisions.insert(
            at,
            Decision {
                action,
                severity,
                rule: rule.to_owned(),
                reason,
                details: Map::new(),
                facts: Vec::new(),
            },
        );
        // Just inserted.
        #[allow(
            clippy::indexing_slicing,
            reason = "the element was inserted at this place above"
        )]
        &mut self.decisions[at]
    }
}

impl Decision {
    /// Says how much it matters, where that is not what the action says already.
    pub fn severity(&mut self, severity: Severity) -> &mut Self {
        self.severity = severity;
        self
    }

    /// Names a fact that led to it.
    pub fn because(&mut self, fact: &Fact) -> &mut Self {
        self.facts.push(fact.reference());
        self
    }

    /// Records something with it; `retry` and `redact` take nothing but their own.
    pub fn detail(&mut self, name: &str, value: impl Into<Value>) -> &mut Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// What should happen.
    pub fn action(&self) -> Action {
        self.action
    }

    /// The rule.
    pub fn rule(&self) -> &str {
        &self.rule
    }

    /// The reason.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// What is recorded with it.
    pub fn details(&self) -> &Map<String, Value> {
        &self.details
    }
}
