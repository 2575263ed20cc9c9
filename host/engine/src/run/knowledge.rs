//! What packs are told: the run's state at a moment as facts of the vocabulary (`docs/facts.md`), serialised once.
//!
//! Everything that a caller or a tool said is data here: it fills slots of the host's templates and can never become a fact
//! of one. Its number and size are bounded; what does not fit is not judged, and so not let through.

mod facts;

pub use facts::MomentFacts;

use super::Run;
use super::failing::Failing;
use super::nested::{Frame, Within};
use super::state::{About, Continuation, State};
use crate::plan::ToolFacts;
use facts::{EVIDENCE_MAX, FactWriter, Slot};
use mizzen_model::execution::{ExecutionStatus, StepStatus};
use serde_json::Value;
use std::sync::Arc;

/// Visits of nodes that packs are told about at the end of a graph, the last ones.
const VISITS_MAX: usize = 100;

/// What tools said that they used up, over the whole run.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Used {
    tokens: u64,
    cost: f64,
}

/// What one answer says about its own use: `usage` and `cost`, as model APIs spell them.
struct Usage<'a> {
    model: &'a str,
    input: u64,
    output: u64,
    total: u64,
}

fn usage(response: &Value) -> Option<Usage<'_>> {
    let usage = response.get("usage")?.as_object()?;
    let number = |names: [&str; 2]| names.iter().find_map(|name| usage.get(*name)?.as_u64());
    let input = number(["input_tokens", "prompt_tokens"]).unwrap_or(0);
    let output = number(["output_tokens", "completion_tokens"]).unwrap_or(0);
    Some(Usage {
        model: response.get("model").and_then(Value::as_str).unwrap_or(""),
        input,
        output,
        total: number(["total_tokens", "total"]).unwrap_or_else(|| input.saturating_add(output)),
    })
}

fn cost(response: &Value) -> Option<(f64, &str)> {
    let cost = response.get("cost")?;
    let amount = cost.as_f64().or_else(|| cost.get("amount")?.as_f64())?;
    let currency = cost.get("currency").and_then(Value::as_str).unwrap_or("USD");
    Some((amount, currency))
}

impl Used {
    pub(super) fn count(&mut self, response: &Value) {
        self.tokens = self
            .tokens
            .saturating_add(usage(response).map_or(0, |usage| usage.total));
        self.cost += cost(response).map_or(0.0, |(amount, _)| amount.max(0.0));
    }
}

impl<C> Run<C> {
    /// The facts of a moment.
    pub(super) fn facts(&self, then: Continuation, now_ms: u64) -> Result<Arc<MomentFacts>, String> {
        let read = self.plan.read_at(then.moment());
        let mut facts = FactWriter::new(self.result.execution_id.to_string(), now_ms, read);
        facts.step = then.order();
        facts.tell("moment", "run", &[("name", Slot::Text(then.moment().as_str()))]);
        facts.step = None;
        self.tell_run(&mut facts, then, now_ms);
        match (self.state_map(), &self.input) {
            (Some(state), _) | (None, Value::Object(state)) => facts.fields(state),
            _ => {}
        }
        self.tell_visits(&mut facts, then);
        facts.step = then.order();
        let nested = self
            .task
            .nested
            .top()
            .filter(|_| matches!(then, Continuation::Nested { .. }));
        match (then.order(), nested) {
            (order, Some(frame)) => self.tell_nested(&mut facts, order, frame, now_ms),
            (Some(order), None) => {
                self.tell_step(&mut facts, order, now_ms);
                if is_called(then) {
                    self.tell_call(&mut facts, order);
                }
            }
            (None, None) => {}
        }
        match then {
            Continuation::Start => {}
            Continuation::Nested { about, .. } => {
                if let Some(frame) = nested {
                    self.tell_nested_end(&mut facts, about, frame, now_ms);
                }
            }
            Continuation::Call { order, .. } => {
                if let Some(input) = self.step(order).and_then(|step| step.input.as_ref()) {
                    // The host has put it together.
                    facts.origin = Some("host");
                    facts.evidence("input", "step", input);
                    facts.origin = None;
                }
            }
            Continuation::Respond(_) => {
                if let Some(response) = &self.task.held {
                    let attempt = match then {
                        Continuation::Respond(attempt) => attempt.number.max(1),
                        _ => 1,
                    };
                    let took_ms = now_ms.saturating_sub(self.task.called_ms);
                    tell_use(&mut facts, self.tool_name(then), attempt, took_ms, response);
                    facts.evidence("output", self.tool_name(then), response);
                }
            }
            Continuation::Fail(_) => self.tell_failure(&mut facts, then, now_ms),
            Continuation::End => self.tell_end(&mut facts, now_ms),
        }
        facts.finish().map(Arc::new)
    }

