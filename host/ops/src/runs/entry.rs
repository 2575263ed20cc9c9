//! What a journal says: how a run began and what happened to it, enough to make the run again.

mod kinds;
mod nested;

pub(super) use kinds::misfit;
pub use kinds::{EntryKind, EntryMember, EntryShape};
pub(super) use nested::{intent_of, key_of};

use super::body::Body;
use super::packs::{self, Cleared, PackPin};
use super::resolve::{Pin, Resolution, StepCall};
use crate::document::stored;
use crate::error::Fault;
use mizzen_engine::plan::Governs;
use mizzen_engine::run::{CallFailure, Event, KeptLog, Released, Run, Transient};
use mizzen_json::serde_to_canonical;
use mizzen_model::execution::{
    Approval, CallLog, ChainExecutionResult, GateEvaluation, NestedExecution, NestedStatus, RuleEvaluation,
    StepStatus,
};
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use mizzen_store::RunEvent;
use serde_json::Value;
use std::fmt::Write as _;

/// What a guest wrote, and how many lines of it are not kept.
const LOG: &str = "log";
const LOG_DROPPED: &str = "log_dropped";

/// An entry, read.
pub(super) struct Entry {
    pub(super) at_ms: u64,
    /// What packs had nothing to say to, before.
    pub(super) cleared: Vec<Cleared>,
    pub(super) what: What,
}

/// What an entry tells.
pub(super) enum What {
    /// How the run began.
    Started(Box<Started>),
    /// What happened to it.
    Happened(Event),
    /// That a call is about to be made. The command itself follows from what happened before.
    Intent,
}

/// How a run began.
pub(super) struct Started {
    pub(super) input: Value,
    pub(super) load_plan: String,
    pub(super) resolutions: Vec<Resolution>,
    pub(super) packs: Vec<PackPin>,
    /// What the packs govern beyond steps.
    pub(super) governs: Vec<Governs>,
    /// Who began it; empty when that was not recorded.
    pub(super) actor: String,
    /// How long it waits for a person; none: for as long as it takes.
    pub(super) escalation_ms: Option<u64>,
    /// Whether something was taken out of the input when the run had ended.
    pub(super) input_redacted: bool,
}

/// The end of a journal, where the next entry goes.
#[derive(Debug, Clone)]
pub(super) struct Journal {
    pub(super) id: ExecutionId,
    pub(super) next_seq: u64,
    pub(super) head: Link,
    rules: usize,
    gates: usize,
    steps: Vec<StepStatus>,
    /// How many visits of a graph are over, from the first.
    over: usize,
    /// Of the calls that the steps' tools made, by step.
    calls: Vec<Vec<(NestedStatus, Option<String>)>>,
    /// What the next entry names.
    cleared: Vec<Cleared>,
    /// Every entry so far, where the first one may have to be written anew.
    whole: Option<Vec<String>>,
}

impl Journal {
    pub(super) fn new(id: ExecutionId) -> Self {
        Self {
            id,
            next_seq: 1,
            head: Link::first(id),
            rules: 0,
            gates: 0,
            steps: Vec::new(),
            over: 0,
            calls: Vec::new(),
            cleared: Vec::new(),
            whole: None,
        }
    }

    /// Keeps every entry, with these before it.
    pub(super) fn keep_whole(&mut self, before: Vec<String>) {
        self.whole = Some(before);
    }

    /// Writes the journal anew with another input in its first entry. None when it was not kept.
    pub(super) fn rewrite_input(&mut self, input: &Value) -> Option<Vec<RunEvent>> {
        let mut whole = self.whole.take()?;
        let first = whole.first_mut()?;
        let Ok(Value::Object(mut body)) = serde_json::from_str(first) else {
            return None;
        };
        body.insert("input".to_owned(), input.clone());
        body.insert("input_redacted".to_owned(), Value::Bool(true));
        *first = serde_to_canonical(&Value::Object(body));
        let mut link = Link::first(self.id);
        let events = whole.into_iter().zip(1_u64..).map(|(bytes, seq)| {
            link = link.next(&bytes);
            RunEvent {
                seq,
                hash: link.bytes(),
                bytes,
            }
        });
        let events: Vec<RunEvent> = events.collect();
        self.head = link;
        Some(events)
    }

    /// No pack had anything to say. Of that alone no entry is made.
    pub(super) fn clear(&mut self, cleared: Cleared) {
        self.cleared.push(cleared);
    }

