//! Packs: asked at five moments, and what their answers come to. They can only narrow.
//!
//! ```text
//! each pack that wants the moment, in load order (host, council, chain)  →  decisions, or a failure
//! the strongest decides: veto > escalate > retry; of equal ones the first in load order
//! redactions are carried out and annotations recorded, whatever decides
//! a pack that does not answer asks for a veto; what an advisory pack asks for is recorded and not done
//! ```

mod kept_input;
mod redact;

use super::failing::Failing;
use super::knowledge::MomentFacts;
use super::nested::Frame;
use super::state::{About, Attempt, Checkpoint, Continuation, State};
use super::{CallFailure, Command, KeptLog, Run};
use crate::pack::{Decision, PackAction, decision};
use crate::plan::{MountedPack, Repeatable};
use mizzen_model::execution::{
    CallLog, Escalation, ExecutionError, ExecutionStatus, PackEvaluation, StepExecution, StepStatus,
};
use mizzen_model::governance::{PackMode, PackSeverity};
use mizzen_model::pack::Moment;
use mizzen_model::tool_spec::SideEffects;
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
    /// The path of the call that it is about, if a tool makes it.
    pub call: Option<String>,
    /// How many sandboxes wait for the answer: those of the calls around it.
    pub level: usize,
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
pub enum Evidence {
    /// What came from outside, as it is.
    Full,
    /// What a journal keeps of it: redactions have been carried out, and what was refused is not there.
    Redacted,
}

/// One thing that a pack said.
struct PackFinding {
    mount: usize,
    rule: Option<String>,
    severity: PackSeverity,
    action: PackAction,
    reason: String,
    details: Map<String, Value>,
    redacted: bool,
}

impl PackFinding {
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
            severity: decision.severity,
            action: decision.action,
            reason: decision.reason,
            details: decision.details,
            redacted: false,
        }
    }
}

/// What decides, of everything that packs said.
pub(super) struct Decisive {
    pack: String,
    rule: Option<String>,
    reason: String,
    pub(super) action: PackAction,
    /// When a retry is made.
    retry_at: Option<u64>,
    /// How long a person has to answer an escalation, when the pack says.
    expires_ms: Option<u64>,
}

impl Decisive {
    pub(super) fn veto_text(&self) -> String {
        let Self {
            pack, rule, reason, ..
        } = self;
        match rule {
            Some(rule) => format!("pack {pack:?} vetoes by its rule {rule:?}: {reason}"),
            None => format!("pack {pack:?} is mandatory and did not answer: {reason}"),
        }
    }

    pub(super) fn escalation_text(&self) -> String {
        let Self {
            pack, rule, reason, ..
        } = self;
        let rule = rule.as_deref().unwrap_or_default();
        format!("pack {pack:?} asks for a person's approval by its rule {rule:?}: {reason}")
    }
}

impl<C> Run<C> {
    pub(super) fn wants(&self, moment: Moment) -> bool {
        self.plan.packs.iter().any(|pack| pack.wants(moment))
    }

    /// A question to the packs that want the moment. Only where there are some.
    pub(super) fn question(&mut self, then: Continuation, deadline_ms: u64, now_ms: u64) -> PackQuestion {
        let moment = then.moment();
        let mounts = self
            .plan
            .packs
            .iter()
            .enumerate()
            .filter(|(_, pack)| pack.wants(moment))
            .map(|(place, _)| place)
            .collect();
        self.questions = self.questions.saturating_add(1);
        let nested = self
            .task
            .nested
            .top()
            .filter(|_| matches!(then, Continuation::Nested { .. }));
        PackQuestion {
            question: self.questions,
            moment,
            step: then.order(),
            call: nested.map(|frame| frame.asked.path.clone()),
            level: nested.map_or(0, Frame::depth),
            mounts,
            facts: self.facts(then, now_ms),
            deadline_ms,
        }
    }

    /// Asks the packs that want the moment about what happens next.
    pub(super) fn ask_packs(&mut self, then: Continuation, now_ms: u64, commands: &mut Vec<Command>) {
        let deadline_ms = match then {
            Continuation::Call { deadline_ms, .. } | Continuation::Respond(Attempt { deadline_ms, .. }) => {
                deadline_ms
            }
            Continuation::Start | Continuation::Fail(_) | Continuation::Nested { .. } => self.deadline_ms,
            Continuation::End => now_ms.saturating_add(END_MS),
        };
        let question = self.question(then, deadline_ms, now_ms);
        commands.push(Command::AskPacks(question));
        self.task.state = State::Judging {
            question: self.questions,
            then,
            deadline_ms,
        };
    }