    fn tell_run(&self, facts: &mut FactWriter, then: Continuation, now_ms: u64) {
        let text = |value: &'_ Value, name: &str| -> String {
            // Most packs do not ask which run it is, and then nobody reads it.
            let found = value.get(name).filter(|_| facts.is_read("run"));
            found.and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        let elapsed = now_ms.saturating_sub(self.started_ms);
        let ending = self.ending.as_ref().filter(|_| then == Continuation::End);
        let status = ending.map_or(self.result.status, |(status, _)| *status);
        let done = match &self.graph {
            None => self.outputs.iter().flatten().count() as u64,
            Some(_) => self.result.steps.len() as u64,
        };
        let slots = [
            ("kind", Slot::Text(self.program())),
            ("name", Slot::Text(&text(&self.plan.chain, "name"))),
            ("council", Slot::Text(&text(&self.plan.council, "domain"))),
            ("status", Slot::Text(status.as_str())),
            ("steps", Slot::Number(self.result.steps.len() as u64)),
            ("elapsed-ms", Slot::Number(elapsed)),
        ];
        facts.tell("run", "run", &slots);
        // A limit only where the run itself has one; packs have theirs from the operator's settings.
        let timeout = Some(self.plan.timeout_ms);
        let budgets = [
            ("latency", Slot::Number(elapsed), timeout),
            ("steps", Slot::Number(done), None),
            ("tokens", Slot::Number(self.used.tokens), None),
            ("cost", Slot::Amount(self.used.cost), None),
        ];
        for (kind, used, limit) in budgets {
            let mut slots = vec![("kind", Slot::Text(kind)), ("used", used)];
            slots.extend(limit.map(|limit| ("limit", Slot::Number(limit))));
            facts.tell("budget", self.program(), &slots);
        }
        if let Some(answer) = self
            .result
            .escalation
            .as_ref()
            .and_then(|asked| Some((asked, asked.answer.as_ref()?)))
        {
            let (asked, answer) = answer;
            let slots = [
                ("actor", Slot::Text(&self.answered_by)),
                ("answer", Slot::Text(answer.decision.as_str())),
                ("capability", Slot::Text(&asked.rule_id)),
                ("note", Slot::Text(&answer.reason)),
            ];
            facts.tell("respond", "decide", &slots);
        }
    }

    fn tell_one_step(&self, facts: &mut FactWriter, order: u32, now_ms: u64) {
        let nothing = ToolFacts::default();
        let planned = self.planned(order);
        let tool = planned.and_then(|planned| planned.tool.as_ref());
        self.tell_step_with(facts, order, tool.unwrap_or(&nothing), now_ms);
    }

    fn tell_step_with(&self, facts: &mut FactWriter, order: u32, tool: &ToolFacts, now_ms: u64) {
        let (Some(step), Some(planned)) = (self.step(order), self.planned(order)) else {
            return;
        };
        let begun = step
            .started_at
            .as_ref()
            .map_or(now_ms, |at| u64::try_from(at.unix_ms()).unwrap_or(0));
        let attempt = u64::from(step.attempts.max(1));
        let slots = [
            ("name", Slot::Text(&planned.action)),
            ("sprite", Slot::Text(&planned.sprite_name)),
            ("capability", Slot::Text(&planned.action)),
            ("tool", Slot::Text(&tool.tool)),
            ("side-effects", Slot::Text(tool.side_effects.as_str())),
            ("protected", Slot::Flag(planned.protected)),
            ("status", Slot::Text(step.status.as_str())),
            ("attempt", Slot::Number(attempt)),
            (
                "duration-ms",
                Slot::Number(step.duration_ms.unwrap_or(now_ms.saturating_sub(begun))),
            ),
        ];
        facts.tell("step", self.program(), &slots);
    }

