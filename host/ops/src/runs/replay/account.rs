//! What a replay tells a person: what happened, what was decided, and why.

use mizzen_model::execution::{ChainExecutionResult, NestedStatus, StepStatus};
use serde_json::{Map, Value};
use std::collections::HashMap;

/// One entry of the journal and what followed from it.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Transition {
    /// The entry's place.
    pub seq: u64,
    /// Milliseconds since the run began.
    pub after_ms: u64,
    /// What happened outside.
    pub happened: String,
    /// What was decided because of it.
    pub decided: Vec<Decided>,
    /// Where the run stood afterwards.
    pub status: String,
}

/// One decision.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Decided {
    /// Who or what: a rule, a gate, a pack, a step.
    pub by: String,
    /// The decision.
    pub decision: String,
    /// Why.
    pub reason: String,
}

/// Keeps account while a run is replayed.
#[derive(Debug, Default)]
pub(super) struct Account {
    pub(super) transitions: Vec<Transition>,
    began_ms: Option<u64>,
    rules: usize,
    gates: usize,
    packs: usize,
    steps: Vec<StepStatus>,
    /// Calls that the steps' tools made, as far as they have ended.
    calls: HashMap<(u32, u32, String), NestedStatus>,
}

impl Account {
    pub(super) fn add(
        &mut self,
        seq: u64,
        at_ms: u64,
        body: &Map<String, Value>,
        result: &ChainExecutionResult,
    ) {
        let began_ms = *self.began_ms.get_or_insert(at_ms);
        let decided = self.decided(result);
        self.transitions.push(Transition {
            seq,
            after_ms: at_ms.saturating_sub(began_ms),
            happened: happened(body),
            decided,
            status: result.status.as_str().to_owned(),
        });
    }

    /// What the result has now and had not before.
    fn decided(&mut self, result: &ChainExecutionResult) -> Vec<Decided> {
        let mut decided = Vec::new();
        let mut say = |by: String, decision: &str, reason: &str| {
            decided.push(Decided {
                by,
                decision: decision.to_owned(),
                reason: reason.to_owned(),
            });
        };
        for rule in result.rules.get(self.rules..).unwrap_or_default() {
            let decision = if rule.matched {
                rule.action.as_str()
            } else {
                "no match"
            };
            say(format!("rule {}", rule.name), decision, &rule.reason);
        }
        let packs = result.packs.as_deref().unwrap_or_default();
        for said in packs.get(self.packs..).unwrap_or_default() {
            let rule = said
                .rule
                .as_deref()
                .map_or_else(String::new, |rule| format!(":{rule}"));
            let effect = if said.applied { "" } else { " (not applied)" };
            let decision = format!("{}{effect}", said.action.as_str());
            say(format!("pack {}{rule}", said.pack_id), &decision, &said.reason);
        }
        for gate in result.gates.get(self.gates..).unwrap_or_default() {
            let place = gate
                .step
                .map_or_else(String::new, |step| format!(" at step {step}"));
            let by = format!("gate {}{place}", gate.position.as_str());
            say(by, gate.decision.as_str(), &gate.reason);
        }
        for (index, step) in result.steps.iter().enumerate() {
            let before = self.steps.get(index).copied().unwrap_or(StepStatus::Pending);
            if before != step.status {
                let why = step
                    .error
                    .as_ref()
                    .map_or_else(String::new, |e| format!("{}: {}", e.code, e.message));
                say(
                    format!("step {} {}", step.order, step.action),
                    step.status.as_str(),
                    &why,
                );
            }
        }
        for step in &result.steps {
            for call in &step.calls {
                let key = (step.order, call.attempt, call.path.clone());
                if self.calls.insert(key, call.status) == Some(call.status)
                    || call.status == NestedStatus::Running
                {
                    continue;
                }
                let why = call
                    .error
                    .as_ref()
                    .map_or_else(String::new, |e| format!("{}: {}", e.code, e.message));
                let by = format!("call {} of step {}: {}", call.path, step.order, call.tool);
                say(by, call.status.as_str(), &why);
            }
        }
        if result.status.is_final() {
            let why = result
                .error
                .as_ref()
                .map_or_else(String::new, |e| format!("{}: {}", e.code, e.message));
            say("the run".to_owned(), result.status.as_str(), &why);
        } else if let Some(escalation) = result.escalation.as_ref().filter(|asked| asked.answer.is_none()) {
            say(
                format!("rule {}", escalation.rule_id),
                "asks a person",
                &escalation.reason,
            );
        }
        (self.rules, self.gates, self.packs) = (result.rules.len(), result.gates.len(), packs.len());
        self.steps = result.steps.iter().map(|step| step.status).collect();
        decided
    }
}

/// What an entry says that happened, in words.
fn happened(body: &Map<String, Value>) -> String {
    let cleared = body.get("cleared").and_then(Value::as_array);
    let asked = |question: &Value| {
        question
            .get("asked")
            .and_then(Value::as_array)
            .map_or(0, Vec::len)
    };
    match cleared.into_iter().flatten().map(asked).sum::<usize>() {
        0 => itself(body),
        1 => format!("a pack had nothing to say; {}", itself(body)),
        asked => format!("packs had nothing to say, asked {asked} times; {}", itself(body)),
    }
}

fn how_ended(body: &Map<String, Value>) -> String {
    let failure = body.get("failure").and_then(|failure| failure.get("code"));
    match failure.and_then(Value::as_str) {
        Some(code) => format!("failed ({code})"),
        None if body.contains_key("withheld") => "answered, and it was withheld".to_owned(),
        None => "answered".to_owned(),
    }
}

fn itself(body: &Map<String, Value>) -> String {
    let text = |name: &str| body.get(name).and_then(Value::as_str).unwrap_or_default();
    let number = |name: &str| body.get(name).and_then(Value::as_u64).unwrap_or_default();
    match text("kind") {
        "started" => format!("started by {}", text("actor")),
        "call_ended" => format!(
            "step {} {}, attempt {}",
            number("step"),
            how_ended(body),
            number("attempt")
        ),
        "nested_called" => format!("{} calls {} as {}", text("caller"), text("tool"), text("path")),
        "nested_ended" => format!("call {} {}", text("path"), how_ended(body)),
        "interrupted" => "the host stopped during the call, and makes it again".to_owned(),
        "gate_answered" if body.contains_key("veto") => "the gate agent vetoed".to_owned(),
        "gate_answered" => "the gate agent had nothing against it".to_owned(),
        "packs_answered" => {
            let asked = body.get("asked").and_then(Value::as_array).map_or(0, Vec::len);
            format!("{asked} packs answered")
        }
        "intent" => format!("{} is about to be called", text("tool")),
        "decided" => format!("a person answered: {} ({})", text("decision"), text("reason")),
        "responded" => format!("{} answered the interrupt", text("actor")),
        "pause_asked" => format!("{} wants it to pause", text("actor")),
        "resumed" => format!("{} lets it go on", text("actor")),
        "cancelled" => format!("cancelled: {}", text("reason")),
        "tick" => "time passed".to_owned(),
        other => other.to_owned(),
    }
}
