//! What must hold at the end, whatever happened on the way.

use super::life::Client;
use super::scenes::{Stage, runtime};
use super::world::Record;
use crate::clock::ManualClock;
use crate::entropy::CountingEntropy;
use crate::host::Host;
use crate::runs::drive::result_text;
use crate::runs::resolve::Planned;
use crate::runs::{Recording, replay, verify};
use mizzen_catalog::key::SecretKey;
use mizzen_engine::pack::REDACTED;
use mizzen_model::execution::{ChainExecutionResult, ExecutionStatus};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use uuid::Uuid;

/// What the client was told. All of it must still be so at the end.
#[derive(Debug, Default)]
pub(super) struct Heard {
    run: Option<Uuid>,
    end: Option<String>,
    decision: Option<String>,
    cancelled: bool,
    /// Outputs of steps that were shown.
    outputs: BTreeMap<u32, Value>,
}

impl Heard {
    pub(super) fn started(&mut self, id: Uuid) -> Result<(), String> {
        match self.run.replace(id) {
            Some(before) if before != id => Err(format!("{before} became {id}")),
            _ => Ok(()),
        }
    }

    pub(super) fn shown(&mut self, result: &ChainExecutionResult) -> Result<(), String> {
        for step in &result.steps {
            let known = self.outputs.get(&step.order);
            if known.is_some() && known != step.output.as_ref() {
                return Err(format!("the output of step {} was {known:?}", step.order));
            }
            if let Some(output) = &step.output {
                self.outputs.insert(step.order, output.clone());
            }
        }
        if result.status.is_final() {
            self.end = Some(result_text(result).to_string());
        }
        Ok(())
    }

    pub(super) fn decided(&mut self, decision: &str) -> Result<(), String> {
        self.decision = Some(decision.to_owned());
        Ok(())
    }

    pub(super) fn cancelled(&mut self, result: &ChainExecutionResult) -> Result<(), String> {
        if result.status != ExecutionStatus::Cancelled {
            return Err(format!("cancelled, and {}", result.status));
        }
        self.cancelled = true;
        self.shown(result)
    }
}

/// Checks a world after its end; the result that is stored.
pub(super) fn check(
    stage: &mut Stage,
    planned: &Planned,
    client: Client,
    record: &Mutex<Record>,
    seed: u64,
) -> Result<Value, String> {
    let heard = client.heard;
    let id = heard.run.ok_or("no run was begun")?;
    let host = Host::with_ports(
        stage.inspect(),
        Arc::new(ManualClock::at(0)),
        Arc::new(CountingEntropy::default()),
    );
    let looked = runtime().block_on(async {
        let run = host.store.run(id).await.map_err(|error| error.to_string())?;
        let events = host.store.run_events(id, 0, 10_000).await;
        let hooks = host.store.deliveries_of_run(id).await;
        let open = host.examine_runs().await.map_err(|error| error.to_string())?;
        let export = host.export_audit(id).await.map_err(|error| error.to_string())?;
        Ok::<_, String>((
            run.ok_or("the run is lost")?,
            events.map_err(|error| error.to_string())?,
            hooks.map_err(|error| error.to_string())?,
            open,
            export,
        ))
    })?;
    let (run, events, hooks, open, export) = looked;
    // One run was asked for, however often: it has ended, and there is no other.
    if !open.is_empty() {
        return Err(format!("runs are open that nobody asked for: {open:?}"));
    }
    let stored = run.result.ok_or("the run is still open")?;
    if heard.end.as_deref() != Some(stored.as_str()) {
        return Err(format!("the client heard {:?}, stored is {stored}", heard.end));
    }
    // Whoever has the public key alone can tell that nothing is missing.
    let key = SecretKey::from_seed(&[7; 32]).public();
    verify(&export, &key).map_err(|error| error.to_string())?;
    // And whoever has the export can make the run again, to the byte. Not every time: planning it again adds two fifths.
    if seed.is_multiple_of(8) {
        let recording = Recording::from_export(&export).map_err(|error| error.to_string())?;
        let replayed = replay(&recording);
        // A decision that followed from what a pack took out of the input cannot be made again. What was sent to tools can be told.
        let follows = |field: &str| field.starts_with("result/steps/") && field.contains("/input");
        if let Some(difference) = replayed.difference
            && (!replayed.input_redacted || follows(&difference.field))
        {
            return Err(format!("a replay differs at {difference}"));
        }
    }
    let result: Value = serde_json::from_str(&stored).map_err(|error| error.to_string())?;
    let entries: Vec<Value> = events
        .iter()
        .map(|event| serde_json::from_str(&event.bytes).unwrap())
        .collect();
    journal(&entries, &heard, &result)?;
    calls(&entries, planned, &result, &record.lock().unwrap())?;
    let told: BTreeSet<&str> = hooks.iter().map(|hook| hook.rule_id.as_str()).collect();
    let matched: BTreeSet<&str> = result["rules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|rule| rule["matched"] == true)
        .map(|rule| rule["rule_id"].as_str().unwrap())
        .collect();
    if told != matched || told.len() != hooks.len() {
        return Err(format!("rules {matched:?} matched, hooks are {hooks:?}"));
    }
    Ok(result)
}

/// Nothing is recorded twice, nothing goes back in time, and what was acknowledged is there.
fn journal(entries: &[Value], heard: &Heard, result: &Value) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut last = 0;
    // A call that is made again after a death comes to its calls again.
    let mut deaths = 0;
    for entry in entries {
        // What clients are promised (the API's JournalEvent) is what is written.
        if let Some(member) = entry.as_object().and_then(crate::runs::entry::misfit) {
            return Err(format!("{member} is not as entry/kinds.rs has it: {entry}"));
        }
        let at = entry["at"].as_u64().ok_or("an entry without a time")?;
        if at < last {
            return Err(format!("an entry at {at} comes after {last}"));
        }
        last = at;
        let kind = entry["kind"].as_str().unwrap_or_default();
        let once = match kind {
            "tick" => continue,
            "call_ended" => format!("{kind} {} {}", entry["step"], entry["attempt"]),
            "interrupted" => {
                deaths += 1;
                continue;
            }
            "intent" | "nested_called" | "nested_ended" => {
                let within = (&entry["step"], &entry["attempt"], &entry["question"]);
                format!("{kind} {within:?} {} after {deaths} deaths", entry["path"])
            }
            "gate_answered" | "packs_answered" => format!("{kind} {}", entry["question"]),
            "decided" => format!("{kind} {}", entry["escalation_id"]),
            "responded" => format!("{kind} {}", entry["interrupt_id"]),
            "pause_asked" | "resumed" => continue,
            _ => kind.to_owned(),
        };
        if !seen.insert(once.clone()) {
            return Err(format!("{once} is recorded twice"));
        }
    }
    if let Some(decision) = &heard.decision
        && !entries
            .iter()
            .any(|entry| entry["kind"] == "decided" && entry["decision"] == decision.as_str())
    {
        return Err(format!(
            "the answer {decision} was taken and is not in the journal"
        ));
    }
    if heard.cancelled && result["status"] != "cancelled" {
        return Err("it was cancelled, and is not".to_owned());
    }
    let last = entries.last().ok_or("no journal")?;
    if last["status"] != result["status"] {
        return Err(format!(
            "the journal ends {}, the result {}",
            last["status"], result["status"]
        ));
    }
    Ok(())
}