    /// What the run follows, as packs know it.
    fn program(&self) -> &'static str {
        match self.graph {
            None => "chain",
            Some(_) => "graph",
        }
    }

    /// The node of a graph that ended last; at the end, those that did.
    fn tell_visits(&self, facts: &mut FactWriter, then: Continuation) {
        if self.graph.is_none() {
            return;
        }
        let most = if then == Continuation::End { VISITS_MAX } else { 1 };
        let ended = self.result.steps.iter().rev().filter_map(|step| {
            let outcome = match step.status {
                StepStatus::Completed => "completed",
                StepStatus::Failed => "failed",
                _ => return None,
            };
            Some((step.order, step.node.as_ref()?, outcome))
        });
        let ended: Vec<_> = ended.take(most).collect();
        for (order, visit, outcome) in ended.into_iter().rev() {
            facts.step = Some(order);
            let slots = [
                ("node", Slot::Text(&visit.id)),
                ("kind", Slot::Text(&visit.kind)),
                ("iteration", Slot::Number(u64::from(visit.iteration))),
                ("outcome", Slot::Text(outcome)),
            ];
            facts.tell("visit", "graph", &slots);
        }
        facts.step = None;
    }

    /// The step, and how the run came to it.
    fn tell_step(&self, facts: &mut FactWriter, order: u32, now_ms: u64) {
        self.tell_one_step(facts, order, now_ms);
        let action = |order: u32| Some(self.planned(order)?.action.as_str());
        if let Some(to) = action(order) {
            let from = order.checked_sub(1).and_then(action);
            let slots = [
                ("from", Slot::Text(from.unwrap_or("start"))),
                ("to", Slot::Text(to)),
                ("by", Slot::Text(self.program())),
            ];
            facts.tell("transition", self.program(), &slots);
        }
    }

    fn tell_call(&self, facts: &mut FactWriter, order: u32) {
        let (Some(step), Some(planned)) = (self.step(order), self.planned(order)) else {
            return;
        };
        let nothing = ToolFacts::default();
        let tool = planned.tool.as_ref().unwrap_or(&nothing);
        tell_tool_call(facts, tool, step.attempts.max(1));
    }

    /// A call that a tool makes, in the words of a step, so that what holds for a step's tool holds for it; and that it is none.
    fn tell_nested(&self, facts: &mut FactWriter, order: Option<u32>, frame: &Frame, now_ms: u64) {
        let tool = &frame.asked.callee.tool;
        if let Some(order) = order {
            self.tell_step_with(facts, order, tool, now_ms);
        }
        tell_tool_call(facts, tool, 1);
        let slots = [
            ("tool", Slot::Text(&tool.tool)),
            ("caller", Slot::Text(&frame.asked.caller)),
            ("path", Slot::Text(&frame.asked.path)),
            ("depth", Slot::Number(frame.depth() as u64)),
            (
                "within",
                Slot::Text(match frame.asked.within {
                    Within::Step { .. } => "step",
                    Within::Gate { .. } => "gate",
                }),
            ),
        ];
        facts.tell("nested-call", &frame.asked.caller, &slots);
    }

    fn tell_nested_end(&self, facts: &mut FactWriter, about: About, frame: &Frame, now_ms: u64) {
        let tool = frame.asked.callee.tool.tool.as_str();
        let took_ms = now_ms.saturating_sub(frame.called_ms);
        match about {
            About::Call => facts.evidence("input", &frame.asked.caller, &frame.asked.input),
            About::Respond => {
                if let Some(response) = &frame.held {
                    tell_use(facts, tool, 1, took_ms, response);
                    facts.evidence("output", tool, response);
                }
            }
            About::Fail => {
                if let Some(failing) = &frame.failure {
                    tell_failed_call(facts, tool, 1, took_ms, failing);
                    tell_error(facts, tool, 1, 0, failing);
                }
            }
        }
    }

    /// The step whose call was under way when the run ended: no other moment tells what came of it.
    fn interrupted(&self) -> Option<u32> {
        match self.task.state {
            State::Calling { order, .. } => Some(order),
            State::Judging {
                then: then @ (Continuation::Respond(_) | Continuation::Fail(_)),
                ..
            } if is_called(then) => then.order(),
            _ => None,
        }
    }

    fn tool_name(&self, then: Continuation) -> &str {
        then.order()
            .and_then(|order| self.planned(order)?.tool.as_ref())
            .map_or("", |tool| tool.tool.as_str())
    }

    fn tell_failure(&self, facts: &mut FactWriter, then: Continuation, now_ms: u64) {
        let (Continuation::Fail(attempt), Some(failing)) = (then, &self.task.failure) else {
            return;
        };
        let number = attempt.number.max(1);
        let planned = self.planned(attempt.order);
        let retries = planned.map_or(0, |step| step.retries);
        let left = retries.saturating_add(1).saturating_sub(number);
        let tool = self.tool_name(then);
        if is_called(then) {
            tell_failed_call(
                facts,
                tool,
                number,
                now_ms.saturating_sub(self.task.called_ms),
                failing,
            );
        }
        tell_error(facts, tool, number, left, failing);
    }

    fn tell_end(&self, facts: &mut FactWriter, now_ms: u64) {
        let Some((status, error)) = &self.ending else {
            return;
        };
        let old = self.result.steps.len().saturating_sub(VISITS_MAX);
        let recent = match self.graph {
            None => self.result.steps.as_slice(),
            Some(_) => self.result.steps.get(old..).unwrap_or_default(),
        };
        for step in recent.iter().filter(|step| step.started_at.is_some()) {
            facts.step = Some(step.order);
            self.tell_one_step(facts, step.order, now_ms);
        }
        if let Some(order) = self.interrupted() {
            facts.step = Some(order);
            self.tell_call(facts, order);
        }
        for frame in self.task.nested.lost() {
            facts.step = match frame.asked.within {
                Within::Step { order, .. } => Some(order),
                Within::Gate { .. } => None,
            };
            tell_tool_call(facts, &frame.asked.callee.tool, 1);
        }
        facts.step = None;
        for gate in &self.result.gates {
            facts.step = gate.step;
            let slots = [
                ("name", Slot::Text(gate.position.as_str())),
                ("position", Slot::Text(gate.position.as_str())),
                ("outcome", Slot::Text(gate.decision.as_str())),
                ("reason", Slot::Text(&gate.reason)),
            ];
            facts.tell("gate", "gate-agent", &slots);
        }
        facts.step = None;
        let last = self.result.steps.iter().rev().find(|step| step.attempts > 0);
        let slots = [
            (
                "from",
                Slot::Text(last.map_or("start", |step| step.action.as_str())),
            ),
            ("to", Slot::Text(status.as_str())),
            ("by", Slot::Text(self.program())),
        ];
        facts.tell("transition", self.program(), &slots);
        if let Some(error) = error {
            let template = match status {
                ExecutionStatus::Cancelled => {
                    let slots = [
                        ("actor", Slot::Text(&self.cancelled_by)),
                        ("reason", Slot::Text(&error.message)),
                    ];
                    facts.tell("cancel", "cancel", &slots);
                    return;
                }
                _ => "error",
            };
            let slots = [
                ("code", Slot::Text(&error.code)),
                ("message", Slot::Text(&error.message)),
            ];
            // The error of the run as a whole, whoever caused it.
            facts.origin = Some("host");
            facts.tell(template, "run", &slots);
        }
    }
}