    pub(super) fn packs_answered(
        &mut self,
        answered: u32,
        answers: Vec<PackAnswer>,
        shown: Evidence,
        now_ms: u64,
        commands: &mut Vec<Command>,
    ) {
        if let Some(about) = self.task.nested.asks(answered) {
            return self.nested_judged(about, answers, shown, now_ms, commands);
        }
        let State::Judging { question, then, .. } = self.task.state else {
            return;
        };
        if question != answered {
            return;
        }
        let decisive = self.judge(then, answers, shown, now_ms);
        match decisive {
            Some(decisive) if decisive.action == PackAction::Veto => {
                self.pack_vetoes(then, decisive.veto_text(), now_ms, commands);
            }
            // The other branches hold their sandboxes meanwhile: a person may take days.
            Some(decisive) if decisive.action == PackAction::Escalate && self.branches.focus().is_some() => {
                (self.task.held, self.task.failure) = (None, None);
                let text = decisive.escalation_text();
                let message =
                    format!("{text}; a branch cannot wait for a person: make it a node outside of the block");
                let order = then.order().unwrap_or_default();
                let error = ExecutionError::new("NEEDS_APPROVAL", message, Some(order));
                self.node_failed(order, error, now_ms, commands);
            }
            Some(Decisive {
                pack,
                rule,
                reason,
                action: PackAction::Escalate,
                expires_ms,
                ..
            }) => {
                let escalation_id = format!("{}:packs:{question}", self.result.execution_id);
                commands.push(Command::Escalated {
                    escalation_id: escalation_id.clone(),
                });
                let escalation = Escalation {
                    escalation_id,
                    rule_id: format!("{pack}:{}", rule.unwrap_or_default()),
                    reason,
                    expires_at: None,
                    answer: None,
                };
                self.escalate(escalation, expires_ms, Some(then), now_ms);
            }
            Some(Decisive {
                action: PackAction::Retry { .. },
                retry_at,
                ..
            }) => self.retry_for_packs(then, retry_at.unwrap_or(now_ms), commands),
            _ => self.go_on(then, now_ms, commands),
        }
    }

    /// What the answers come to: redactions are carried out, everything is recorded, and what decides is returned.
    pub(super) fn judge(
        &mut self,
        then: Continuation,
        answers: Vec<PackAnswer>,
        shown: Evidence,
        now_ms: u64,
    ) -> Option<Decisive> {
        let plan = Arc::clone(&self.plan);
        let mut said = listed(&plan.packs, then.moment(), answers);
        let mut secrets = self.redact(&plan.packs, then, shown, &mut said);
        secrets.extend(self.withhold(&plan.packs, then, &said));
        self.scrub(&mut said, &secrets, then);
        let retry_at = said
            .iter()
            .map(|said| match &said.action {
                PackAction::Retry { delay_ms } => self.retry_at(then, *delay_ms, now_ms),
                _ => Err(String::new()),
            })
            .collect::<Vec<_>>();
        let decides = self.decisive(&plan.packs, then, &said, &retry_at);
        let decisive = decides.and_then(|place| {
            let said = said.get(place)?;
            let pack = plan.packs.get(said.mount).map_or("", |pack| pack.id.as_str());
            Some(Decisive {
                pack: pack.to_owned(),
                rule: said.rule.clone(),
                reason: said.reason.clone(),
                action: said.action.clone(),
                retry_at: retry_at.get(place).and_then(|at| at.as_ref().ok()).copied(),
                expires_ms: decision::expires_ms(&said.details).ok().flatten(),
            })
        });
        let answer = matches!(
            then,
            Continuation::Respond(_) | Continuation::Fail(_) | Continuation::Nested { .. }
        );
        let objected = said.iter().any(|said| said.redacted)
            || !secrets.is_empty()
            || matches!(
                decisive.as_ref().map(|decisive| &decisive.action),
                Some(PackAction::Veto | PackAction::Retry { .. })
            );
        self.kept_log = if answer && objected {
            KeptLog::No
        } else {
            KeptLog::Yes
        };
        if self.kept_log == KeptLog::No {
            match then {
                Continuation::Nested { .. } => self.task.nested.drop_log(),
                _ => self.task.log = CallLog::default(),
            }
        }
        self.record(&plan.packs, then, said, decides, &retry_at);
        let stands = match decisive.as_ref().map(|decisive| &decisive.action) {
            Some(PackAction::Veto | PackAction::Retry { .. }) => false,
            // Only what can wait for a person is kept until there is an answer.
            Some(PackAction::Escalate) => !matches!(then, Continuation::Nested { .. }),
            _ => true,
        };
        // Of a failure what is left may be kept, whatever follows from it.
        let failed = Continuation::Nested {
            about: About::Fail,
            order: then.order(),
        };
        if stands || matches!(then, Continuation::Fail(_)) || then == failed {
            self.release(then);
        }
        decisive
    }

