//! What a journal says: how a run began and what happened to it, enough to make the run again.

use super::packs::{self, PackPin};
use super::resolve::{Pin, Resolution};
use crate::document::stored;
use crate::error::Fault;
use mizzen_engine::run::{CallFailure, Event, Transient};
use mizzen_model::execution::{Approval, ChainExecutionResult, StepStatus};
use mizzen_model::id::ExecutionId;
use mizzen_model::journal::Link;
use mizzen_model::json::serde_to_canonical;
use mizzen_store::RunEvent;
use serde_json::{Map, Value, json};

/// An entry, read.
pub(super) struct Entry {
    pub(super) at_ms: u64,
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
        }
    }

    /// Writes an entry.
    pub(super) fn write(&mut self, at_ms: u64, mut body: Map<String, Value>) -> RunEvent {
        let seq = self.next_seq;
        body.insert("execution_id".to_owned(), self.id.to_string().into());
        body.insert("seq".to_owned(), seq.into());
        body.insert("at".to_owned(), at_ms.into());
        let bytes = serde_to_canonical(&Value::Object(body));
        self.head = self.head.next(&bytes);
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
        self.tell(&mut Map::new(), result);
    }

    /// Tells what has changed since the last entry: decisions with their reasons, and where the steps stand.
    pub(super) fn tell(&mut self, body: &mut Map<String, Value>, result: &ChainExecutionResult) {
        body.insert("status".to_owned(), result.status.as_str().into());
        let rules = result.rules.get(self.rules..).unwrap_or_default();
        if !rules.is_empty() {
            body.insert("rules".to_owned(), json!(rules));
        }
        let gates = result.gates.get(self.gates..).unwrap_or_default();
        if !gates.is_empty() {
            body.insert("gates".to_owned(), json!(gates));
        }
        let moved: Vec<Value> = result
            .steps
            .iter()
            .enumerate()
            .filter(|(index, step)| self.steps.get(*index) != Some(&step.status))
            .map(|(_, step)| json!({"order": step.order, "status": step.status}))
            .collect();
        if !moved.is_empty() {
            body.insert("steps".to_owned(), moved.into());
        }
        if let (true, Some(error)) = (result.status.is_final(), &result.error) {
            body.insert("error".to_owned(), json!(error));
        }
        (self.rules, self.gates) = (result.rules.len(), result.gates.len());
        self.steps = result.steps.iter().map(|step| step.status).collect();
    }
}

/// The body of an event's entry.
pub(super) fn body(event: &Event) -> Map<String, Value> {
    let value = match event {
        Event::CallEnded {
            order,
            attempt,
            result,
        } => match result {
            Ok(output) => json!({"kind": "call_ended", "step": order, "attempt": attempt, "output": output}),
            Err(failed) => json!({
                "kind": "call_ended", "step": order, "attempt": attempt,
                "failure": {
                    "code": failed.code, "message": failed.message, "transient": failed.transient == Transient::Yes,
                },
            }),
        },
        Event::GateAnswered { question, answer } => match answer {
            Ok(()) => json!({"kind": "gate_answered", "question": question}),
            Err(reason) => json!({"kind": "gate_answered", "question": question, "veto": reason}),
        },
        Event::Decided {
            escalation_id,
            decision,
            reason,
        } => json!({
            "kind": "decided", "escalation_id": escalation_id, "decision": decision, "reason": reason,
        }),
        // Written when the run has taken it in: `packs::body`.
        Event::PacksAnswered { question, .. } => json!({"kind": "packs_answered", "question": question}),
        Event::Tick => json!({"kind": "tick"}),
        Event::Cancel { reason } => json!({"kind": "cancelled", "reason": reason}),
    };
    match value {
        Value::Object(body) => body,
        _ => Map::new(),
    }
}

