//! A recorded run, gone through again: its journal is fed to the engine, nothing is called, and everything that the engine decides
//! must be what was written.
//!
//! What came from outside (answers of calls, of the gate agent, of packs, of people, and the time) is taken from the journal. What
//! follows from it (decisions of rules and gates, what packs' verdicts came to, the state of each step, intents, the result) is
//! made anew and compared. [`verify`](super::verify) tells whether a journal is the one that was signed; this tells whether it is
//! one that this engine would have written.

mod account;
mod difference;
mod recording;

pub use account::{Decided, Transition};
pub use difference::Difference;
pub use recording::{Recording, RecordingError};

use super::body::Body;
use super::drive::{RunPlan, result_text};
use super::entry::{self, EntryKind, Journal, Started, What};
use super::packs::{self, Cleared};
use super::resolve::{MadeOf, StepCall, plan_recorded};
use crate::toolbox::Loaded;
use account::Account;
use difference::compared;
use mizzen_engine::pack::REDACTED;
use mizzen_engine::run::{Command, Run, Start};
use mizzen_model::id::ChainId;
use mizzen_model::journal::Link;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::sync::Arc;

/// What came of a replay.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Replay {
    /// The run.
    pub execution_id: String,
    /// Where the replayed run stands.
    pub status: String,
    /// Whether it has ended.
    pub ended: bool,
    /// How many entries the journal has.
    pub entries: usize,
    /// Whether packs took something out of the input: what followed from that cannot be made again, and differs.
    pub input_redacted: bool,
    /// What was decided, entry by entry, as far as the two agree.
    pub transitions: Vec<Transition>,
    /// Where they first differ; none when they never do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
}

/// What an entry tells of the run after it, in the order in which a difference is looked for.
const TOLD: [&str; 7] = ["rules", "gates", "steps", "nodes", "nested", "error", "status"];

/// What neither follows nor comes from outside would not have been written.
fn nothing_else(
    seq: u64,
    body: &Map<String, Value>,
    expected: &Map<String, Value>,
) -> Result<(), Difference> {
    let kind = body.get("kind").and_then(Value::as_str);
    let kind = kind.and_then(EntryKind::parse);
    let known = |name: &str| expected.contains_key(name) || kind.is_some_and(|kind| kind.records(name));
    match body.iter().find(|(name, _)| !known(name.as_str())) {
        Some((name, value)) => Err(Difference::at(seq, name, Some(value.clone()), None)),
        None => Ok(()),
    }
}

/// Goes through a recorded run again.
pub fn replay(recording: &Recording) -> Replay {
    let mut replayer = Replayer::new(recording);
    let difference = replayer.entries().and_then(|()| replayer.end()).err();
    let status = replayer.run.as_ref().map(|run| run.result().status);
    Replay {
        execution_id: recording.id.to_string(),
        status: status.map_or("unknown", |status| status.as_str()).to_owned(),
        ended: status.is_some_and(|status| status.is_final()),
        entries: recording.entries.len(),
        input_redacted: replayer.input_redacted,
        transitions: replayer.account.transitions,
        difference,
    }
}

struct Replayer<'a> {
    recording: &'a Recording,
    run: Option<Run<StepCall>>,
    journal: Journal,
    /// Calls that change the world must be announced before anything else happens.
    intents: VecDeque<Body>,
    account: Account,
    input_redacted: bool,
}

impl<'a> Replayer<'a> {
    fn new(recording: &'a Recording) -> Self {
        Self {
            recording,
            run: None,
            journal: Journal::new(recording.id),
            intents: VecDeque::new(),
            account: Account::default(),
            input_redacted: false,
        }
    }

    fn entries(&mut self) -> Result<(), Difference> {
        let mut link = Link::first(self.recording.id);
        for (recorded, seq) in self.recording.entries.iter().zip(1_u64..) {
            link = link.next(&recorded.bytes);
            // A field that does not follow from the run tells more than a hash that does not follow from the bytes.
            self.entry(seq, &recorded.bytes)?;
            if recorded.hash != link.to_string() {
                let found = Some(recorded.hash.as_str().into());
                return Err(Difference::at(seq, "hash", found, Some(link.to_string().into())));
            }
        }
        Ok(())
    }