    /// Whether there is something that no entry names yet.
    pub(super) fn has_cleared(&self) -> bool {
        !self.cleared.is_empty()
    }

    /// The last of it, for an entry of its own.
    pub(super) fn last_cleared(&mut self) -> Option<Cleared> {
        self.cleared.pop()
    }

    /// Writes an entry.
    pub(super) fn write(&mut self, at_ms: u64, mut body: Body) -> RunEvent {
        let seq = self.next_seq;
        body.text("execution_id", &self.id.to_string());
        body.number("seq", seq);
        body.number("at", at_ms);
        if !self.cleared.is_empty() {
            body.list("cleared", self.cleared.drain(..).map(|cleared| cleared.body()));
        }
        let bytes = body.finish();
        self.head = self.head.next(&bytes);
        if let Some(whole) = &mut self.whole {
            whole.push(bytes.clone());
        }
        self.next_seq = seq.saturating_add(1);
        RunEvent {
            seq,
            bytes,
            hash: self.head.bytes(),
        }
    }

    /// Takes over entries that were written before.
    pub(super) fn pass(&mut self, next_seq: u64, head: Link, result: &ChainExecutionResult) {
        (self.next_seq, self.head) = (next_seq, head);
        self.tell(&mut Body::default(), result);
    }

    /// Tells what has changed since the last entry: decisions with their reasons, and where the steps stand.
    pub(super) fn tell(&mut self, body: &mut Body, result: &ChainExecutionResult) {
        body.text("status", result.status.as_str());
        let rules = result.rules.get(self.rules..).unwrap_or_default();
        if !rules.is_empty() {
            body.list("rules", rules.iter().map(rule));
        }
        let gates = result.gates.get(self.gates..).unwrap_or_default();
        if !gates.is_empty() {
            body.list("gates", gates.iter().map(gate));
        }
        if result.graph.is_some() {
            self.tell_nodes(body, result);
        }
        let mut moved = String::new();
        let steps = result.steps.iter().filter(|_| result.graph.is_none());
        for (index, step) in steps.enumerate() {
            if self.steps.get(index) != Some(&step.status) {
                let comma = if moved.is_empty() { '[' } else { ',' };
                // Names of statuses need no escapes; writing to a string does not fail.
                let _ = write!(
                    moved,
                    "{comma}{{\"order\":{},\"status\":\"{}\"}}",
                    step.order,
                    step.status.as_str()
                );
            }
        }
        if !moved.is_empty() {
            moved.push(']');
            body.written("steps", moved);
        }
        self.tell_calls(body, result);
        if let (true, Some(error)) = (result.status.is_final(), &result.error) {
            body.model("error", error);
        }
        (self.rules, self.gates) = (result.rules.len(), result.gates.len());
        if result.graph.is_none() {
            self.steps = result.steps.iter().map(|step| step.status).collect();
        }
    }

    /// Where the visits of a graph stand, as far as that has changed. Those that were over before are not looked at again: a graph
    /// may visit thousands of nodes.
    fn tell_nodes(&mut self, body: &mut Body, result: &ChainExecutionResult) {
        let mut moved = Vec::new();
        let mut all_over = true;
        for (index, step) in result.steps.iter().enumerate().skip(self.over) {
            let known = self.steps.get(index).copied();
            if known != Some(step.status)
                && let Some(visit) = &step.node
            {
                let mut told = Body::default();
                told.number("order", step.order);
                told.text("node", &visit.id);
                told.number("iteration", visit.iteration);
                told.text("status", step.status.as_str());
                if let Some(error) = &step.error {
                    told.text("code", &error.code);
                }
                moved.push(told);
            }
            match self.steps.get_mut(index) {
                Some(known) => *known = step.status,
                None => self.steps.push(step.status),
            }
            all_over &= matches!(
                step.status,
                StepStatus::Completed | StepStatus::Failed | StepStatus::Skipped
            );
            if all_over {
                self.over = index.saturating_add(1);
            }
        }
        if !moved.is_empty() {
            body.list("nodes", moved.into_iter());
        }
    }