    /// Nothing stands against it: what the packs were asked about happens.
    pub(super) fn go_on(&mut self, then: Continuation, now_ms: u64, commands: &mut Vec<Command>) {
        match then {
            Continuation::Start => self.task.state = State::Moving(Checkpoint::Before, 0),
            Continuation::Call { order, deadline_ms } => {
                let input = self.step(order).and_then(|step| step.input.clone());
                let attempt = Attempt {
                    order,
                    number: 1,
                    deadline_ms,
                };
                self.call(attempt, input.unwrap_or(Value::Null), now_ms, commands);
            }
            Continuation::Respond(attempt) => {
                let response = self.task.held.take().unwrap_or(Value::Null);
                self.responded(attempt, response, now_ms, commands);
            }
            Continuation::Fail(attempt) => {
                let failed = self.task.failure.take().map(|failing| failing.failed);
                let failed = failed.unwrap_or_else(CallFailure::unknown);
                self.attempt_over(attempt, failed, now_ms, commands);
            }
            Continuation::End => self.end_as_decided(now_ms, commands),
            // A call that a tool makes goes on by itself: `nested_judged`.
            Continuation::Nested { .. } => {}
        }
    }

    fn pack_vetoes(&mut self, then: Continuation, message: String, now_ms: u64, commands: &mut Vec<Command>) {
        // The attempt's own error stays with its step; what was answered is not kept anywhere.
        if let (Continuation::Fail(Attempt { order, .. }), Some(Failing { failed, .. })) =
            (then, self.task.failure.take())
        {
            let error = failed.into_error(Some(order));
            self.end_step(order, now_ms, |step| {
                step.status = StepStatus::Failed;
                step.error = Some(error);
            });
            self.describe_step(order);
        }
        self.task.held = None;
        self.task.state = State::Moving(Checkpoint::Start, 0);
        let error = ExecutionError::new("PACK_VETO", message, then.order());
        self.finish(ExecutionStatus::Vetoed, Some(error), now_ms, commands);
    }

    fn retry_for_packs(&mut self, then: Continuation, until_ms: u64, commands: &mut Vec<Command>) {
        let (Continuation::Respond(attempt) | Continuation::Fail(attempt)) = then else {
            return;
        };
        (self.task.held, self.task.failure) = (None, None);
        self.task.state = State::Backoff {
            order: attempt.order,
            attempt: attempt.number,
            until_ms,
            deadline_ms: attempt.deadline_ms,
        };
        commands.push(Command::WakeAt { at_ms: until_ms });
    }

    /// When a pack's retry would be made, or why the step's own policy has no room for it.
    fn retry_at(&self, then: Continuation, delay_ms: Option<u64>, now_ms: u64) -> Result<u64, String> {
        let (Continuation::Respond(attempt) | Continuation::Fail(attempt)) = then else {
            return Err("only the call of a step is made again, when it has ended".to_owned());
        };
        let Attempt {
            order,
            number,
            deadline_ms,
        } = attempt;
        let Some(step) = self.planned(order) else {
            return Err("there is no such step".to_owned());
        };
        match &step.target {
            Ok(target) if target.repeatable == Repeatable::Yes => {}
            Ok(_) => {
                let effects = step
                    .tool
                    .as_ref()
                    .map_or(SideEffects::External, |tool| tool.side_effects);
                return Err(format!(
                    "{} is {effects} and names no idempotency key",
                    step.action
                ));
            }
            Err(_) => return Err(format!("nothing performs {}", step.action)),
        }
        if !(1..=step.retries).contains(&number) {
            return Err(match step.retries {
                0 => format!("step {order} has no retries; set `retries`"),
                most => format!("step {order} has {most} retries, and attempt {number} was its last"),
            });
        }
        let delay = delay_ms
            .unwrap_or_else(|| self.backoff_ms(order, number))
            .min(MAX_DELAY_MS);
        let until_ms = now_ms.saturating_add(delay);
        if until_ms >= deadline_ms {
            return Err(format!(
                "there is no time for it: the pause of {delay} ms ends after the deadline"
            ));
        }
        Ok(until_ms)
    }