/// What is said before a call that changes the world; none for one that does not.
pub(super) fn intent(id: ExecutionId, pin: &Pin, order: u32, attempt: u32) -> Option<Map<String, Value>> {
    let changes = !matches!(pin.side_effects.as_str(), "none" | "read");
    let value = json!({
        "kind": "intent", "step": order, "attempt": attempt, "tool": pin.tool, "digest": pin.digest,
        "idempotency_key": idempotency_key(id, order),
    });
    match value {
        Value::Object(body) if changes => Some(body),
        _ => None,
    }
}

/// Stable over attempts and restarts. A step of a chain has one iteration.
pub(super) fn idempotency_key(id: ExecutionId, order: u32) -> String {
    format!("{id}/{order}/0")
}

/// The body of an answer's entry while packs look at the answer.
pub(super) fn held(order: u32, attempt: u32) -> Map<String, Value> {
    let mut body = Map::new();
    body.insert("kind".to_owned(), "call_ended".into());
    body.insert("step".to_owned(), order.into());
    body.insert("attempt".to_owned(), attempt.into());
    body
}

/// What becomes of it: what the packs let through, or nothing.
pub(super) fn release(body: &mut Map<String, Value>, output: Option<Value>) {
    match output {
        Some(output) => body.insert("output".to_owned(), output),
        None => body.insert("withheld".to_owned(), true.into()),
    };
}

/// Reads an entry that this host wrote.
pub(super) fn read(bytes: &str) -> Result<Entry, Fault> {
    let value = stored(bytes)?
        .to_serde()
        .map_err(|error| Fault::Internal(format!("a journal entry cannot be read: {error}")))?;
    parse(&value).ok_or_else(|| Fault::Internal("a journal entry is not one of this host's".to_owned()))
}

fn parse(value: &Value) -> Option<Entry> {
    let text = |name: &str| Some(value.get(name)?.as_str()?.to_owned());
    let number = |name: &str| u32::try_from(value.get(name)?.as_u64()?).ok();
    let what = match value.get("kind")?.as_str()? {
        "started" => What::Started(Box::new(Started {
            input: value.get("input")?.clone(),
            load_plan: text("load_plan")?,
            resolutions: serde_json::from_value(value.get("calls")?.clone()).ok()?,
            packs: match value.get("packs") {
                None => Vec::new(),
                Some(packs) => serde_json::from_value(packs.clone()).ok()?,
            },
        })),
        "intent" => What::Intent,
        "call_ended" => {
            let result = match (value.get("output"), value.get("failure")) {
                // The packs did not let it through: what follows says what came of that, and needs nothing of it.
                (None, None) if value.get("withheld").is_some() => Ok(Value::Null),
                (Some(output), None) => Ok(output.clone()),
                (None, Some(failed)) => Err(CallFailure {
                    code: failed.get("code")?.as_str()?.to_owned(),
                    message: failed.get("message")?.as_str()?.to_owned(),
                    transient: if failed.get("transient")?.as_bool()? {
                        Transient::Yes
                    } else {
                        Transient::No
                    },
                }),
                _ => return None,
            };
            What::Happened(Event::CallEnded {
                order: number("step")?,
                attempt: number("attempt")?,
                result,
            })
        }
        "gate_answered" => What::Happened(Event::GateAnswered {
            question: number("question")?,
            answer: match value.get("veto") {
                None => Ok(()),
                Some(reason) => Err(reason.as_str()?.to_owned()),
            },
        }),
        "decided" => What::Happened(Event::Decided {
            escalation_id: text("escalation_id")?,
            decision: Approval::parse(&text("decision")?)?,
            reason: text("reason")?,
        }),
        "packs_answered" => What::Happened(packs::parse(value)?),
        "tick" => What::Happened(Event::Tick),
        "cancelled" => What::Happened(Event::Cancel {
            reason: text("reason")?,
        }),
        _ => return None,
    };
    Some(Entry {
        at_ms: value.get("at")?.as_u64()?,
        what,
    })
}