    fn entry(&mut self, seq: u64, bytes: &str) -> Result<(), Difference> {
        let wrong = |field: &str, replayed: Value| Difference::at(seq, field, None, Some(replayed));
        let body: Map<String, Value> = serde_json::from_str(bytes)
            .map_err(|error| wrong("entry", format!("a JSON object ({error})").into()))?;
        let entry = entry::read(bytes)
            .map_err(|error| wrong("entry", format!("one that this host writes ({error})").into()))?;
        let id = Value::from(self.recording.id.to_string());
        compared(seq, "execution_id", body.get("execution_id"), Some(&id))?;
        compared(seq, "seq", body.get("seq"), Some(&seq.into()))?;
        for cleared in &entry.cleared {
            self.cleared(seq, &body, cleared)?;
        }
        match entry.what {
            What::Started(started) => self.started(seq, &body, *started, entry.at_ms)?,
            What::Happened(event) => self.happened(seq, &body, event, entry.at_ms)?,
            What::Intent => self.intent(seq, &body, entry.at_ms)?,
        }
        if let Some(member) = entry::misfit(&body) {
            let found = member.split('/').next().and_then(|name| body.get(name));
            let wanted = "what entries of this kind have";
            return Err(Difference::at(seq, &member, found.cloned(), Some(wanted.into())));
        }
        Ok(())
    }

    fn started(
        &mut self,
        seq: u64,
        body: &Map<String, Value>,
        started: Started,
        at_ms: u64,
    ) -> Result<(), Difference> {
        let unexpected = |what: &str| Difference::at(seq, "kind", Some("started".into()), Some(what.into()));
        if self.run.is_some() {
            return Err(unexpected("something that happened: the run has begun before"));
        }
        let hash = blake3::hash(self.recording.definition.as_bytes()).to_hex();
        let definition = Value::from(format!("blake3:{hash}"));
        compared(seq, "definition", body.get("definition"), Some(&definition))?;
        let chain = body.get("chain_id").and_then(Value::as_str);
        let plan = chain
            .and_then(|chain| ChainId::parse(chain).ok())
            .ok_or_else(|| "the chain's id is not one".to_owned())
            .and_then(|chain| self.plan(chain, &started));
        let plan = plan.map_err(|problem| {
            let wanted = format!("a chain that can be planned ({problem})");
            Difference::at(
                seq,
                "chain_id",
                body.get("chain_id").cloned(),
                Some(wanted.into()),
            )
        })?;
        let start = Start {
            execution_id: self.recording.id,
            input: started.input,
            now_ms: at_ms,
            escalation_ms: started.escalation_ms,
        };
        let (mut run, commands) = Run::start(Arc::new(plan), start);
        if started.input_redacted {
            run.set_input_redacted();
            self.input_redacted = true;
        }
        let council = Value::from(run.result().council_id.to_string());
        compared(seq, "council_id", body.get("council_id"), Some(&council))?;
        self.run = Some(run);
        self.told(seq, body, Body::default(), &commands, at_ms)
    }

    fn plan(&self, chain: ChainId, started: &Started) -> Result<RunPlan, String> {
        // Nothing is loaded: nothing can be called.
        let of = MadeOf {
            resolutions: started.resolutions.clone(),
            pins: started.packs.clone(),
            governs: started.governs.clone(),
        };
        plan_recorded(&Loaded::default(), &self.recording.definition, chain, &of)
            .map_err(|error| error.to_string())
    }

    fn happened(
        &mut self,
        seq: u64,
        body: &Map<String, Value>,
        event: mizzen_engine::run::Event,
        at_ms: u64,
    ) -> Result<(), Difference> {
        let kind = body.get("kind").cloned();
        if let Some(intent) = self.intents.pop_front() {
            return Err(Difference::at(seq, "kind", kind, Some(intent.into_map().into())));
        }
        let Some(run) = &mut self.run else {
            return Err(Difference::at(seq, "kind", kind, Some("started".into())));
        };
        let asked = packs::asked(&event);
        let said = run.result().packs.as_ref().map_or(0, Vec::len);
        let commands = run.handle(event, at_ms);
        if commands.is_empty() {
            let nothing = "nothing: the run does not wait for this, so it would not have been written";
            return Err(Difference::at(seq, "kind", kind, Some(nothing.into())));
        }
        let mut expected = Body::default();
        if let Some((question, asked)) = asked {
            let all = run.result().packs.as_deref().unwrap_or_default();
            let said = all.get(said..).unwrap_or_default();
            expected = packs::body(question, &asked, run.plan().packs(), said);
        }
        self.told(seq, body, expected, &commands, at_ms)
    }

