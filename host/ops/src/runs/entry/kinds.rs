//! What an entry of a journal can be about, and which members it has then.
//!
//! One table: entries are written and read by its kinds, a replay accepts nothing beyond it, the API's schema of events is made from it, and
//! the simulation holds every entry that it records against it. To add a kind: a variant and its row here, and a row in docs/api.md.

use mizzen_model::execution::{
    Approval, ExecutionError, ExecutionStatus, GateEvaluation, LogEntry, NestedStatus, PackEvaluation,
    RuleEvaluation, StepStatus,
};
use mizzen_model::governance::{PackMode, PackOrigin};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// The run has begun.
    Started,
    /// A call that changes the world is about to be made.
    Intent,
    /// A step's call has ended.
    CallEnded,
    /// A tool asks for a call of another one.
    NestedCalled,
    /// A call that a tool asked for has ended.
    NestedEnded,
    /// The host stopped during a call that had made calls, and makes it again.
    Interrupted,
    /// The gate agent has answered.
    GateAnswered,
    /// A person has answered an escalation, or it has expired.
    Decided,
    /// The packs have answered.
    PacksAnswered,
    /// A person has answered an interrupt of a graph.
    Responded,
    /// A person wants a graph to pause.
    PauseAsked,
    /// A person lets a graph go on.
    Resumed,
    /// A time has come: of a retry or of an end.
    Tick,
    /// The run was cancelled.
    Cancelled,
}

/// A member of an entry.
#[derive(Debug, Clone, Copy)]
pub struct EntryMember {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub shape: EntryShape,
    /// Whether every entry of the kind has it.
    pub required: bool,
    /// Whether a replay takes it from the journal; else it follows from the other entries.
    pub(in crate::runs) recorded: bool,
}

