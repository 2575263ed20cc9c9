//! What is outside of the host: tools that do as the seed says, and remember that they were called.

use super::clock::SimClock;
use crate::clock::Clock as _;
use crate::runs::perform::{Script, Work};
use mizzen_engine::pack::{Decision, DecisionDraft};
use mizzen_engine::run::{CallFailure, PackAnswer, PackQuestion, Transient};
use mizzen_model::pack::Moment;
use mizzen_sandbox::Pending;
use mizzen_store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use uuid::Uuid;

/// Numbers that follow from a seed and nothing else (SplitMix64).
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn of(seed: u64, what: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_be_bytes());
        hasher.update(what.as_bytes());
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        Self(u64::from_be_bytes(bytes))
    }

    pub(super) fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % sides
    }
}

/// One call, from the world's side.
#[derive(Debug, Clone)]
pub(super) struct Made {
    pub(super) repeatable: bool,
    pub(super) ended: Option<Result<Value, String>>,
}

/// Everything that was done to the world, over all processes.
#[derive(Debug, Default)]
pub(super) struct Record {
    /// Calls by idempotency key, in order.
    pub(super) calls: BTreeMap<String, Vec<Made>>,
    pub(super) wrong: Vec<String>,
    /// Whether a call had to be waited for, or changes the world: then a run is written before its end.
    pub(super) waited: bool,
}

/// The tools as one process reaches them.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) seed: u64,
    pub(super) clock: SimClock,
    pub(super) record: Arc<Mutex<Record>>,
    pub(super) store: Store,
}

impl Script for Tools {
    fn call(&self, work: Work) -> Pending<'_, Result<Value, CallFailure>> {
        Box::pin(async move {
            let pin = work.call.pin.clone();
            let key = work.idempotency_key.clone();
            let turn = {
                let mut record = self.record.lock().unwrap();
                let calls = record.calls.entry(key.clone()).or_default();
                calls.push(Made {
                    repeatable: pin.repeatable,
                    ended: None,
                });
                calls.len() - 1
            };
            let is_pure = matches!(pin.side_effects.as_str(), "none" | "read");
            if !is_pure && !self.intended(&work.run_id, &key).await {
                let wrong = format!("{key} was called before its intent was durable");
                self.record.lock().unwrap().wrong.push(wrong);
            }
            // Without the run's id: a seed that is played again meets the same world.
            let place = key.split_once('/').map_or("", |(_, place)| place);
            let mut dice = Dice::of(self.seed, &format!("{place}#{turn}"));
            let (takes, kind) = (dice.roll(60), dice.roll(20));
            // What a call has read may be another thing later, so it is written down; a failure may be tried again after a pause.
            self.record.lock().unwrap().waited |= pin.side_effects != "none" || takes >= AT_ONCE || kind < 5;
            if kind == 0 {
                // It hangs: only a deadline or a person ends it.
                self.clock.sleep(Duration::from_secs(1_000_000)).await;
            }
            // Some end at once, as a short guest does: the run goes on before anything of it is written.
            if takes >= AT_ONCE {
                self.clock.sleep(Duration::from_millis(takes)).await;
            }
            let failure = |transient| CallFailure {
                code: "SCRIPTED".to_owned(),
                message: format!("{key}#{turn}"),
                transient,
            };
            let result = match kind {
                1..=3 => Err(failure(Transient::Yes)),
                4 => Err(failure(Transient::No)),
                5 if pin.tool == GATE => Ok(json!({"decision": "veto", "reason": "as scripted"})),
                _ if pin.tool == GATE => Ok(json!({"decision": "allow"})),
                _ => Ok(json!({"call": format!("{key}#{turn}")})),
            };
            let mut record = self.record.lock().unwrap();
            if let Some(made) = record.calls.get_mut(&key).and_then(|calls| calls.get_mut(turn)) {
                made.ended = Some(result.clone().map_err(|failure| failure.message));
            }
            result
        })
    }

    fn judge(&self, question: PackQuestion) -> Pending<'_, Vec<PackAnswer>> {
        Box::pin(async move {
            // The same question gets the same answer, in whatever process it is asked.
            let mut dice = Dice::of(self.seed, &format!("packs {}", question.question));
            let (takes, kind) = (dice.roll(60), dice.roll(20));
            self.record.lock().unwrap().waited |= takes >= AT_ONCE * 2 || kind < 2;
            if kind == 0 {
                self.clock.sleep(Duration::from_secs(1_000_000)).await;
            }
            if takes >= AT_ONCE * 2 {
                self.clock.sleep(Duration::from_millis(takes)).await;
            }
            let pointer = match question.moment {
                Moment::BeforeStep => "/n",
                Moment::OnError => "/error/message",
                _ => "/call",
            };
            let decision = |action: &str, details: Value| {
                let draft = DecisionDraft {
                    action: action.to_owned(),
                    rule: "sim".to_owned(),
                    reason: "as scripted".to_owned(),
                    details: details.to_string(),
                    facts: "[]".to_owned(),
                    ..DecisionDraft::default()
                };
                Decision::check(draft).unwrap()
            };
            let (decision, failure) = match kind {
                1 => (Some(decision("retry", json!({"delay_ms": 5}))), None),
                2 => (Some(decision("veto", json!({}))), None),
                3 => (Some(decision("escalate", json!({}))), None),
                4 => (Some(decision("annotate", json!({"note": 1}))), None),
                5..=7 => (Some(decision("redact", json!({"pointer": pointer}))), None),
                8 => (None, Some("it trapped".to_owned())),
                _ => (None, None),
            };
            vec![PackAnswer {
                mount: 0,
                decisions: decision.into_iter().collect(),
                failure,
            }]
        })
    }
}

/// Calls that would take less end at once.
const AT_ONCE: u64 = 20;

/// The gate agent's tool.
pub(super) const GATE: &str = "sim.gate";

impl Tools {
    async fn intended(&self, run: &str, key: &str) -> bool {
        let run = Uuid::try_parse(run).unwrap();
        let events = self.store.run_events(run, 0, 10_000).await.unwrap();
        events.iter().any(|event| {
            let entry: Value = serde_json::from_str(&event.bytes).unwrap();
            entry["kind"] == "intent" && entry["idempotency_key"] == key
        })
    }
}