    /// Where the calls that tools made stand, as far as that has changed.
    fn tell_calls(&mut self, body: &mut Body, result: &ChainExecutionResult) {
        let code = |call: &NestedExecution| call.error.as_ref().map(|error| error.code.clone());
        let mut moved = Vec::new();
        // Of a graph only the last visits have any.
        let old = match result.graph {
            None => 0,
            Some(_) => result.steps.len().saturating_sub(64),
        };
        let recent = result.steps.get(old..).unwrap_or_default();
        for step in recent.iter().filter(|step| !step.calls.is_empty()) {
            let place = step.order as usize;
            if self.calls.len() <= place {
                self.calls.resize(place.saturating_add(1), Vec::new());
            }
            let Some(known) = self.calls.get_mut(place) else {
                continue;
            };
            for (index, call) in step.calls.iter().enumerate() {
                let now = (call.status, code(call));
                if known.get(index) == Some(&now) {
                    continue;
                }
                let mut told = Body::default();
                told.number("step", step.order);
                told.number("attempt", call.attempt);
                told.text("path", &call.path);
                told.text("status", call.status.as_str());
                if let Some(code) = &now.1 {
                    told.text("code", code);
                }
                moved.push(told);
                match known.get_mut(index) {
                    Some(known) => *known = now,
                    None => known.push(now),
                }
            }
        }
        if !moved.is_empty() {
            body.list("nested", moved.into_iter());
        }
    }
}

/// What a rule said.
fn rule(rule: &RuleEvaluation) -> Body {
    let mut body = Body::default();
    body.text("rule_id", &rule.rule_id);
    body.text("name", &rule.name);
    body.written("matched", rule.matched.to_string());
    body.text("action", rule.action.as_str());
    body.text("enforcement", rule.enforcement.as_str());
    body.text("reason", &rule.reason);
    body
}

/// What a gate said.
fn gate(gate: &GateEvaluation) -> Body {
    let mut body = Body::default();
    body.text("type", gate.position.as_str());
    body.text("sprite_id", &gate.sprite_id.to_string());
    body.text("decision", gate.decision.as_str());
    body.text("reason", &gate.reason);
    if let Some(step) = gate.step {
        body.number("step", step);
    }
    if !gate.calls.is_empty() {
        body.model("calls", &gate.calls);
    }
    body
}

/// The body of an event's entry.
pub(super) fn body(event: &Event) -> Body {
    match event {
        Event::CallEnded {
            order,
            attempt,
            result,
            log,
        } => {
            let mut body = call_ended(*order, *attempt);
            write_result(&mut body, result);
            write_log(&mut body, log);
            body
        }
        Event::NestedAsked(asked) => {
            let mut body = nested::asked(asked);
            body.value("input", &asked.input);
            body
        }
        Event::NestedEnded {
            within,
            path,
            result,
            log,
        } => {
            let mut body = nested::ended(*within, path);
            write_result(&mut body, result);
            write_log(&mut body, log);
            body
        }
        Event::Interrupted { within } => nested::interrupted(*within),
        Event::GateAnswered { question, answer } => {
            let mut body = gate_answered(*question);
            write_gate(&mut body, answer);
            body
        }
        Event::Decided {
            escalation_id,
            decision,
            reason,
            actor,
        } => {
            let mut body = Body::of_kind(EntryKind::Decided);
            body.text("escalation_id", escalation_id);
            body.model("decision", decision);
            body.text("reason", reason);
            body.text("actor", actor);
            body
        }
        Event::PacksAnswered { question, .. } => {
            // Written when the run has taken it in: `packs::body`.
            let mut body = Body::of_kind(EntryKind::PacksAnswered);
            body.number("question", *question);
            body
        }
        Event::Responded {
            interrupt_id,
            response,
            actor,
        } => {
            let mut body = Body::of_kind(EntryKind::Responded);
            body.text("interrupt_id", interrupt_id);
            body.value("response", &Value::Object(response.clone()));
            body.text("actor", actor);
            body
        }
        Event::Pause { actor } => {
            let mut body = Body::of_kind(EntryKind::PauseAsked);
            body.text("actor", actor);
            body
        }
        Event::Resume { actor } => {
            let mut body = Body::of_kind(EntryKind::Resumed);
            body.text("actor", actor);
            body
        }
        Event::Tick => Body::of_kind(EntryKind::Tick),
        Event::Cancel { reason, actor } => {
            let mut body = Body::of_kind(EntryKind::Cancelled);
            body.text("reason", reason);
            body.text("actor", actor);
            body
        }
    }
}

/// What is said before a call that changes the world; none for one that does not.
pub(super) fn intent(run: &Run<StepCall>, pin: &Pin, order: u32, attempt: u32) -> Option<Body> {
    if pin.side_effects.is_harmless() {
        return None;
    }
    let mut body = Body::of_kind(EntryKind::Intent);
    body.number("step", order);
    body.number("attempt", attempt);
    body.text("tool", &pin.tool);
    body.text("digest", &pin.digest);
    body.text("idempotency_key", &idempotency_key(run, order));
    Some(body)
}

