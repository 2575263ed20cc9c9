//! Packs: asked at five moments, and what their answers come to. They can only narrow.
//!
//! ```text
//! each pack that wants the moment, in load order (host, council, chain)  →  decisions, or a failure
//! the strongest decides: veto > escalate > retry; of equal ones the first in load order
//! redactions are carried out and annotations recorded, whatever decides
//! a pack that does not answer asks for a veto; what an advisory pack asks for is recorded and not done
//! ```

use super::failing::{FailedBy, Failing};
use super::knowledge::MomentFacts;
use super::place::{At, Attempt, Place, Then};
use super::{CallFailure, Command, Run};
use crate::pack::{Decision, PackAction, REDACTED};
use crate::plan::{MountedPack, Repeatable};
use mizzen_model::execution::{
    Escalation, ExecutionError, ExecutionStatus, PackEvaluation, StepExecution, StepStatus,
};
use mizzen_model::governance::{self, PackMode, PackSeverity};
use mizzen_model::pack::Moment;
use serde_json::{Map, Value};
use std::sync::Arc;

/// How long packs may look at a run that has ended, whatever its own time says.
const END_MS: u64 = 5_000;
/// No pause that a pack asks for is longer.
const MAX_DELAY_MS: u64 = 60_000;

/// What packs are asked.
#[derive(Debug, Clone, PartialEq)]
pub struct PackQuestion {
    /// The question's number; the answer names it.
    pub question: u32,
    /// When.
    pub moment: Moment,
    /// The step it is about, if any.
    pub step: Option<u32>,
    /// Who is asked: places in [`crate::plan::Plan::packs`], in load order.
    pub mounts: Vec<usize>,
    /// The facts, the same for all of them; or why there are none, which nobody can answer then.
    pub facts: Result<Arc<MomentFacts>, String>,
    /// When to stop waiting, in milliseconds since 1970.
    pub deadline_ms: u64,
}

/// What a mounted pack answered.
#[derive(Debug, Clone, PartialEq)]
pub struct PackAnswer {
    /// Its place in [`crate::plan::Plan::packs`].
    pub mount: usize,
    /// What it concluded.
    pub decisions: Vec<Decision>,
    /// Why it did not answer, or not to the end.
    pub failure: Option<String>,
}

/// What the packs were shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// What came from outside, as it is.
    Whole,
    /// What a journal keeps of it: redactions have been carried out, and what was refused is not there.
    Kept,
}

/// One thing that a pack said.
struct Said {
    mount: usize,
    rule: Option<String>,
    severity: PackSeverity,
    action: PackAction,
    reason: String,
    details: Map<String, Value>,
    redacted: bool,
}

impl Said {
    fn failure(mount: usize, reason: String) -> Self {
        Self {
            mount,
            rule: None,
            severity: PackSeverity::Violation,
            action: PackAction::Veto,
            reason,
            details: Map::new(),
            redacted: false,
        }
    }

    fn decision(mount: usize, decision: Decision) -> Self {
        Self {
            mount,
            rule: Some(decision.rule),
            severity: PackSeverity::parse(decision.severity.as_str()).unwrap_or(PackSeverity::Violation),
            action: decision.action,
            reason: decision.reason,
            details: decision.details,
            redacted: false,
        }
    }
}

impl<C> Run<C> {
    pub(super) fn wants(&self, moment: Moment) -> bool {
        self.plan.packs.iter().any(|pack| pack.wants(moment))
    }

    /// Asks the packs that want the moment. Only where there are some.
    pub(super) fn ask_packs(&mut self, then: Then, now_ms: u64, commands: &mut Vec<Command>) {
        let moment = then.moment();
        let mounts = self
            .plan
            .packs
            .iter()
            .enumerate()
            .filter(|(_, pack)| pack.wants(moment))
            .map(|(place, _)| place)
            .collect();
        let deadline_ms = match then {
            Then::Call { deadline_ms, .. } | Then::Respond(Attempt { deadline_ms, .. }) => deadline_ms,
            Then::Start | Then::Fail(_) => self.deadline_ms,
            Then::End => now_ms.saturating_add(END_MS),
        };
        self.questions = self.questions.saturating_add(1);
        let facts = self.facts(then, now_ms);
        commands.push(Command::AskPacks(PackQuestion {
            question: self.questions,
            moment,
            step: then.order(),
            mounts,
            facts,
            deadline_ms,
        }));
        self.at = At::Judging {
            question: self.questions,
            then,
            deadline_ms,
        };
    }