/// What a member can be.
#[derive(Debug, Clone, Copy)]
pub enum EntryShape {
    /// A text.
    Text,
    /// A UUID.
    Id,
    /// A whole number.
    Number,
    /// A time, in milliseconds since 1970.
    Time,
    /// True or false.
    Flag,
    /// JSON of a tool or a client.
    Any,
    /// One of these texts.
    Choice(&'static [&'static str]),
    /// A list.
    List(&'static EntryShape),
    /// An object with these members.
    Record(&'static [EntryMember]),
    /// A type of the model, which the API has a schema of that name for.
    Model(&'static str, fn(&Value) -> bool),
}

use EntryShape::{Any, Choice, Flag, Id, List, Model, Number, Record, Text, Time};

const fn always(name: &'static str, shape: EntryShape) -> EntryMember {
    EntryMember {
        name,
        shape,
        required: true,
        recorded: true,
    }
}

const fn sometimes(name: &'static str, shape: EntryShape) -> EntryMember {
    EntryMember {
        name,
        shape,
        required: false,
        recorded: true,
    }
}

/// A member that follows from what happened before.
const fn derived(member: EntryMember) -> EntryMember {
    EntryMember {
        recorded: false,
        ..member
    }
}

fn is<T: DeserializeOwned>(value: &Value) -> bool {
    serde_json::from_value::<T>(value.clone()).is_ok()
}

/// What a pack said, with its place among the mounts.
fn is_pack_answer(value: &Value) -> bool {
    let mut said = value.clone();
    let mount = said.as_object_mut().and_then(|said| said.remove("mount"));
    mount.is_none_or(|mount| mount.is_u64()) && is::<PackEvaluation>(&said)
}

const TEXTS: EntryShape = List(&Text);
const NUMBERS: EntryShape = List(&Number);
const RULE: EntryShape = Model("RuleEvaluation", is::<RuleEvaluation>);
const GATE: EntryShape = Model("GateEvaluation", is::<GateEvaluation>);
const LOG: EntryShape = List(&Model("LogEntry", is::<LogEntry>));
const PACK_ANSWER: EntryShape = Model("PackAnswer", is_pack_answer);

/// Members of every entry.
const COMMON: &[EntryMember] = &[
    always("execution_id", Id),
    always("seq", Number),
    always("at", Time),
    sometimes(
        "cleared",
        List(&Record(&[
            always("asked", NUMBERS),
            always("at", Time),
            always("question", Number),
        ])),
    ),
    derived(sometimes("status", Choice(ExecutionStatus::NAMES))),
    derived(sometimes("rules", List(&RULE))),
    derived(sometimes("gates", List(&GATE))),
    derived(sometimes(
        "steps",
        List(&Record(&[
            always("order", Number),
            always("status", Choice(StepStatus::NAMES)),
        ])),
    )),
    derived(sometimes(
        "nodes",
        List(&Record(&[
            always("order", Number),
            always("node", Text),
            always("iteration", Number),
            always("status", Choice(StepStatus::NAMES)),
            sometimes("code", Text),
        ])),
    )),
    derived(sometimes(
        "nested",
        List(&Record(&[
            always("step", Number),
            always("attempt", Number),
            always("path", Text),
            always("status", Choice(NestedStatus::NAMES)),
            sometimes("code", Text),
        ])),
    )),
    derived(sometimes("error", Model("ExecutionError", is::<ExecutionError>))),
];

/// What was found for a capability: a tool, or why there is none.
const RESOLUTION: EntryShape = Record(&[
    always("sprite_id", Id),
    always("capability", Text),
    sometimes("fields", TEXTS),
    sometimes("tool", Text),
    sometimes("version", Text),
    sometimes("plugin", Text),
    sometimes("digest", Text),
    sometimes("side_effects", Text),
    sometimes("repeatable", Flag),
    sometimes("code", Text),
    sometimes("message", Text),
]);

const PACK_PIN: EntryShape = Record(&[
    always("id", Text),
    always("version", Text),
    always("digest", Text),
    always("mode", Choice(PackMode::NAMES)),
    always("origin", Choice(PackOrigin::NAMES)),
    always("moments", TEXTS),
    sometimes("reads", TEXTS),
]);

const FAILURE: EntryShape = Record(&[
    always("code", Text),
    always("message", Text),
    always("transient", Flag),
    sometimes("tool_code", Text),
]);

const STARTED: &[EntryMember] = &[
    always("council_id", Id),
    always("chain_id", Id),
    always("definition", Text),
    always("load_plan", Text),
    always("calls", List(&RESOLUTION)),
    sometimes("packs", List(&PACK_PIN)),
    sometimes("governs", TEXTS),
    always("input", Any),
    sometimes("input_redacted", Flag),
    sometimes("escalation_ms", Number),
    sometimes("actor", Text),
];

const INTENT: &[EntryMember] = &[
    derived(sometimes("step", Number)),
    derived(sometimes("attempt", Number)),
    derived(sometimes("question", Number)),
    derived(sometimes("path", Text)),
    derived(always("tool", Text)),
    derived(always("digest", Text)),
    derived(always("idempotency_key", Text)),
];

const CALL_ENDED: &[EntryMember] = &[
    always("step", Number),
    always("attempt", Number),
    sometimes("output", Any),
    sometimes("failure", FAILURE),
    sometimes("withheld", Flag),
    sometimes("stages", TEXTS),
    sometimes("stopped_at", Text),
    sometimes("log", LOG),
    sometimes("log_dropped", Number),
];

const NESTED_CALLED: &[EntryMember] = &[
    sometimes("step", Number),
    sometimes("attempt", Number),
    sometimes("question", Number),
    always("path", Text),
    always("caller", Text),
    always("tool", Text),
    always("version", Text),
    always("plugin", Text),
    always("digest", Text),
    always("side_effects", Text),
    always("repeatable", Flag),
    sometimes("input", Any),
    sometimes("withheld", Flag),
];

const NESTED_ENDED: &[EntryMember] = &[
    sometimes("step", Number),
    sometimes("attempt", Number),
    sometimes("question", Number),
    always("path", Text),
    sometimes("output", Any),
    sometimes("failure", FAILURE),
    sometimes("withheld", Flag),
    sometimes("stages", TEXTS),
    sometimes("stopped_at", Text),
    sometimes("log", LOG),
    sometimes("log_dropped", Number),
];

const INTERRUPTED: &[EntryMember] = &[
    sometimes("step", Number),
    sometimes("attempt", Number),
    sometimes("question", Number),
];

const GATE_ANSWERED: &[EntryMember] = &[
    always("question", Number),
    sometimes("veto", Text),
    sometimes("withheld", Flag),
    sometimes("stages", TEXTS),
    sometimes("stopped_at", Text),
    sometimes("log", LOG),
    sometimes("log_dropped", Number),
];

const DECIDED: &[EntryMember] = &[
    always("escalation_id", Text),
    always("decision", Choice(Approval::NAMES)),
    always("reason", Text),
    sometimes("actor", Text),
];

const PACKS_ANSWERED: &[EntryMember] = &[
    always("question", Number),
    always("asked", NUMBERS),
    derived(always("packs", List(&PACK_ANSWER))),
];

const RESPONDED: &[EntryMember] = &[
    always("interrupt_id", Text),
    always("response", Any),
    always("actor", Text),
];

const STEERED: &[EntryMember] = &[always("actor", Text)];

const CANCELLED: &[EntryMember] = &[always("reason", Text), sometimes("actor", Text)];

impl EntryKind {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::Started,
        Self::Intent,
        Self::CallEnded,
        Self::NestedCalled,
        Self::NestedEnded,
        Self::Interrupted,
        Self::GateAnswered,
        Self::Decided,
        Self::PacksAnswered,
        Self::Responded,
        Self::PauseAsked,
        Self::Resumed,
        Self::Tick,
        Self::Cancelled,
    ];

    /// Its text, in `kind` and as the type of a Server-Sent Event; what it means; and its own members.
    const fn row(self) -> (&'static str, &'static str, &'static [EntryMember]) {
        match self {
            Self::Started => ("started", "The execution has begun.", STARTED),
            Self::Intent => (
                "intent",
                "A call that changes the world is about to be made.",
                INTENT,
            ),
            Self::CallEnded => ("call_ended", "The call of a step has ended.", CALL_ENDED),
            Self::NestedCalled => ("nested_called", "A tool calls another tool.", NESTED_CALLED),
            Self::NestedEnded => ("nested_ended", "A call that a tool made has ended.", NESTED_ENDED),
            Self::Interrupted => (
                "interrupted",
                "The host stopped during a call and makes it again.",
                INTERRUPTED,
            ),
            Self::GateAnswered => ("gate_answered", "The gate agent has answered.", GATE_ANSWERED),
            Self::Decided => (
                "decided",
                "A person has answered an escalation, or it has expired.",
                DECIDED,
            ),
            Self::PacksAnswered => (
                "packs_answered",
                "The mounted packs have answered.",
                PACKS_ANSWERED,
            ),
            Self::Responded => (
                "responded",
                "A person has answered an interrupt of a graph.",
                RESPONDED,
            ),
            Self::PauseAsked => ("pause_asked", "A person wants the graph to pause.", STEERED),
            Self::Resumed => ("resumed", "A person lets the graph go on.", STEERED),
            Self::Tick => ("tick", "A retry or a timeout is due.", &[]),
            Self::Cancelled => ("cancelled", "The execution was cancelled.", CANCELLED),
        }
    }

    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        self.row().0
    }

    /// What it means, in one sentence.
    pub const fn about(self) -> &'static str {
        self.row().1
    }

    /// The one with that spelling.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }

    /// The members of its entries, beside `kind`.
    pub fn members(self) -> impl Iterator<Item = &'static EntryMember> + Clone {
        COMMON.iter().chain(self.row().2)
    }

    /// Whether a replay takes a member from the journal as it is.
    pub(in crate::runs) fn records(self, name: &str) -> bool {
        name == "kind"
            || self
                .members()
                .any(|member| member.recorded && member.name == name)
    }
}