fn tell_tool_call(facts: &mut FactWriter, tool: &ToolFacts, attempt: u32) {
    let slots = [
        ("tool", Slot::Text(&tool.tool)),
        ("version", Slot::Text(&tool.version)),
        ("plugin", Slot::Text(&tool.plugin)),
        ("side-effects", Slot::Text(tool.side_effects.as_str())),
        ("attempt", Slot::Number(u64::from(attempt))),
    ];
    facts.tell("tool-call", &tool.plugin, &slots);
}

/// What an answer says about itself, and what the run has used up with it.
fn tell_use(facts: &mut FactWriter, tool: &str, attempt: u32, took_ms: u64, response: &Value) {
    let slots = [
        ("tool", Slot::Text(tool)),
        ("outcome", Slot::Text("output")),
        ("duration-ms", Slot::Number(took_ms)),
        ("bytes", Slot::Number(size(response))),
        ("attempt", Slot::Number(u64::from(attempt))),
    ];
    facts.tell("tool-result", tool, &slots);
    if let Some(usage) = usage(response) {
        let slots = [
            ("model", Slot::Text(usage.model)),
            ("input", Slot::Number(usage.input)),
            ("output", Slot::Number(usage.output)),
            ("total", Slot::Number(usage.total)),
        ];
        facts.tell("tokens-used", tool, &slots);
    }
    if let Some((amount, currency)) = cost(response) {
        let slots = [
            ("amount", Slot::Amount(amount)),
            ("currency", Slot::Text(currency)),
        ];
        facts.tell("cost", tool, &slots);
    }
    let artifacts = response.get("artifacts").and_then(Value::as_array);
    for artifact in artifacts.into_iter().flatten().take(EVIDENCE_MAX) {
        let text = |name: &str| artifact.get(name).and_then(Value::as_str).unwrap_or("");
        let slots = [
            ("name", Slot::Text(text("name"))),
            ("media-type", Slot::Text(text("media_type"))),
            (
                "bytes",
                Slot::Number(artifact.get("bytes").and_then(Value::as_u64).unwrap_or(0)),
            ),
            ("digest", Slot::Text(text("digest"))),
        ];
        facts.tell("artifact", tool, &slots);
    }
}

