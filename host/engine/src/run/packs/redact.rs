//! What packs take out, and what may be kept of what they looked at.

use super::super::failing::{FailedBy, Failing};
use super::super::nested::Frame;
use super::super::state::{About, Continuation};
use super::super::{Released, Run};
use super::{Evidence, PackFinding};
use crate::pack::{PackAction, REDACTED};
use crate::plan::MountedPack;
use mizzen_model::governance::PackMode;
use serde_json::Value;

impl<C> Run<C> {
    /// Carries redactions out. What cannot be carried out counts as no answer. Returns the words that are gone.
    pub(super) fn redact(
        &mut self,
        packs: &[MountedPack],
        then: Continuation,
        shown: Evidence,
        said: &mut [PackFinding],
    ) -> Vec<String> {
        let mut secrets = Vec::new();
        // What is taken out of the input of a call.
        let is_input = matches!(
            then,
            Continuation::Call { .. }
                | Continuation::Nested {
                    about: About::Call,
                    ..
                }
        );
        let (mut taken, mut patterns) = (Vec::new(), Vec::new());
        let mut error = self.failing(then).map(|failing| failing.text());
        let is_kept = shown == Evidence::Redacted && self.keeps_redacted(then);
        // Keys last, and the deepest first: a pointer to something else may lead over one of them.
        let depth = |said: &PackFinding| match &said.action {
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
                    _ if is_kept => {
                        said.redacted = true;
                        patterns.extend(redaction.pattern().filter(|_| is_input).map(str::to_owned));
                        continue;
                    }
                    Continuation::Nested { about, .. } => match about {
                        About::Call => self.task.nested.top_mut().map(|frame| &mut frame.asked.input),
                        About::Respond => self.task.nested.top_mut().and_then(|frame| frame.held.as_mut()),
                        About::Fail => error.as_mut(),
                    },
                    Continuation::Fail(_) => error.as_mut(),
                    Continuation::Respond(_) => self.task.held.as_mut(),
                    Continuation::Call { order, .. } => self
                        .result
                        .steps
                        .get_mut(order as usize)
                        .and_then(|step| step.input.as_mut()),
                    // Nothing is there to be redacted: it is recorded that it was asked for.
                    Continuation::Start | Continuation::End => continue,
                };
                let Some(target) = target else { continue };
                if redaction.is_about_keys(target) != keys {
                    continue;
                }
                match redaction.apply(target) {
                    Ok(replaced) => {
                        said.redacted = true;
                        secrets.extend(replaced.iter().flat_map(|text| gone(&text.before, &text.after)));
                        taken.extend(replaced.into_iter().filter(|_| is_input));
                    }
                    // It was taken out of the run's input already.
                    Err(_) if is_input && self.input_is_redacted => said.redacted = true,
                    Err(error) => {
                        let rule = said.rule.as_deref().unwrap_or_default();
                        *said = PackFinding::failure(said.mount, format!("rule {rule:?}: {error}"));
                    }
                }
            }
        }
        if let (Some(failing), Some(error)) = (self.failing(then), &error) {
            failing.retell(error);
        }
        self.forget_texts(&taken, &secrets);
        if let Continuation::Call { .. } = then {
            self.forget_in_state(&taken, &secrets);
        }
        patterns.iter().for_each(|pattern| self.forget_matches(pattern));
        secrets
    }

    /// Whether a journal has what packs look at as they have left it. What follows from the run itself is made again whole, and then
    /// redacted again.
    fn keeps_redacted(&self, then: Continuation) -> bool {
        match then {
            Continuation::Start | Continuation::Call { .. } | Continuation::End => false,
            Continuation::Respond(_) => true,
            Continuation::Fail(_) => self.is_failed_by(FailedBy::Call),
            Continuation::Nested { about, .. } => {
                about != About::Call || !self.task.nested.top().is_some_and(Frame::is_the_gates)
            }
        }
    }

    /// The failure that packs look at.
    fn failing(&mut self, then: Continuation) -> Option<&mut Failing> {
        match then {
            Continuation::Nested { .. } => self.task.nested.top_mut()?.failure.as_mut(),
            _ => self.task.failure.as_mut(),
        }
    }

    /// A failure's message that a mandatory pack objects to, or has not seen to the end, is not kept. A pack that does not read
    /// evidence objects to the failure and not to its words, which tell people what went wrong. Returns the words that are gone.
    pub(super) fn withhold(
        &mut self,
        packs: &[MountedPack],
        then: Continuation,
        said: &[PackFinding],
    ) -> Vec<String> {
        let objects = |said: &PackFinding| {
            let pack = packs
                .get(said.mount)
                .filter(|pack| pack.mode == PackMode::Mandatory);
            said.action == PackAction::Veto
                && pack.is_some_and(|pack| said.rule.is_none() || pack.reads("evidence"))
        };
        match self.failing(then) {
            Some(failing) if said.iter().any(objects) => {
                let words = gone(&failing.failed.message, REDACTED);
                failing.failed = failing.failed.withheld();
                words
            }
            _ => Vec::new(),
        }
    }

    /// What may be kept of how the last call ended, or of what a tool calls another with. What the run has found itself is not in a
    /// journal, but found again.
    pub(super) fn release(&mut self, then: Continuation) {
        self.released = match then {
            Continuation::Nested { about, .. } => self.task.nested.top().and_then(|frame| {
                let failed = frame.failure.as_ref().map(|failing| failing.failed.clone());
                match about {
                    // What the gate agent is asked follows from the run.
                    About::Call if frame.is_the_gates() => None,
                    About::Call => Some(Released::Input(frame.asked.input.clone())),
                    About::Respond if frame.is_the_gates() => Some(Released::Gate(frame.gate_answer())),
                    About::Respond => Some(Released::Ended(Ok(frame.held.clone()?))),
                    About::Fail => Some(Released::Ended(Err(failed?))),
                }
            }),
            _ => match (&self.task.held, &self.task.failure) {
                (Some(held), _) => Some(Released::Ended(Ok(held.clone()))),
                (None, Some(failing)) if failing.by == FailedBy::Call => {
                    Some(Released::Ended(Err(failing.failed.clone())))
                }
                _ => None,
            },
        };
    }

    /// A reason that quotes what was redacted would carry it into the journal, and so would a pointer that leads over a key.
    pub(super) fn scrub(&self, said: &mut [PackFinding], secrets: &[String], then: Continuation) {
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
        let keeps_redacted = self.keeps_redacted(then);
        for said in said {
            clean(&mut said.reason);
            if matches!(said.action, PackAction::Redact(_)) {
                // Of a step's input it is carried out again after a restart, as the whole input stands in the journal; an answer, and what
                // a tool calls another with, are kept as they were redacted.
                if let (true, Some(Value::String(pointer))) =
                    (keeps_redacted, said.details.get_mut("pointer"))
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

    fn is_failed_by(&self, by: FailedBy) -> bool {
        self.task.failure.as_ref().is_some_and(|failing| failing.by == by)
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