    pub(super) fn packs_answered(
        &mut self,
        answered: u32,
        answers: Vec<PackAnswer>,
        shown: Shown,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        let At::Judging { question, then, .. } = self.at else {
            return;
        };
        if question != answered {
            return;
        }
        let plan = Arc::clone(&self.plan);
        let mut said = listed(&plan.packs, then.moment(), answers);
        let mut secrets = self.redact(&plan.packs, then, shown, &mut said);
        secrets.extend(self.withhold(&plan.packs, &said));
        scrub(&mut said, &secrets, then);
        let retry_at = said
            .iter()
            .map(|said| match &said.action {
                PackAction::Retry { delay_ms } => self.retry_at(then, *delay_ms, now_ms),
                _ => None,
            })
            .collect::<Vec<_>>();
        let decides = self.decisive(&plan.packs, then, &said, &retry_at);
        let decisive = decides.and_then(|place| said.get(place)).map(|said| {
            let pack = plan.packs.get(said.mount).map_or("", |pack| pack.id.as_str());
            (
                pack.to_owned(),
                said.rule.clone(),
                said.reason.clone(),
                said.action.clone(),
            )
        });
        self.record(&plan.packs, then, said, decides);
        let stands = !matches!(decisive, Some((.., PackAction::Veto | PackAction::Retry { .. })));
        // Of a failure what is left may be kept, whatever follows from it.
        if stands || matches!(then, Then::Fail(_)) {
            self.release();
        }
        match decisive {
            Some((pack, rule, reason, PackAction::Veto)) => {
                self.pack_vetoes(then, veto_text(&pack, rule.as_deref(), &reason), now_ms, commands);
            }
            Some((pack, rule, reason, PackAction::Escalate)) => {
                let escalation_id = format!("{}:packs:{question}", self.result.execution_id);
                commands.push(Command::Escalated {
                    escalation_id: escalation_id.clone(),
                });
                self.result.escalation = Some(Escalation {
                    escalation_id,
                    rule_id: format!("{pack}:{}", rule.unwrap_or_default()),
                    reason,
                    answer: None,
                });
                self.result.status = ExecutionStatus::AwaitingApproval;
                self.at = At::Approval {
                    since_ms: now_ms,
                    then: Some(then),
                };
            }
            Some((.., PackAction::Retry { .. })) => {
                let until_ms = decides.and_then(|place| retry_at.get(place).copied().flatten());
                self.retry_for_packs(then, until_ms.unwrap_or(now_ms), commands);
            }
            _ => self.go_on(then, now_ms, commands),
        }
    }

    /// Nothing stands against it: what the packs were asked about happens.
    pub(super) fn go_on(&mut self, then: Then, now_ms: u64, commands: &mut Vec<Command>) {
        match then {
            Then::Start => self.at = At::Moving(Place::Before, 0),
            Then::Call { order, deadline_ms } => {
                let input = self.step(order).and_then(|step| step.input.clone());
                let attempt = Attempt {
                    order,
                    number: 1,
                    deadline_ms,
                };
                self.call(attempt, input.unwrap_or(Value::Null), now_ms, commands);
            }
            Then::Respond(attempt) => {
                let response = self.held.take().unwrap_or(Value::Null);
                self.responded(attempt, response, now_ms, commands);
            }
            Then::Fail(attempt) => {
                let failed = self.failure.take().map(|failing| failing.failed);
                let failed = failed.unwrap_or_else(CallFailure::unknown);
                self.attempt_over(attempt, failed, now_ms, commands);
            }
            Then::End => self.end_as_decided(now_ms, commands),
        }
    }

    fn pack_vetoes(&mut self, then: Then, message: String, now_ms: u64, commands: &mut Vec<Command>) {
        // The attempt's own error stays with its step; what was answered is not kept anywhere.
        if let (Then::Fail(Attempt { order, .. }), Some(Failing { failed, .. })) = (then, self.failure.take())
        {
            let error = ExecutionError {
                code: failed.code,
                message: failed.message,
                step: Some(order),
            };
            self.end_step(order, now_ms, |step| {
                step.status = StepStatus::Failed;
                step.error = Some(error);
            });
            self.describe_step(order);
        }
        self.held = None;
        self.at = At::Moving(Place::Start, 0);
        let error = ExecutionError {
            code: "PACK_VETO".to_owned(),
            message,
            step: then.order(),
        };
        self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
    }

    fn retry_for_packs(&mut self, then: Then, until_ms: u64, commands: &mut Vec<Command>) {
        let (Then::Respond(attempt) | Then::Fail(attempt)) = then else {
            return;
        };
        (self.held, self.failure) = (None, None);
        self.at = At::Backoff {
            order: attempt.order,
            attempt: attempt.number,
            until_ms,
            deadline_ms: attempt.deadline_ms,
        };
        commands.push(Command::WakeAt { at_ms: until_ms });
    }