    /// Packs had nothing to say to a question that was asked, and nothing followed that had to be told.
    fn cleared(&mut self, seq: u64, body: &Map<String, Value>, cleared: &Cleared) -> Result<(), Difference> {
        let wrong = |wanted: &str| {
            let found = body.get("cleared").cloned();
            Err(Difference::at(seq, "cleared", found, Some(wanted.into())))
        };
        let Some(run) = &mut self.run else {
            return wrong("nothing: the run has not begun");
        };
        let said = run.result().packs.as_ref().map_or(0, Vec::len);
        let commands = run.handle(cleared.event(), cleared.at_ms);
        if commands.is_empty() {
            return wrong("nothing: the run does not wait for this");
        }
        let quiet = |command| packs::is_quiet(command, run);
        if run.result().packs.as_ref().map_or(0, Vec::len) != said || !commands.iter().all(quiet) {
            return wrong("an entry of its own: something follows that must be told");
        }
        Ok(())
    }

    /// Compares what an entry says that followed with what follows.
    fn told(
        &mut self,
        seq: u64,
        body: &Map<String, Value>,
        mut expected: Body,
        commands: &[Command],
        at_ms: u64,
    ) -> Result<(), Difference> {
        let Some(run) = &self.run else { return Ok(()) };
        self.journal.tell(&mut expected, run.result());
        let expected = expected.into_map();
        // In the first entry `packs` are those that were mounted.
        if expected.contains_key("packs") {
            compared(seq, "packs", body.get("packs"), expected.get("packs"))?;
        }
        for field in TOLD {
            compared(seq, field, body.get(field), expected.get(field))?;
        }
        nothing_else(seq, body, &expected)?;
        let intents = commands.iter().filter_map(|command| match command {
            Command::Call { order, attempt, .. } => {
                let pin = &run.call_of(*order)?.pin;
                entry::intent(run, pin, *order, *attempt)
            }
            command => entry::intent_of(self.recording.id, command),
        });
        self.intents.extend(intents);
        self.account.add(seq, at_ms, body, run.result());
        Ok(())
    }

    fn intent(&mut self, seq: u64, body: &Map<String, Value>, at_ms: u64) -> Result<(), Difference> {
        let Some(expected) = self.intents.pop_front() else {
            let kind = body.get("kind").cloned();
            let nothing = "nothing: no call that changes the world is due";
            return Err(Difference::at(seq, "kind", kind, Some(nothing.into())));
        };
        let expected = expected.into_map();
        for (field, value) in &expected {
            compared(seq, field, body.get(field), Some(value))?;
        }
        nothing_else(seq, body, &expected)?;
        if let Some(run) = &self.run {
            self.account.add(seq, at_ms, body, run.result());
        }
        Ok(())
    }

    /// The journal is at its end: so must the run be, with the result that was recorded.
    fn end(&mut self) -> Result<(), Difference> {
        let next = u64::try_from(self.recording.entries.len())
            .unwrap_or(u64::MAX)
            .saturating_add(1);
        if let Some(intent) = self.intents.pop_front() {
            return Err(Difference::at(
                next,
                "entry",
                None,
                Some(intent.into_map().into()),
            ));
        }
        let Some(run) = &self.run else {
            return Err(Difference::at(1, "entry", None, Some("started".into())));
        };
        let result = run.result();
        match (&self.recording.result, result.status.is_final()) {
            (None, false) => Ok(()),
            (None, true) => Err(Difference::of_result(None, Some(serde_json::json!(result)))),
            (Some(recorded), false) => {
                let recorded: Option<Value> = serde_json::from_str(recorded).ok();
                let status = recorded.as_ref().and_then(|result| result.get("status")).cloned();
                let wanted = format!("{}: the journal is cut off", result.status.as_str());
                Err(Difference::at(next, "status", status, Some(wanted.into())))
            }
            (Some(recorded), true) => {
                let replayed = result_text(result);
                if *recorded == replayed {
                    return Ok(());
                }
                let read = |text: &str| serde_json::from_str::<Value>(text).ok();
                let (recorded, mut replayed) = (read(recorded), read(&replayed));
                if self.input_redacted {
                    take_inputs(recorded.as_ref(), replayed.as_mut());
                }
                if recorded == replayed {
                    return Ok(());
                }
                Err(Difference::of_result(recorded, replayed))
            }
        }
    }
}

/// A pack may take a text out of the input of one step and leave it to another: what came from the run's input and is gone there is
/// taken from the record. It is what was sent, and not a decision.
fn take_inputs(recorded: Option<&Value>, replayed: Option<&mut Value>) {
    let recorded = recorded.and_then(|result| result.get("steps")?.as_array());
    let replayed = replayed.and_then(|result| result.get_mut("steps")?.as_array_mut());
    for (recorded, replayed) in recorded.into_iter().flatten().zip(replayed.into_iter().flatten()) {
        if let (Some(was), Some(input)) = (recorded.get("input"), replayed.get_mut("input"))
            && input.to_string().contains(REDACTED)
        {
            *input = was.clone();
        }
    }
}
