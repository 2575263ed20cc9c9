//! The rules of a document, compiled: one program of left-hand sides, and what follows from each match.
//!
//! The program has no right-hand sides: an action of the IR is data, and what it does is decided by the run. A `when` is compiled by
//! itself first, so what is put into the program is whole patterns and nothing else.

use super::lower::Nodes;
use super::problem::Problems;
use super::strategy::Fork;
use mizzen_json::Json;
use mizzen_model::facts::{VOCABULARY, is_host_template};
use mizzen_model::ir::{Action, AssertAction, IRDocument, InterruptAction};
use mizzen_rules::{Fact, Lasting, Program, Template, When, json};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

/// The templates of the facts that the host publishes.
static HOST_TEMPLATES: LazyLock<Vec<Lasting<Template>>> = LazyLock::new(|| {
    let program = Program::parse(VOCABULARY);
    program.map_or_else(|_| Vec::new(), |program| program.templates().cloned().collect())
});

/// A pause that a rule asks for is not longer.
const MAX_BACKOFF_MS: i64 = 24 * 60 * 60 * 1_000;

/// The rules of a graph.
#[derive(Debug, Default)]
pub(crate) struct GraphRules {
    /// Rule `rN` is the N-th of the document.
    pub(crate) program: Program,
    pub(crate) rules: Vec<GraphRule>,
}

/// A rule.
#[derive(Debug)]
pub(crate) struct GraphRule {
    pub(crate) id: String,
    pub(crate) effects: Vec<Effect>,
}

/// What an action does, with nothing left to look up.
#[derive(Debug)]
pub(crate) enum Effect {
    Goto(u32),
    Halt(String),
    Fork(Arc<Fork>),
    Retry { node: u32, backoff_ms: u64 },
    Assert(Fact),
    Retract(Box<When>),
    Interrupt(Arc<PlannedInterrupt>),
}

/// A question to a person.
#[derive(Debug)]
pub(crate) struct PlannedInterrupt {
    pub(crate) prompt: String,
    pub(crate) payload: Map<String, Value>,
    pub(crate) requested_capability: Option<String>,
    pub(crate) timeout_ms: Option<u64>,
    /// Where the run goes on when nobody answers in time; none: it halts.
    pub(crate) on_timeout: Option<u32>,
}

impl GraphRules {
    /// What follows from a match of a rule.
    pub(crate) fn effects(&self, rule: usize) -> &[Effect] {
        self.rules
            .get(rule)
            .map(|rule| rule.effects.as_slice())
            .unwrap_or_default()
    }

    /// The host's template of a name.
    pub(crate) fn host_template(name: &str) -> Option<&'static Lasting<Template>> {
        HOST_TEMPLATES.iter().find(|template| template.name() == name)
    }

    pub(super) fn compile(document: &IRDocument, nodes: &Nodes<'_>, problems: &mut Problems) -> Self {
        let own = own_templates(document, problems);
        let templates = || HOST_TEMPLATES.iter().chain(&own).cloned();
        let known = Program::parse_with("", templates()).unwrap_or_default();
        let mut rules = Vec::with_capacity(document.rules.len());
        let mut text = String::new();
        for (index, rule) in document.rules.iter().enumerate() {
            let path = format!("/rules/{index}");
            match When::compile_with(&rule.when, templates()) {
                // A comment at the end of the text ends with its line. Writing to a string cannot fail.
                Ok(_) => drop(write!(text, "(defrule r{index}\n{}\n=>)\n", patterns(&rule.when))),
                Err(error) => problems.add(
                    format!("{path}/when"),
                    "when_unparsable",
                    format!(
                        "the condition of rule {:?} does not compile: {}",
                        rule.id, error.message
                    ),
                    &error.hint,
                ),
            }
            let effects = rule.then.iter().enumerate().filter_map(|(place, action)| {
                let path = format!("{path}/then/{place}");
                effect(action, path, nodes, &known, problems)
            });
            rules.push(GraphRule {
                id: rule.id.clone(),
                effects: effects.collect(),
            });
        }
        if !problems.is_empty() {
            return Self::default();
        }
        match Program::parse_with(&text, templates()) {
            Ok(program) => Self { program, rules },
            Err(error) => {
                problems.add(
                    "/rules".to_owned(),
                    "rules_unparsable",
                    format!("the rules do not compile together: {}", error.message),
                    &error.hint,
                );
                Self::default()
            }
        }
    }
}

