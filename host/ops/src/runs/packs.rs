//! The packs of a run: which ones, to the byte, and asking them.

use super::body::Body;
use super::entry::EntryKind;
use super::perform::Ended;
use super::resolve::StepCall;
use crate::governance;
use crate::host::Host;
use crate::metrics::Family;
use crate::toolbox::{InstalledPack, Loaded, MomentTerms};
use mizzen_engine::pack::{Decision, DecisionDraft};
use mizzen_engine::plan::{MountedPack, ToolFacts};
use mizzen_engine::run::{Command, Event, Evidence, PackAnswer, PackQuestion, Run};
use mizzen_json::{Form, serde_write_canonical, write_string};
use mizzen_model::execution::PackEvaluation;
use mizzen_model::governance::{Mount, PackMode, PackOrigin, PackSeverity};
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Match operations that one evaluation may spend.
const BUDGET: u64 = 1_000_000;

/// A mounted pack as it is recorded when a run begins.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PackPin {
    id: String,
    version: String,
    digest: String,
    mode: PackMode,
    origin: PackOrigin,
    moments: Vec<String>,
    /// Runs that began before this was recorded are told everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    reads: Vec<String>,
}

impl PackPin {
    pub(super) fn mounted(&self) -> MountedPack {
        MountedPack {
            id: self.id.clone(),
            version: self.version.clone(),
            digest: self.digest.clone(),
            mode: self.mode,
            origin: self.origin,
            moments: self
                .moments
                .iter()
                .filter_map(|moment| Moment::parse(moment))
                .collect(),
            reads: self.reads.clone(),
        }
    }
}

/// The packs of a run, ready to be asked: one for each mount of its plan, or why it cannot be.
#[derive(Debug, Default)]
pub(crate) struct PackSet {
    packs: Vec<Result<Arc<InstalledPack>, String>>,
}

impl PackSet {
    /// Finds what governs a run, in load order. A pack that is mounted twice is asked once, as strictly as any mount says.
    pub(super) fn find(loaded: &Loaded, mounts: &[(PackOrigin, Mount)]) -> (Vec<PackPin>, Self) {
        let mut pins: Vec<PackPin> = Vec::new();
        let mut set = Self::default();
        for (origin, mount) in mounts {
            let found = governance::find(loaded, "/governance", mount);
            let (version, digest, moments, reads) = match &found {
                Ok(pack) => (
                    pack.version().to_string(),
                    pack.digest().to_string(),
                    pack.descriptor().moments().to_vec(),
                    pack.descriptor().reads().to_vec(),
                ),
                // It is asked at the first moment, and does not answer.
                Err(_) => (
                    mount.version.clone().unwrap_or_default(),
                    String::new(),
                    vec![Moment::BeforeRun],
                    Vec::new(),
                ),
            };
            let same =
                |pin: &&mut PackPin| pin.id == mount.id && pin.version == version && pin.digest == digest;
            if let Some(pin) = pins.iter_mut().find(same) {
                if mount.mode() == PackMode::Mandatory {
                    pin.mode = PackMode::Mandatory;
                }
                continue;
            }
            pins.push(PackPin {
                id: mount.id.clone(),
                version,
                digest,
                mode: mount.mode(),
                origin: *origin,
                moments: moments.iter().map(|moment| moment.as_str().to_owned()).collect(),
                reads,
            });
            set.packs.push(found.map_err(|problem| problem.message));
        }
        (pins, set)
    }

    /// The packs that a run was begun with, as far as they are still loaded.
    pub(super) fn again(loaded: &Loaded, mounted: &[MountedPack]) -> Self {
        let packs = mounted.iter().map(|mount| {
            loaded.pack_at(&mount.digest, &mount.id).ok_or_else(|| {
                format!(
                    "pack {:?} {} ({}) was mounted when the run began and is not loaded any more: install it again",
                    mount.id, mount.version, mount.digest
                )
            })
        });
        Self {
            packs: packs.collect(),
        }
    }
}

/// What packs are told about a call.
pub(super) fn about(call: &super::resolve::StepCall) -> ToolFacts {
    ToolFacts {
        tool: call.pin.tool.clone(),
        version: call.pin.version.clone(),
        plugin: call.pin.plugin.clone(),
        side_effects: call.pin.side_effects,
    }
}

