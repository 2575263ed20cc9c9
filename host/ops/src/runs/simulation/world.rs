//! What is outside of the host: tools that do as the seed says, and remember that they were called.

use super::clock::SimClock;
use super::scenes::{TOOLS, pin};
use crate::clock::Clock as _;
use crate::runs::perform::{Script, Work};
use crate::runs::resolve::Pin;
use mizzen_engine::pack::{Decision, DecisionDraft, PackAction};
use mizzen_engine::run::{CallFailure, PackAnswer, PackQuestion, Transient};
use mizzen_model::governance::PackMode;
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use mizzen_sandbox::{NestedCall, Pending};
use mizzen_store::Store;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
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
    /// What packs said last before a call that a tool makes, by step and path.
    judged: BTreeMap<(Option<u32>, String), Judged>,
}

/// What packs said before a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Judged {
    LetThrough,
    Denied,
}

/// The tools as one process reaches them.
#[derive(Debug)]
pub(super) struct Tools {
    pub(super) seed: u64,
    pub(super) clock: SimClock,
    pub(super) record: Arc<Mutex<Record>>,
    pub(super) store: Store,
    /// What its packs say is done.
    pub(super) governance: PackMode,
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
            self.check_judged(&work);
            if !pin.side_effects.is_harmless() && !self.intended(&work.run_id, &key).await {
                let wrong = format!("{key} was called before its intent was durable");
                self.record.lock().unwrap().wrong.push(wrong);
            }
            // Without the run's id: a seed that is played again meets the same world.
            let place = key.split_once('/').map_or("", |(_, place)| place);
            self.call_others(&work, place).await;
            let mut dice = Dice::of(self.seed, &format!("{place}#{turn}"));
            let (takes, kind) = (dice.roll(60), dice.roll(20));
            // What a call has read may be another thing later, so it is written down; a failure may be tried again after a pause.
            self.record.lock().unwrap().waited |=
                pin.side_effects != SideEffects::None || takes >= AT_ONCE || kind < 5;
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
                tool_code: Some("SIM".to_owned()),
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

    fn find(&self, tool: &str) -> Option<Pin> {
        let (name, side_effects, repeatable) = TOOLS.iter().find(|(name, ..)| *name == tool)?;
        Some(pin(name, *side_effects, *repeatable))
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
            let of_the_gate = question.call.as_deref() == Some("gate");
            let pointer = match question.moment {
                Moment::BeforeStep if of_the_gate => "/input/n",
                Moment::AfterStep if of_the_gate => "/decision",
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
            let is_against = failure.is_some()
                || decision.as_ref().is_some_and(|decision| {
                    matches!(decision.action, PackAction::Veto | PackAction::Escalate)
                        || (matches!(decision.action, PackAction::Redact(_)) && pointer != "/n")
                });
            if let (Some(path), Moment::BeforeStep) = (question.call, question.moment) {
                let judged = match is_against && self.governance == PackMode::Mandatory {
                    true => Judged::Denied,
                    false => Judged::LetThrough,
                };
                let mut record = self.record.lock().unwrap();
                record.judged.insert((question.step, path), judged);
            }
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

/// Seeds of `regressions.txt` that found something before tools called tools.
const FOUND_WITHOUT_CALLS: [u64; 3] = [4117, 554, 197];

/// The gate agent's tool.
pub(super) const GATE: &str = "sim.gate";

impl Tools {
    /// A call that packs are against is never made.
    fn check_judged(&self, work: &Work) {
        let path = work
            .idempotency_key
            .rsplit_once('/')
            .map(|(_, path)| path.to_owned());
        let mut record = self.record.lock().unwrap();
        let judged = path.filter(|_| !work.lineage.is_empty()).and_then(|path| {
            let judged = record.judged.get(&(work.step, path)).copied();
            judged.filter(|judged| *judged == Judged::Denied)
        });
        if judged.is_some() {
            let wrong = format!("{} was called, and packs are against it", work.idempotency_key);
            record.wrong.push(wrong);
        }
    }

    /// Half of the tools call others, the same ones whenever they are called.
    async fn call_others(&self, work: &Work, place: &str) {
        let mut dice = Dice::of(self.seed, &format!("{place} calls"));
        let depth = u64::try_from(work.lineage.len()).unwrap();
        if FOUND_WITHOUT_CALLS.contains(&self.seed) || dice.roll(2 + 2 * depth) > 0 || depth > 2 {
            return;
        }
        for number in 0..=dice.roll(3) {
            let (tool, ..) = TOOLS[usize::try_from(dice.roll(4)).unwrap()];
            let mut lineage = work.lineage.clone();
            lineage.push(work.call.pin.tool.clone());
            let asked = NestedCall {
                tool: tool.to_owned(),
                input: json!({"n": number, "call": "x"}).to_string(),
                lineage,
                deadline: Instant::now() + Duration::from_secs(3_600),
            };
            // Whatever comes of it: a tool may go on without.
            let _ = work.tools.call(asked).await;
        }
    }

    async fn intended(&self, run: &str, key: &str) -> bool {
        let run = Uuid::try_parse(run).unwrap();
        let events = self.store.run_events(run, 0, 10_000).await.unwrap();
        events.iter().any(|event| {
            let entry: Value = serde_json::from_str(&event.bytes).unwrap();
            entry["kind"] == "intent" && entry["idempotency_key"] == key
        })
    }
}