    /// Which of what was said decides.
    fn decisive(
        &self,
        packs: &[MountedPack],
        then: Continuation,
        said: &[PackFinding],
        retry_at: &[Result<u64, String>],
    ) -> Option<usize> {
        // A run that has ended badly has ended: packs can only tell about it.
        let is_over = then == Continuation::End
            && self
                .ending
                .as_ref()
                .is_none_or(|(status, _)| *status != ExecutionStatus::Completed);
        if is_over {
            return None;
        }
        let rank = |place: usize, said: &PackFinding| {
            let mandatory = packs
                .get(said.mount)
                .is_none_or(|pack| pack.mode == PackMode::Mandatory);
            match said.action {
                _ if !mandatory => None,
                PackAction::Veto => Some(0),
                PackAction::Escalate => Some(1),
                PackAction::Retry { .. } => retry_at.get(place)?.as_ref().ok().map(|_| 2),
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

    /// Why something was not done that a pack asked for.
    fn why_not(
        &self,
        pack: &MountedPack,
        said: &PackFinding,
        retry: Option<&Result<u64, String>>,
        then: Continuation,
    ) -> String {
        match (&said.action, retry) {
            _ if pack.mode != PackMode::Mandatory => format!("{} is advisory", pack.id),
            (PackAction::Retry { .. }, Some(Err(reason))) => reason.clone(),
            (PackAction::Redact(_), _) => "there is nothing to be redacted at this moment".to_owned(),
            _ if then == Continuation::End => "the run has ended".to_owned(),
            _ => "what another rule or pack asked for goes before it".to_owned(),
        }
    }

    fn record(
        &mut self,
        packs: &[MountedPack],
        then: Continuation,
        said: Vec<PackFinding>,
        decides: Option<usize>,
        retry_at: &[Result<u64, String>],
    ) {
        let nested = self
            .task
            .nested
            .top()
            .filter(|_| matches!(then, Continuation::Nested { .. }));
        let call = nested.map(|frame| frame.asked.path.clone());
        let evaluations = said.into_iter().enumerate().filter_map(|(place, said)| {
            let pack = packs.get(said.mount)?;
            let applied = match said.action {
                PackAction::Annotate => true,
                PackAction::Redact(_) => said.redacted,
                PackAction::Veto | PackAction::Escalate | PackAction::Retry { .. } => decides == Some(place),
            };
            let not_applied = (!applied && self.plan.gives_reasons())
                .then(|| self.why_not(pack, &said, retry_at.get(place), then));
            Some(PackEvaluation {
                pack_id: pack.id.clone(),
                version: pack.version.clone(),
                digest: pack.digest.clone(),
                mode: pack.mode,
                moment: then.moment(),
                step: then.order(),
                call: call.clone(),
                rule: said.rule,
                severity: said.severity,
                action: said.action.kind(),
                reason: said.reason,
                details: said.details,
                applied,
                not_applied,
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
fn listed(packs: &[MountedPack], moment: Moment, answers: Vec<PackAnswer>) -> Vec<PackFinding> {
    let mut said = Vec::new();
    let mut answers = answers;
    for (mount, _) in packs.iter().enumerate().filter(|(_, pack)| pack.wants(moment)) {
        match answers.iter().position(|answer| answer.mount == mount) {
            None => said.push(PackFinding::failure(mount, "it did not answer".to_owned())),
            Some(place) => {
                let answer = answers.swap_remove(place);
                said.extend(
                    answer
                        .decisions
                        .into_iter()
                        .map(|decision| PackFinding::decision(mount, decision)),
                );
                said.extend(answer.failure.map(|reason| PackFinding::failure(mount, reason)));
            }
        }
    }
    said
}