    /// When a pack's retry would be made: none where the step's own policy has no room for it.
    fn retry_at(&self, then: Then, delay_ms: Option<u64>, now_ms: u64) -> Option<u64> {
        let (Then::Respond(attempt) | Then::Fail(attempt)) = then else {
            return None;
        };
        let Attempt {
            order,
            number,
            deadline_ms,
        } = attempt;
        let step = self.plan.steps.get(order as usize)?;
        let repeatable = step
            .target
            .as_ref()
            .is_ok_and(|target| target.repeatable == Repeatable::Yes);
        let delay = delay_ms
            .unwrap_or_else(|| self.backoff_ms(order, number))
            .min(MAX_DELAY_MS);
        let until_ms = now_ms.saturating_add(delay);
        (repeatable && (1..=step.retries).contains(&number) && until_ms < deadline_ms).then_some(until_ms)
    }

    /// Which of what was said decides.
    fn decisive(
        &self,
        packs: &[MountedPack],
        then: Then,
        said: &[Said],
        retry_at: &[Option<u64>],
    ) -> Option<usize> {
        // A run that has ended badly has ended: packs can only tell about it.
        let is_over = then == Then::End
            && self
                .ending
                .as_ref()
                .is_none_or(|(status, _)| *status != ExecutionStatus::Completed);
        if is_over {
            return None;
        }
        let rank = |place: usize, said: &Said| {
            let mandatory = packs
                .get(said.mount)
                .is_none_or(|pack| pack.mode == PackMode::Mandatory);
            match said.action {
                _ if !mandatory => None,
                PackAction::Veto => Some(0),
                PackAction::Escalate => Some(1),
                PackAction::Retry { .. } => retry_at.get(place)?.map(|_| 2),
                PackAction::Redact(_) | PackAction::Annotate => None,
            }
        };
        // Of equal ones the first: `said` is in load order.
        said.iter()
            .enumerate()
            .filter_map(|(place, said)| Some((rank(place, said)?, place)))
            .min()
            .map(|(_, place)| place)
    }

    /// Carries redactions out. What cannot be carried out counts as no answer. Returns the words that are gone.
    fn redact(&mut self, packs: &[MountedPack], then: Then, shown: Shown, said: &mut [Said]) -> Vec<String> {
        let mut secrets = Vec::new();
        let mut error = self.failure.as_ref().map(Failing::text);
        let is_kept = shown == Shown::Kept;
        // Keys last, and the deepest first: a pointer to something else may lead over one of them.
        let depth = |said: &Said| match &said.action {
            PackAction::Redact(redaction) => redaction.pointer().len(),
            _ => 0,
        };
        let mut order: Vec<usize> = (0..said.len()).collect();
        order.sort_by_key(|place| std::cmp::Reverse(said.get(*place).map_or(0, depth)));
        for keys in [false, true] {
            for place in &order {
                let Some(said) = said.get_mut(*place) else {
                    continue;
                };
                let PackAction::Redact(redaction) = &said.action else {
                    continue;
                };
                let mandatory = packs
                    .get(said.mount)
                    .is_some_and(|pack| pack.mode == PackMode::Mandatory);
                let target = match then {
                    _ if !mandatory || said.redacted => continue,
                    Then::Respond(_) if is_kept => {
                        said.redacted = true;
                        continue;
                    }
                    Then::Fail(_) if is_kept && self.is_failed_by(FailedBy::Call) => {
                        said.redacted = true;
                        continue;
                    }
                    Then::Fail(_) => error.as_mut(),
                    Then::Respond(_) => self.held.as_mut(),
                    Then::Call { order, .. } => self
                        .result
                        .steps
                        .get_mut(order as usize)
                        .and_then(|step| step.input.as_mut()),
                    // Nothing is there to be redacted: it is recorded that it was asked for.
                    Then::Start | Then::End => continue,
                };
                let Some(target) = target else { continue };
                if redaction.is_about_keys(target) != keys {
                    continue;
                }
                match redaction.apply(target) {
                    Ok(replaced) => {
                        said.redacted = true;
                        secrets.extend(replaced.iter().flat_map(|text| gone(&text.before, &text.after)));
                    }
                    Err(error) => {
                        let rule = said.rule.as_deref().unwrap_or_default();
                        *said = Said::failure(said.mount, format!("rule {rule:?}: {error}"));
                    }
                }
            }
        }
        if let (Some(failing), Some(error)) = (&mut self.failure, &error) {
            failing.retell(error);
        }
        secrets
    }

    /// A failure's message that a mandatory pack objects to, or has not seen to the end, is not kept. A pack that does not read
    /// evidence objects to the failure and not to its words, which tell people what went wrong. Returns the words that are gone.
    fn withhold(&mut self, packs: &[MountedPack], said: &[Said]) -> Vec<String> {
        let objects = |said: &Said| {
            let pack = packs
                .get(said.mount)
                .filter(|pack| pack.mode == PackMode::Mandatory);
            said.action == PackAction::Veto
                && pack.is_some_and(|pack| said.rule.is_none() || pack.reads("evidence"))
        };
        match &mut self.failure {
            Some(failing) if said.iter().any(objects) => {
                let words = gone(&failing.failed.message, REDACTED);
                failing.failed = failing.failed.withheld();
                words
            }
            _ => Vec::new(),
        }
    }