/// Asks the packs, one after the other: a later one sees the facts that earlier ones share.
pub(super) async fn ask(
    host: Arc<Host>,
    packs: Arc<PackSet>,
    question: PackQuestion,
    left: Duration,
) -> Ended {
    #[cfg(test)]
    if let Some(script) = host.script.get() {
        let event = Event::PacksAnswered {
            question: question.question,
            answers: script.judge(question).await,
            shown: Evidence::Full,
        };
        return (event, Body::default());
    }
    let deadline = Instant::now().checked_add(left);
    let terms = MomentTerms {
        budget: BUDGET,
        deadline,
        level: question.level,
    };
    let facts = question.facts;
    let mut shared: Vec<(String, String)> = Vec::new();
    let mut answers = Vec::with_capacity(question.mounts.len());
    for mount in question.mounts {
        let answer = match (packs.packs.get(mount), &facts) {
            (Some(Ok(pack)), Ok(known)) => {
                let started = Instant::now();
                let verdict = pack.evaluate_moment(known, &shared, terms).await;
                let outcome = verdict
                    .as_ref()
                    .map_or_else(|failure| failure.name(), |_| "verdict");
                host.metrics.count(Family::PackEvaluations, &[pack.id(), outcome]);
                let seconds = started.elapsed().as_secs_f64();
                host.metrics.observe(Family::PackSeconds, &[pack.id()], seconds);
                verdict.map_err(|failure| failure.to_string())
            }
            (Some(Err(problem)), _) | (_, Err(problem)) => Err(problem.clone()),
            (None, _) => Err("it is not in the plan".to_owned()),
        };
        let (decisions, failure) = match answer {
            Ok(verdict) => {
                let template = |fact: &Value| Some(fact.get("template")?.as_str()?.to_owned());
                shared.extend(
                    verdict
                        .shared
                        .iter()
                        .filter_map(|fact| Some((template(fact)?, fact.to_string()))),
                );
                (verdict.decisions, None)
            }
            Err(problem) => (Vec::new(), Some(problem)),
        };
        answers.push(PackAnswer {
            mount,
            decisions,
            failure,
        });
    }
    let event = Event::PacksAnswered {
        question: question.question,
        answers,
        shown: Evidence::Full,
    };
    (event, Body::default())
}

/// Which question an event answers, and who was asked.
pub(super) fn asked(event: &Event) -> Option<(u32, Vec<usize>)> {
    match event {
        Event::PacksAnswered {
            question, answers, ..
        } => Some((*question, answers.iter().map(|answer| answer.mount).collect())),
        _ => None,
    }
}

/// A question to which no pack had anything to say. It needs no entry of its own: the next one names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cleared {
    question: u32,
    asked: Vec<usize>,
    pub(super) at_ms: u64,
}

impl Cleared {
    pub(super) fn new((question, asked): (u32, Vec<usize>), at_ms: u64) -> Self {
        Self {
            question,
            asked,
            at_ms,
        }
    }

    pub(super) fn body(&self) -> Body {
        let mut body = Body::default();
        body.written("asked", list(&self.asked));
        body.number("at", self.at_ms);
        body.number("question", self.question);
        body
    }

    pub(super) fn parse(value: &Value) -> Option<Self> {
        let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
        Some(Self {
            question: u32::try_from(value.get("question")?.as_u64()?).ok()?,
            asked: value
                .get("asked")?
                .as_array()?
                .iter()
                .map(number)
                .collect::<Option<_>>()?,
            at_ms: value.get("at")?.as_u64()?,
        })
    }

    /// An entry of its own, for somebody who cannot wait for the next one.
    pub(super) fn entry(&self, mounted: &[MountedPack]) -> Body {
        body(self.question, &self.asked, mounted, &[])
    }

    /// What happened then.
    pub(super) fn event(&self) -> Event {
        let answer = |mount: &usize| PackAnswer {
            mount: *mount,
            decisions: Vec::new(),
            failure: None,
        };
        Event::PacksAnswered {
            question: self.question,
            answers: self.asked.iter().map(answer).collect(),
            shown: Evidence::Redacted,
        }
    }
}

/// Whether nobody outside can tell that it is done: then nothing has to be durable before it.
pub(super) fn is_quiet(command: &Command, run: &Run<StepCall>) -> bool {
    match command {
        Command::AskPacks(_) => true,
        Command::Call { order, .. } => run
            .call_of(*order)
            .is_none_or(|call| call.pin.side_effects == SideEffects::None),
        Command::NestedCall { callee, .. } => callee.is_pure(),
        // A guest is answered: what it does then is its own call's, which is in the journal.
        Command::NestedReply { .. } => true,
        _ => false,
    }
}

/// Places of mounts, as JSON.
fn list(mounts: &[usize]) -> String {
    let mut text = String::with_capacity(2 + 3 * mounts.len());
    text.push('[');
    for (at, mount) in mounts.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = write!(text, "{}{mount}", if at == 0 { "" } else { "," });
    }
    text.push(']');
    text
}