fn effect(
    action: &Action,
    path: String,
    nodes: &Nodes<'_>,
    known: &Program,
    problems: &mut Problems,
) -> Option<Effect> {
    Some(match action {
        Action::Goto(goto) => Effect::Goto(nodes.find(&goto.target, format!("{path}/target"), problems)?),
        Action::Halt(halt) => Effect::Halt(halt.reason.clone()),
        Action::Parallel(parallel) => Effect::Fork(Arc::new(nodes.fork(
            &parallel.targets,
            &parallel.join,
            &parallel.strategy,
            &path,
            problems,
        )?)),
        Action::Retry(retry) => {
            let node = nodes.find(&retry.target, format!("{path}/target"), problems);
            let pause = retry
                .backoff_ms
                .as_i64()
                .filter(|pause| (0..=MAX_BACKOFF_MS).contains(pause));
            if pause.is_none() {
                problems.add(
                    format!("{path}/backoff_ms"),
                    "bad_backoff",
                    "the pause before a retry is out of range".to_owned(),
                    "write milliseconds from 0 to 86400000",
                );
            }
            Effect::Retry {
                node: node?,
                backoff_ms: u64::try_from(pause?).ok()?,
            }
        }
        Action::Assert(assert) => Effect::Assert(fact(assert, &path, known, problems)?),
        Action::Retract(retract) => match When::compile_with(&retract.pattern, known.templates().cloned()) {
            Ok(pattern) => Effect::Retract(Box::new(pattern)),
            Err(error) => {
                problems.add(
                    format!("{path}/pattern"),
                    "pattern_unparsable",
                    format!("the pattern does not compile: {}", error.message),
                    &error.hint,
                );
                return None;
            }
        },
        Action::Interrupt(interrupt) => {
            Effect::Interrupt(Arc::new(planned_interrupt(interrupt, &path, nodes, problems)?))
        }
    })
}

fn planned_interrupt(
    interrupt: &InterruptAction,
    path: &str,
    nodes: &Nodes<'_>,
    problems: &mut Problems,
) -> Option<PlannedInterrupt> {
    let at = format!("{path}/on_timeout");
    let on_timeout = match interrupt.timeout_target() {
        Some(target) => Some(nodes.find(target, at, problems)?),
        None if interrupt.on_timeout == "halt" => None,
        None => {
            let message = format!("{:?} is neither halt nor goto:NODE", interrupt.on_timeout);
            problems.add(
                at,
                "unknown_on_timeout",
                message,
                "write \"halt\" or \"goto:NODE\"",
            );
            return None;
        }
    };
    let timeout_ms = match interrupt.timeout {
        None => None,
        Some(timeout) => match u64::try_from(timeout.as_microseconds() / 1_000) {
            Ok(time) if time > 0 => Some(time),
            _ => {
                let message = "the timeout is shorter than a millisecond".to_owned();
                problems.add(
                    format!("{path}/timeout"),
                    "bad_timeout",
                    message,
                    "write a longer one, or none",
                );
                return None;
            }
        },
    };
    let payload = match Json::Object(interrupt.interrupt_payload.clone()).to_serde() {
        Ok(Value::Object(payload)) => payload,
        _ => {
            let message = "the payload is nested too deep".to_owned();
            problems.add(
                format!("{path}/interrupt_payload"),
                "bad_payload",
                message,
                "make it flatter",
            );
            return None;
        }
    };
    Some(PlannedInterrupt {
        prompt: interrupt.prompt.clone(),
        payload,
        requested_capability: interrupt.requested_capability.clone(),
        timeout_ms,
        on_timeout,
    })
}

/// The slots of an `assert`: none where it has none.
fn slots(assert: &AssertAction) -> Result<Option<Map<String, Value>>, String> {
    if assert.slots.trim().is_empty() {
        return Ok(None);
    }
    match serde_json::from_str(&assert.slots) {
        Ok(Value::Object(slots)) => Ok(Some(slots)),
        Ok(_) => Err("the slots are JSON, but no object".to_owned()),
        Err(error) => Err(format!("the slots are not JSON: {error}")),
    }
}

fn fact(assert: &AssertAction, path: &str, known: &Program, problems: &mut Problems) -> Option<Fact> {
    let given = match slots(assert) {
        Ok(given) => given,
        Err(message) => {
            problems.add(
                format!("{path}/slots"),
                "bad_slots",
                message,
                "write a JSON object as text, such as {\"level\": 3}",
            );
            return None;
        }
    };
    if !is_symbol(&assert.fact) {
        let message = format!("{:?} is no name of a fact", assert.fact);
        problems.add(
            format!("{path}/fact"),
            "bad_fact",
            message,
            "write letters, digits, _, - and dots",
        );
        return None;
    }
    if known.template(&assert.fact).is_none() {
        return Some(Fact::ordered(&assert.fact, Vec::new()));
    }
    let described = serde_json::json!({"template": assert.fact, "slots": given.unwrap_or_default()});
    match json::fact(&described, known) {
        Ok(fact) => Some(fact),
        Err(error) => {
            let message = format!("the fact does not fit its template: {error}");
            problems.add(
                format!("{path}/slots"),
                "bad_slots",
                message,
                "see docs/facts.md for the host's templates",
            );
            None
        }
    }
}

