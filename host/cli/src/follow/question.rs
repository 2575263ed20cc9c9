//! What a person at the terminal is asked, and what they answer: everything that the decision is about stands above the question.

use super::view::View;
use crate::account::shown;
use mizzen_model::execution::{Approval, ChainExecutionResult, Escalation, StepStatus};
use mizzen_model::governance::PackAction;
use mizzen_ops::ExecutionEvent;
use serde_json::Value;
use std::io::{BufRead, Read};
use tokio::sync::oneshot;

/// Bytes of an answer that are read.
const LONGEST_ANSWER: u64 = 4_096;
/// Bytes of an input that are shown. More than a person reads before a decision; a chain may be given megabytes.
const LONGEST_INPUT: usize = 64 << 10;
/// What is recorded when the person gives no reason.
const NO_REASON: &str = "answered at the terminal";

/// What a decision is about, as lines.
pub(super) struct Subject {
    escalation_id: String,
    lines: Vec<String>,
}

impl Subject {
    /// The question that a run waits for; `begun` is the journal's first entry, which has the tools and the run's input.
    pub(super) fn of(result: &ChainExecutionResult, begun: Option<&ExecutionEvent>) -> Option<Self> {
        let escalation = result.escalation.as_ref()?;
        let begun: Value = begun
            .and_then(|event| serde_json::from_str(&event.json).ok())
            .unwrap_or_default();
        let rule = result
            .rules
            .iter()
            .find(|rule| rule.rule_id == escalation.rule_id)
            .map_or(escalation.rule_id.as_str(), |rule| rule.name.as_str());
        let mut lines = vec![
            format!("the rule {:?} asks a person", shown(rule)),
            format!("  reason        {}", shown(&escalation.reason)),
        ];
        match asked_step(result, escalation) {
            Some(order) => describe_step(result, order, &begun, &mut lines),
            None => {
                if let Some(tool) = &result.tool {
                    lines.push(format!("  tool          {}", shown(tool)));
                }
                if let Some(input) = begun.get("input") {
                    lines.push(format!("  input         {}", whole(input)));
                }
            }
        }
        Some(Self {
            escalation_id: escalation.escalation_id.clone(),
            lines,
        })
    }
}

/// The step that a pack escalates; none for a rule of the council, which is judged before any step.
fn asked_step(result: &ChainExecutionResult, escalation: &Escalation) -> Option<u32> {
    if result.rules.iter().any(|rule| rule.rule_id == escalation.rule_id) {
        return None;
    }
    let packs = result.packs.iter().flatten().rev();
    let mut asking = packs.filter(|pack| pack.action == PackAction::Escalate && pack.applied);
    asking.next()?.step
}

fn describe_step(result: &ChainExecutionResult, order: u32, begun: &Value, lines: &mut Vec<String>) {
    let Some(step) = result.steps.iter().find(|step| step.order == order) else {
        return;
    };
    if result.tool.is_none() {
        lines.push(format!("  step          {order} {}", shown(&step.action)));
    }
    let sprite = step.sprite_id.to_string();
    let calls = begun.get("calls").and_then(Value::as_array);
    let call = calls.into_iter().flatten().find(|call| {
        call.get("sprite_id").and_then(Value::as_str) == Some(sprite.as_str())
            && call.get("capability").and_then(Value::as_str) == Some(step.action.as_str())
    });
    let text = |name: &str| {
        call.and_then(|call| call.get(name))
            .and_then(Value::as_str)
            .map(shown)
    };
    match (text("tool"), text("version"), &result.tool) {
        (Some(tool), Some(version), _) => lines.push(format!("  tool          {tool} {version}")),
        // The journal of another host's run is not read.
        (_, _, Some(tool)) => lines.push(format!("  tool          {}", shown(tool))),
        (_, _, None) => {}
    }
    if let Some(effects) = text("side_effects") {
        lines.push(format!("  side effects  {effects}"));
    }
    if let Some(input) = &step.input {
        lines.push(format!("  input         {}", whole(input)));
    }
    if let (StepStatus::Running, Some(output)) = (step.status, &step.output) {
        lines.push(format!("  output        {}", whole(output)));
    }
}

/// A value as one line, cut only where nobody would read on.
fn whole(value: &Value) -> String {
    let mut text = shown(&value.to_string());
    if let Some(place) = (0..=LONGEST_INPUT)
        .rev()
        .find(|place| text.is_char_boundary(*place))
        && place < text.len()
    {
        let left = text.len() - place;
        text.truncate(place);
        text.push_str(&format!("… ({left} more bytes)"));
    }
    text
}

/// Which part of the answer is waited for.
#[derive(Clone, Copy)]
pub(super) enum Stage {
    /// Yes or no.
    Decision,
    /// Why; the decision is made.
    Reason(Approval),
}

/// What came of a line.
pub(super) enum Answer {
    /// The person has decided.
    Decided { decision: Approval, reason: String },
    /// More is needed.
    Open(Stage),
    /// Standard input is at its end.
    Nobody,
}

/// A question that was put to the person at the terminal.
pub(super) struct Question {
    subject: Subject,
    stage: Stage,
    line: oneshot::Receiver<Option<String>>,
}

impl Question {
    /// Asks, if there is somebody to be asked.
    pub(super) fn of(subject: Subject, view: &mut View) -> Option<Self> {
        if !view.has_a_reader() {
            return None;
        }
        view.tell(&subject.lines);
        Some(Self::ask(subject, Stage::Decision, view))
    }

    pub(super) fn escalation_id(&self) -> &str {
        &self.subject.escalation_id
    }

    fn ask(subject: Subject, stage: Stage, view: &mut View) -> Self {
        view.ask(match stage {
            Stage::Decision => "approve? [y/n] ",
            Stage::Reason(_) => "reason (recorded; return for none): ",
        });
        Self {
            subject,
            stage,
            line: line_from_stdin(),
        }
    }

    pub(super) fn next(self, stage: Stage, view: &mut View) -> Self {
        Self::ask(self.subject, stage, view)
    }
}

pub(super) async fn read(question: &mut Option<Question>) -> Answer {
    let Some(question) = question else {
        return std::future::pending().await;
    };
    let line = (&mut question.line).await.ok().flatten();
    match (question.stage, line) {
        (Stage::Decision, None) => Answer::Nobody,
        (Stage::Decision, Some(line)) => match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Answer::Open(Stage::Reason(Approval::Approve)),
            "n" | "no" => Answer::Open(Stage::Reason(Approval::Deny)),
            _ => Answer::Open(Stage::Decision),
        },
        // The decision was made: a reason that does not come is none.
        (Stage::Reason(decision), line) => {
            let reason = line.as_deref().map(str::trim).filter(|reason| !reason.is_empty());
            Answer::Decided {
                decision,
                reason: reason.unwrap_or(NO_REASON).to_owned(),
            }
        }
    }
}

/// One line of standard input, none at its end. Read by a thread of its own that nobody waits for: a read cannot be taken back,
/// and Ctrl-C must not wait for the return key.
fn line_from_stdin() -> oneshot::Receiver<Option<String>> {
    let (send, line) = oneshot::channel();
    std::thread::spawn(move || {
        let mut text = String::new();
        let read = std::io::stdin().lock().take(LONGEST_ANSWER).read_line(&mut text);
        let _ = send.send(matches!(read, Ok(1..)).then_some(text));
    });
    line
}