/// The journal's entry of what packs said: `said` is what the run has recorded of it, redacted and with its effect.
pub(super) fn body(question: u32, asked: &[usize], mounted: &[MountedPack], said: &[PackEvaluation]) -> Body {
    let place = |said: &PackEvaluation| {
        mounted.iter().position(|pack| {
            pack.id == said.pack_id && pack.version == said.version && pack.digest == said.digest
        })
    };
    let mut body = Body::of_kind(EntryKind::PacksAnswered);
    body.number("question", question);
    body.written("asked", list(asked));
    let mut packs = String::with_capacity(2 + USUAL * said.len());
    for (at, said) in said.iter().enumerate() {
        packs.push(if at == 0 { '[' } else { ',' });
        write_evaluation(said, place(said), &mut packs);
    }
    packs.push_str(if said.is_empty() { "[]" } else { "]" });
    body.written("packs", packs);
    body
}

/// What most of what a pack says fits into.
const USUAL: usize = 512;

/// One thing that a pack said, and its mount: a canonical object, written in the order of its keys.
fn write_evaluation(said: &PackEvaluation, mount: Option<usize>, out: &mut String) {
    let text = |before: &str, text: &str, out: &mut String| {
        out.push_str(before);
        write_string(text, Form::Canonical, out);
    };
    text("{\"action\":", said.action.as_str(), out);
    out.push_str(if said.applied {
        ",\"applied\":true"
    } else {
        ",\"applied\":false"
    });
    if let Some(call) = &said.call {
        text(",\"call\":", call, out);
    }
    for (at, (key, value)) in said.details.iter().enumerate() {
        text(if at == 0 { ",\"details\":{" } else { "," }, key, out);
        out.push(':');
        serde_write_canonical(value, out);
    }
    if !said.details.is_empty() {
        out.push('}');
    }
    text(",\"digest\":", &said.digest, out);
    text(",\"mode\":", said.mode.as_str(), out);
    text(",\"moment\":", said.moment.as_str(), out);
    // Writing to a string cannot fail.
    if let Some(mount) = mount {
        let _ = write!(out, ",\"mount\":{mount}");
    }
    text(",\"pack_id\":", &said.pack_id, out);
    text(",\"reason\":", &said.reason, out);
    if let Some(rule) = &said.rule {
        text(",\"rule\":", rule, out);
    }
    text(",\"severity\":", said.severity.as_str(), out);
    if let Some(step) = said.step {
        let _ = write!(out, ",\"step\":{step}");
    }
    text(",\"version\":", &said.version, out);
    out.push('}');
}

/// Reads such an entry.
pub(super) fn parse(value: &Value) -> Option<Event> {
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let asked = value.get("asked")?.as_array()?;
    let mut answers: Vec<PackAnswer> = asked
        .iter()
        .map(|mount| {
            Some(PackAnswer {
                mount: number(mount)?,
                decisions: Vec::new(),
                failure: None,
            })
        })
        .collect::<Option<_>>()?;
    for said in value.get("packs")?.as_array()? {
        let mount = number(said.get("mount")?)?;
        let text = |name: &str| Some(said.get(name)?.as_str()?.to_owned());
        let Some(answer) = answers.iter_mut().find(|answer| answer.mount == mount) else {
            // It was asked and did not answer, which follows from that alone.
            continue;
        };
        match text("rule") {
            None => answer.failure = Some(text("reason")?),
            Some(rule) => {
                let draft = DecisionDraft {
                    action: text("action")?,
                    severity: PackSeverity::parse(&text("severity")?)?,
                    rule,
                    reason: text("reason")?,
                    details: said
                        .get("details")
                        .map_or_else(|| "{}".to_owned(), Value::to_string),
                    facts: "[]".to_owned(),
                };
                answer.decisions.push(Decision::check(draft).ok()?);
            }
        }
    }
    Some(Event::PacksAnswered {
        question: u32::try_from(value.get("question")?.as_u64()?).ok()?,
        answers,
        shown: Evidence::Redacted,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use mizzen_json::serde_to_canonical;
    use serde_json::json;

    #[test]
    fn what_packs_say_is_journaled_as_it_is_shown() {
        let full = json!({
            "pack_id": "bosun.audit", "version": "0.1.0", "digest": "blake3:00", "mode": "advisory", "moment": "after-step", "step": 3, "call": "1.2",
            "rule": "say \"it\"", "severity": "warning", "action": "annotate", "reason": "é\n",
            "details": {"b": [1, {"z": null, "a": 1.5}], "a": "x"}, "applied": false,
        });
        let mut short = full.clone();
        for name in ["step", "call", "rule", "details"] {
            short.as_object_mut().unwrap().remove(name);
        }
        for value in [full, short] {
            let said: PackEvaluation = serde_json::from_value(value.clone()).unwrap();
            let written = |mount| {
                let mut out = String::new();
                write_evaluation(&said, mount, &mut out);
                out
            };
            assert_eq!(written(None), serde_to_canonical(&value));
            let mut mounted = value;
            mounted["mount"] = json!(2);
            assert_eq!(written(Some(2)), serde_to_canonical(&mounted));
        }
    }
}