/// Finds the member of an entry that is missing, wrong or unknown.
pub(in crate::runs) fn misfit(entry: &Map<String, Value>) -> Option<String> {
    let Some(kind) = entry
        .get("kind")
        .and_then(Value::as_str)
        .and_then(EntryKind::parse)
    else {
        return Some("kind".to_owned());
    };
    misfit_of(kind.members(), entry, |name| name == "kind")
}

fn misfit_of<'a>(
    members: impl Iterator<Item = &'a EntryMember> + Clone,
    object: &Map<String, Value>,
    is_known: impl Fn(&str) -> bool,
) -> Option<String> {
    let wrong = members.clone().find_map(|member| match object.get(member.name) {
        None => member.required.then(|| member.name.to_owned()),
        Some(value) => misfit_in(&member.shape, value).map(|within| format!("{}{within}", member.name)),
    });
    let unknown = || {
        let mut names = object.keys().filter(|name| !is_known(name));
        names.find(|name| !members.clone().any(|member| member.name == name.as_str()))
    };
    wrong.or_else(|| unknown().cloned())
}

/// A pointer to what does not fit; empty for the value itself. As deep as the table, whatever the value is.
fn misfit_in(shape: &EntryShape, value: &Value) -> Option<String> {
    let fits = match shape {
        Text => value.is_string(),
        Id => value
            .as_str()
            .is_some_and(|text| mizzen_model::id::ExecutionId::parse(text).is_ok()),
        Number | Time => value.is_u64(),
        Flag => value.is_boolean(),
        Any => true,
        Choice(names) => value.as_str().is_some_and(|text| names.contains(&text)),
        Model(_, reads) => reads(value),
        List(item) => {
            let Some(items) = value.as_array() else {
                return Some(String::new());
            };
            let mut places = items.iter().enumerate();
            return places.find_map(|(place, value)| Some(format!("/{place}{}", misfit_in(item, value)?)));
        }
        Record(members) => {
            let Some(object) = value.as_object() else {
                return Some(String::new());
            };
            return misfit_of(members.iter(), object, |_| false).map(|within| format!("/{within}"));
        }
    };
    (!fits).then(String::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_entry_has_what_its_kind_has_and_nothing_else() {
        let good = json!({
            "kind": "call_ended", "execution_id": "3f2c1d9e-5b7a-4c86-9e21-0a4d6f8b1c35", "seq": 2, "at": 5,
            "step": 1, "attempt": 1, "failure": {"code": "TRAP", "message": "m", "transient": false},
            "status": "running", "steps": [{"order": 1, "status": "failed"}],
        });
        let check = |pointer: &str, value: Option<Value>, expected: Option<&str>| {
            let mut entry = good.clone();
            let (place, name) = pointer.rsplit_once('/').unwrap_or(("", ""));
            let object = entry.pointer_mut(place).and_then(Value::as_object_mut).unwrap();
            match value {
                Some(value) => object.insert(name.to_owned(), value),
                None => object.remove(name),
            };
            assert_eq!(
                misfit(entry.as_object().unwrap()).as_deref(),
                expected,
                "{pointer}"
            );
        };
        check("/step", Some(json!(1)), None);
        check("/kind", Some(json!("nonsense")), Some("kind"));
        check("/seq", None, Some("seq"));
        check("/seq", Some(json!(-1)), Some("seq"));
        check("/question", Some(json!(1)), Some("question"));
        check("/failure/transient", None, Some("failure/transient"));
        check("/failure/more", Some(json!(1)), Some("failure/more"));
        check("/steps/0/status", Some(json!("odd")), Some("steps/0/status"));
        check("/rules", Some(json!([{}])), Some("rules/0"));
        check("/execution_id", Some(json!("x")), Some("execution_id"));
    }

    #[test]
    fn every_kind_can_be_read_back_by_its_name() {
        for kind in EntryKind::ALL {
            assert_eq!(EntryKind::parse(kind.as_str()), Some(kind));
        }
    }
}