/// What is recorded of calls that tools made is what happened in the world.
fn nested_calls(entries: &[Value], id: &str, record: &Record) -> Result<(), String> {
    for entry in entries.iter().filter(|entry| entry["kind"] == "nested_ended") {
        let path = entry["path"].as_str().ok_or("a call without a path")?;
        let key = match entry["question"].as_u64() {
            Some(question) => format!("{id}/gate/{question}/{path}"),
            None => format!("{id}/{}/0/{path}", entry["step"]),
        };
        let is_gone = entry.get("withheld").is_some()
            || entry["output"]["call"] == REDACTED
            || entry["failure"]["message"] == REDACTED;
        if is_gone {
            continue;
        }
        let ended = match entry.get("output") {
            Some(output) => Ok(output.clone()),
            None => Err(entry["failure"]["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned()),
        };
        let made = record.calls.get(&key).map(Vec::as_slice).unwrap_or_default();
        if !made.iter().any(|call| call.ended.as_ref() == Some(&ended)) {
            return Err(format!("{key} did not end with {ended:?}"));
        }
    }
    Ok(())
}

/// What is recorded of calls is what happened in the world, and no call was made twice that must not be.
fn calls(entries: &[Value], planned: &Planned, result: &Value, record: &Record) -> Result<(), String> {
    if let Some(wrong) = record.wrong.first() {
        return Err(wrong.clone());
    }
    for (key, calls) in &record.calls {
        if calls.len() > 1 && calls.iter().any(|call| !call.repeatable) {
            return Err(format!(
                "{key} was called {} times and must not be repeated",
                calls.len()
            ));
        }
    }
    let id = result["execution_id"].as_str().unwrap_or_default();
    nested_calls(entries, id, record)?;
    let visits = super::graphs::keys(entries);
    for entry in entries.iter().filter(|entry| entry["kind"] == "call_ended") {
        let step = entry["step"].as_u64().ok_or("a call without a step")?;
        let place = visits.get(&step).cloned().unwrap_or_else(|| format!("{step}/0"));
        let made = record.calls.get(&format!("{id}/{place}"));
        let made = made.map(Vec::as_slice).unwrap_or_default();
        let repeatable = match planned.plan.graph() {
            Some(_) => made.iter().any(|call| call.repeatable),
            None => planned
                .plan
                .call(usize::try_from(step).unwrap())
                .is_some_and(|call| call.pin.repeatable),
        };
        // What packs have not let through, or taken out, is not there to be compared.
        let is_gone = entry.get("withheld").is_some()
            || entry["output"]["call"] == REDACTED
            || entry["failure"]["message"] == REDACTED;
        if is_gone && !planned.plan.packs().is_empty() {
            continue;
        }
        if let Some(output) = entry.get("output") {
            let happened = made.iter().any(|call| call.ended == Some(Ok(output.clone())));
            if !happened {
                return Err(format!("nobody answered {output}"));
            }
        } else if entry["failure"]["code"] == "IN_DOUBT" {
            if repeatable {
                return Err(format!("step {step} can be repeated and is in doubt"));
            }
        } else {
            let message = entry["failure"]["message"]
                .as_str()
                .unwrap_or_default()
                .to_owned();
            if !made.iter().any(|call| call.ended == Some(Err(message.clone()))) {
                return Err(format!("nobody failed with {message}"));
            }
        }
    }
    Ok(())
}