/// Facts that rules assert with slots have a template with all slots that any of them names.
fn own_templates(document: &IRDocument, problems: &mut Problems) -> Vec<Lasting<Template>> {
    // Names and slots, each with whether it takes a list.
    let mut templates: BTreeMap<&str, BTreeMap<String, bool>> = BTreeMap::new();
    for (index, rule) in document.rules.iter().enumerate() {
        for (place, action) in rule.then.iter().enumerate() {
            let Action::Assert(assert) = action else { continue };
            // What is wrong with slots or the name is found again when the fact is made.
            let Ok(Some(given)) = slots(assert) else { continue };
            if is_host_template(&assert.fact) || !is_symbol(&assert.fact) {
                continue;
            }
            let path = format!("/rules/{index}/then/{place}");
            if document.state_schema.contains_key(&assert.fact) {
                let message = format!(
                    "{:?} is a field of the state, whose fact has no slots",
                    assert.fact
                );
                problems.add(
                    format!("{path}/fact"),
                    "bad_fact",
                    message,
                    "give the fact another name",
                );
                continue;
            }
            let known = templates.entry(&assert.fact).or_default();
            for (name, value) in given {
                if is_symbol(&name) {
                    *known.entry(name).or_default() |= value.is_array();
                } else {
                    let message = format!("{name:?} is no name of a slot");
                    problems.add(
                        format!("{path}/slots"),
                        "bad_slots",
                        message,
                        "write letters, digits, _ and -",
                    );
                }
            }
        }
    }
    let mut text = String::new();
    for (name, slots) in &templates {
        let _ = write!(text, "(deftemplate {name}");
        for (slot, is_list) in slots {
            let _ = write!(text, " ({} {slot})", if *is_list { "multislot" } else { "slot" });
        }
        text.push_str(")\n");
    }
    match Program::parse(&text) {
        Ok(program) => program.templates().cloned().collect(),
        Err(error) => {
            let message = format!("the facts that rules assert have no template: {}", error.message);
            problems.add("/rules".to_owned(), "bad_fact", message, &error.hint);
            Vec::new()
        }
    }
}

fn is_symbol(text: &str) -> bool {
    let first = text
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    first && text.len() <= 128 && text.bytes().all(rest)
}

/// A condition as patterns. `{name: value}` is written as the language reads it: a word fits the symbol and the text, a number the
/// integer and the float. It was compiled before, so everything that is wrong with it is known.
fn patterns(when: &str) -> String {
    let text = when.trim();
    let Some(inner) = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')) else {
        return when.to_owned();
    };
    let mut written = String::new();
    let mut rest = inner.trim();
    while let Some((name, after)) = rest.split_once(':') {
        let name = name.trim().trim_matches(['"', '\'']);
        let after = after.trim_start();
        let (value, after) = match after.chars().next().filter(|first| matches!(first, '"' | '\'')) {
            Some(quote) => {
                let (content, after) = after
                    .get(1..)
                    .and_then(|text| text.split_once(quote))
                    .unwrap_or((after, ""));
                (either(content), after)
            }
            None => {
                let (word, after) = after.split_once(',').map_or((after, ""), |(word, _)| {
                    (word, after.get(word.len()..).unwrap_or_default())
                });
                (constant(word.trim()), after)
            }
        };
        let _ = writeln!(written, "({name} {value})");
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    written
}

/// The text, and where it can be one, the symbol.
fn either(content: &str) -> String {
    let mut text = String::from("\"");
    for letter in content.chars() {
        if matches!(letter, '"' | '\\') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.push('"');
    match is_symbol(content) {
        true => format!("{content}|{text}"),
        false => text,
    }
}

fn constant(word: &str) -> String {
    match word {
        "true" | "TRUE" => "TRUE".to_owned(),
        "false" | "FALSE" => "FALSE".to_owned(),
        "null" | "nil" => "nil".to_owned(),
        word => match (word.parse::<i64>(), word.parse::<f64>()) {
            (Ok(number), _) => format!("{number}|{number}.0"),
            (_, Ok(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
                format!("{number:.1}|{number:.0}")
            }
            (_, Ok(_)) => word.to_owned(),
            _ => either(word),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_written_as_patterns() {
        let cases = [
            (
                "{node: work, verdict: refine}",
                "(node work|\"work\")\n(verdict refine|\"refine\")\n",
            ),
            ("{ severity: 4 }", "(severity 4|4.0)\n"),
            (
                "{ratio: 0.5, ok: true, none: null}",
                "(ratio 0.5)\n(ok TRUE)\n(none nil)\n",
            ),
            ("{who: \"a, b\", n: 2.0}", "(who \"a, b\")\n(n 2.0|2)\n"),
            ("(severity ?s&:(>= ?s 4))", "(severity ?s&:(>= ?s 4))"),
            ("", ""),
        ];
        for (when, expected) in cases {
            assert_eq!(patterns(when), expected, "{when}");
            let program = format!("(defrule r0\n{}\n=>)", patterns(when));
            assert!(
                Program::parse(&program).is_ok() && When::compile(when).is_ok(),
                "{program}"
            );
        }
    }
}