/// How a call ended that has no answer.
fn tell_failed_call(facts: &mut FactWriter, tool: &str, attempt: u32, took_ms: u64, failing: &Failing) {
    let slots = [
        ("tool", Slot::Text(tool)),
        ("outcome", Slot::Text(outcome(&failing.failed.code))),
        ("duration-ms", Slot::Number(took_ms)),
        ("attempt", Slot::Number(u64::from(attempt))),
    ];
    facts.tell("tool-result", tool, &slots);
}

fn tell_error(facts: &mut FactWriter, tool: &str, attempt: u32, retries_left: u32, failing: &Failing) {
    let failed = &failing.failed;
    let slots = [
        ("code", Slot::Text(&failed.code)),
        ("message", Slot::Text(&failed.message)),
        ("transient", Slot::Flag(failed.transient == super::Transient::Yes)),
        ("attempt", Slot::Number(u64::from(attempt))),
        ("retries-left", Slot::Number(u64::from(retries_left))),
    ];
    facts.tell("error", tool, &slots);
    facts.evidence("output", tool, &failing.text());
}

/// Whether a call is about to be made, or was. A step can fail before its call: it was not allowed, or its input could not be made.
fn is_called(then: Continuation) -> bool {
    !matches!(then, Continuation::Fail(attempt) if attempt.number == 0)
}

/// How a call ended, in the words of [`crate::Outcome::name`]. What the host stopped before or after the guest has the name of what it
/// refused.
fn outcome(code: &str) -> &'static str {
    match code {
        "TRAP" => "trap",
        "TIMEOUT" => "deadline",
        "OUT_OF_MEMORY" => "out-of-memory",
        "OUTPUT_TOO_LARGE" => "output-too-large",
        "BAD_OUTPUT" => "bad-output",
        "HOST_CALLS_EXHAUSTED" => "host-calls-exhausted",
        _ => "tool-error",
    }
}

/// How long a value is as JSON text, without writing it.
pub(crate) fn size(value: &Value) -> u64 {
    struct Counter(u64);
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.saturating_add(bytes.len() as u64);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Counting cannot fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}