/// Stable over attempts and restarts: the run, and its step or the visit of a node.
pub(super) fn idempotency_key(run: &Run<StepCall>, order: u32) -> String {
    format!("{}/{}", run.result().execution_id, run.key_of(order))
}

fn write_failure(body: &mut Body, failed: &CallFailure) {
    let mut failure = Body::default();
    failure.text("code", &failed.code);
    failure.text("message", &failed.message);
    let transient = failed.transient == Transient::Yes;
    failure.written("transient", transient.to_string());
    if let Some(code) = &failed.tool_code {
        failure.text("tool_code", code);
    }
    body.written("failure", failure.finish());
}

fn write_result(body: &mut Body, result: &Result<Value, CallFailure>) {
    match result {
        Ok(output) => body.value("output", output),
        Err(failed) => write_failure(body, failed),
    }
}

/// What a guest wrote, where it wrote something.
pub(super) fn write_log(body: &mut Body, log: &CallLog) {
    if !log.lines.is_empty() {
        body.model(LOG, &log.lines);
    }
    if log.dropped > 0 {
        body.number(LOG_DROPPED, log.dropped);
    }
}

/// None for an entry that this host would not have written.
fn read_log(value: &Value) -> Option<CallLog> {
    Some(CallLog {
        lines: match value.get(LOG) {
            None => Vec::new(),
            Some(lines) => serde_json::from_value(lines.clone()).ok()?,
        },
        dropped: match value.get(LOG_DROPPED) {
            None => 0,
            Some(count) => count.as_u64()?,
        },
    })
}

fn call_ended(order: u32, attempt: u32) -> Body {
    let mut body = Body::of_kind(EntryKind::CallEnded);
    body.number("step", order);
    body.number("attempt", attempt);
    body
}

fn gate_answered(question: u32) -> Body {
    let mut body = Body::of_kind(EntryKind::GateAnswered);
    body.number("question", question);
    body
}

fn write_gate(body: &mut Body, answer: &Result<(), String>) {
    if let Err(reason) = answer {
        body.text("veto", reason);
    }
}

/// The body of an event's entry while packs look at it: without what they have not let through.
pub(super) fn held(event: &Event) -> Body {
    match event {
        Event::CallEnded {
            order, attempt, log, ..
        } => {
            let mut body = call_ended(*order, *attempt);
            write_log(&mut body, log);
            body
        }
        Event::NestedAsked(asked) => nested::asked(asked),
        Event::NestedEnded {
            within, path, log, ..
        } => {
            let mut body = nested::ended(*within, path);
            write_log(&mut body, log);
            body
        }
        Event::GateAnswered { question, .. } => gate_answered(*question),
        event => body(event),
    }
}

/// What becomes of it: what the packs let through, or nothing. They have not read the log, so it goes with what they took out.
pub(super) fn release(body: &mut Body, released: Option<&Released>, log: KeptLog) {
    if released.is_none() || log == KeptLog::No {
        body.remove(LOG);
        body.remove(LOG_DROPPED);
    }
    match released {
        Some(Released::Ended(result)) => write_result(body, result),
        Some(Released::Input(input)) => body.value("input", input),
        Some(Released::Gate(answer)) => write_gate(body, answer),
        None => body.written("withheld", "true".to_owned()),
    }
}

/// Reads an entry that this host wrote.
pub(super) fn read(bytes: &str) -> Result<Entry, Fault> {
    let value = stored(bytes)?
        .to_serde()
        .map_err(|error| Fault::Internal(format!("a journal entry cannot be read: {error}")))?;
    parse(&value).ok_or_else(|| Fault::Internal("a journal entry is not one of this host's".to_owned()))
}

/// How a call ended.
fn read_result(value: &Value) -> Option<Result<Value, CallFailure>> {
    match (value.get("output"), value.get("failure")) {
        // The packs did not let it through: what follows says what came of that, and needs nothing of it.
        (None, None) if value.get("withheld").is_some() => Some(Ok(Value::Null)),
        (Some(output), None) => Some(Ok(output.clone())),
        (None, Some(failed)) => Some(Err(CallFailure {
            code: failed.get("code")?.as_str()?.to_owned(),
            message: failed.get("message")?.as_str()?.to_owned(),
            transient: if failed.get("transient")?.as_bool()? {
                Transient::Yes
            } else {
                Transient::No
            },
            tool_code: match failed.get("tool_code") {
                None => None,
                Some(code) => Some(code.as_str()?.to_owned()),
            },
        })),
        _ => None,
    }
}