    /// What may be kept of how the last call ended. What the run has found itself is not in a journal, but found again.
    fn release(&mut self) {
        self.released = match (&self.held, &self.failure) {
            (Some(held), _) => Some(Ok(held.clone())),
            (None, Some(failing)) if failing.by == FailedBy::Call => Some(Err(failing.failed.clone())),
            _ => None,
        };
    }

    fn is_failed_by(&self, by: FailedBy) -> bool {
        self.failure.as_ref().is_some_and(|failing| failing.by == by)
    }

    fn record(&mut self, packs: &[MountedPack], then: Then, said: Vec<Said>, decides: Option<usize>) {
        let evaluations = said.into_iter().enumerate().filter_map(|(place, said)| {
            let pack = packs.get(said.mount)?;
            let applied = match said.action {
                PackAction::Annotate => true,
                PackAction::Redact(_) => said.redacted,
                PackAction::Veto | PackAction::Escalate | PackAction::Retry { .. } => decides == Some(place),
            };
            Some(PackEvaluation {
                pack_id: pack.id.clone(),
                version: pack.version.clone(),
                digest: pack.digest.clone(),
                mode: pack.mode,
                moment: then.moment(),
                step: then.order(),
                rule: said.rule,
                severity: said.severity,
                action: governance::PackAction::parse(said.action.as_str())?,
                reason: said.reason,
                details: said.details,
                applied,
            })
        });
        let evaluations: Vec<PackEvaluation> = evaluations.collect();
        self.result.packs.get_or_insert_with(Vec::new).extend(evaluations);
    }

    pub(super) fn step(&self, order: u32) -> Option<&StepExecution> {
        self.result.steps.get(order as usize)
    }
}

/// Everything that the asked packs said, in load order. One that is not among the answers has not answered.
fn listed(packs: &[MountedPack], moment: Moment, answers: Vec<PackAnswer>) -> Vec<Said> {
    let mut said = Vec::new();
    let mut answers = answers;
    for (mount, _) in packs.iter().enumerate().filter(|(_, pack)| pack.wants(moment)) {
        match answers.iter().position(|answer| answer.mount == mount) {
            None => said.push(Said::failure(mount, "it did not answer".to_owned())),
            Some(place) => {
                let answer = answers.swap_remove(place);
                said.extend(
                    answer
                        .decisions
                        .into_iter()
                        .map(|decision| Said::decision(mount, decision)),
                );
                said.extend(answer.failure.map(|reason| Said::failure(mount, reason)));
            }
        }
    }
    said
}

fn veto_text(pack: &str, rule: Option<&str>, reason: &str) -> String {
    match rule {
        Some(rule) => format!("pack {pack:?} vetoes by its rule {rule:?}: {reason}"),
        None => format!("pack {pack:?} is mandatory and did not answer: {reason}"),
    }
}

/// The words of a text that a redaction took out. Of a text that is gone as a whole, those that look like more than prose.
fn gone(before: &str, after: &str) -> Vec<String> {
    let telling = |word: &&str| after != REDACTED || word.contains(|c: char| c.is_ascii_digit() || c == '@');
    let mut words: Vec<String> = before
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| c.is_ascii_punctuation()))
        .filter(|word| word.len() >= 3 && !after.contains(word))
        .filter(telling)
        .map(str::to_owned)
        .collect();
    if after == REDACTED {
        words.push(before.to_owned());
    }
    // Longer ones first: a word inside of another must not leave the rest of it.
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    words
}

/// A reason that quotes what was redacted would carry it into the journal, and so would a pointer that leads over a key.
fn scrub(said: &mut [Said], secrets: &[String], then: Then) {
    if secrets.is_empty() {
        return;
    }
    let clean = |text: &mut String| {
        for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
            if text.contains(secret.as_str()) {
                *text = text.replace(secret.as_str(), REDACTED);
            }
        }
    };
    for said in said {
        clean(&mut said.reason);
        if matches!(said.action, PackAction::Redact(_)) {
            // Of an input it is carried out again after a restart, as the whole input stands in the journal; an answer is kept as
            // it was redacted.
            if let (Then::Respond(_), Some(Value::String(pointer))) = (then, said.details.get_mut("pointer"))
            {
                clean(pointer);
            }
            continue;
        }
        let mut open: Vec<&mut Value> = said.details.values_mut().collect();
        while let Some(value) = open.pop() {
            match value {
                Value::String(text) => clean(text),
                Value::Array(items) => open.extend(items),
                Value::Object(members) => open.extend(members.values_mut()),
                _ => {}
            }
        }
    }
}