fn parse(value: &Value) -> Option<Entry> {
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let number = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
    let what = match EntryKind::parse(value.get("kind")?.as_str()?)? {
        EntryKind::Started => What::Started(Box::new(Started {
            input: value.get("input")?.clone(),
            load_plan: text("load_plan")?,
            resolutions: serde_json::from_value(value.get("calls")?.clone()).ok()?,
            packs: match value.get("packs") {
                None => Vec::new(),
                Some(packs) => serde_json::from_value(packs.clone()).ok()?,
            },
            governs: match value.get("governs") {
                None => Vec::new(),
                Some(governs) => {
                    let one = |governs: &Value| Governs::parse(governs.as_str()?);
                    governs.as_array()?.iter().map(one).collect::<Option<_>>()?
                }
            },
            actor: text("actor").unwrap_or_default(),
            escalation_ms: match value.get("escalation_ms") {
                None => None,
                Some(time) => Some(time.as_u64()?),
            },
            input_redacted: value.get("input_redacted") == Some(&Value::Bool(true)),
        })),
        EntryKind::Intent => What::Intent,
        EntryKind::CallEnded => {
            let result = read_result(value)?;
            What::Happened(Event::CallEnded {
                order: number("step")?,
                attempt: number("attempt")?,
                result,
                log: read_log(value)?,
            })
        }
        EntryKind::NestedCalled => What::Happened(nested::read_asked(value)?),
        EntryKind::NestedEnded => What::Happened(Event::NestedEnded {
            within: nested::read_within(value)?,
            path: text("path")?,
            result: read_result(value)?,
            log: read_log(value)?,
        }),
        EntryKind::Interrupted => What::Happened(Event::Interrupted {
            within: nested::read_within(value)?,
        }),
        EntryKind::GateAnswered => What::Happened(Event::GateAnswered {
            question: number("question")?,
            answer: match value.get("veto") {
                None => Ok(()),
                Some(reason) => Err(reason.as_str()?.to_owned()),
            },
        }),
        EntryKind::Decided => What::Happened(Event::Decided {
            escalation_id: text("escalation_id")?,
            decision: Approval::parse(&text("decision")?)?,
            reason: text("reason")?,
            actor: text("actor").unwrap_or_default(),
        }),
        EntryKind::PacksAnswered => What::Happened(packs::parse(value)?),
        EntryKind::Responded => What::Happened(Event::Responded {
            interrupt_id: text("interrupt_id")?,
            response: value.get("response")?.as_object()?.clone(),
            actor: text("actor")?,
        }),
        EntryKind::PauseAsked => What::Happened(Event::Pause {
            actor: text("actor")?,
        }),
        EntryKind::Resumed => What::Happened(Event::Resume {
            actor: text("actor")?,
        }),
        EntryKind::Tick => What::Happened(Event::Tick),
        EntryKind::Cancelled => What::Happened(Event::Cancel {
            reason: text("reason")?,
            actor: text("actor").unwrap_or_default(),
        }),
    };
    let cleared = value.get("cleared").map(Value::as_array);
    let cleared = cleared.map_or(Some(&[][..]), |list| list.map(Vec::as_slice))?;
    Some(Entry {
        at_ms: value.get("at")?.as_u64()?,
        cleared: cleared.iter().map(Cleared::parse).collect::<Option<_>>()?,
        what,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    use serde_json::json;

    #[test]
    fn decisions_are_journaled_as_they_are_shown() {
        let gates = [
            json!({"type": "before", "sprite_id": "00000000-0000-4000-8000-000000000001", "decision": "allow", "reason": "\u{1}\"é"}),
            json!({"type": "on_error", "sprite_id": "00000000-0000-4000-8000-000000000001", "decision": "veto", "reason": "", "step": 7}),
        ];
        for value in gates {
            let shown: GateEvaluation = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(gate(&shown).finish(), serde_to_canonical(&value));
        }
        for (matched, action, enforcement) in [(true, "escalate", "mandatory"), (false, "deny", "advisory")] {
            let value = json!({
                "rule_id": "r", "name": "n \"q\"", "matched": matched, "action": action, "enforcement": enforcement, "reason": "x",
            });
            let shown: RuleEvaluation = serde_json::from_value(value.clone()).unwrap();
            assert_eq!(rule(&shown).finish(), serde_to_canonical(&value));
        }
    }
}
