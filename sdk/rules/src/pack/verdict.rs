//! From the facts at the end of a run to what a pack answers.

use crate::json::value_to_json;
use crate::{Fact, FactId, Firing, Report, Value};
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;

/// Facts that a decision names at most.
const MOST_FACTS: usize = 16;

/// What an evaluation came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// What the rules concluded, in order.
    pub decisions: Vec<Decision>,
    /// Facts of shared templates, as `ID::TEMPLATE`.
    pub shared: Vec<Json>,
}

/// One conclusion.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// `veto`, `escalate`, `retry`, `redact` or `annotate`.
    pub action: String,
    /// `info`, `warning` or `violation`.
    pub severity: &'static str,
    /// The rule that asserted it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What the action takes, or what is recorded.
    pub details: Map<String, Json>,
    /// The facts that the rule matched.
    pub facts: Vec<Json>,
}

impl Decision {
    /// As JSON, for people and for cases.
    #[must_use]
    pub fn to_json(&self) -> Json {
        json!({
            "action": self.action,
            "severity": self.severity,
            "rule": self.rule,
            "reason": self.reason,
            "details": self.details,
            "facts": self.facts,
        })
    }
}

pub(super) fn read(
    report: &Report,
    places: &BTreeMap<FactId, usize>,
    id: &str,
    shares: &[String],
) -> Result<Verdict, String> {
    let mut verdict = Verdict::default();
    let mut made: BTreeMap<FactId, &Firing> = BTreeMap::new();
    for firing in &report.firings {
        made.extend(firing.asserted.iter().map(|(fact, _)| (*fact, firing)));
    }
    for (fact_id, fact) in &report.facts {
        let name = fact.name();
        if name == "decision" && fact.template().is_some() {
            let firing = made.get(fact_id).copied();
            verdict.decisions.push(decision(fact, firing, places)?);
        } else if shares.iter().any(|shared| shared == name) {
            verdict
                .shared
                .push(json!({"template": format!("{id}::{name}"), "slots": slots(fact, &[])}));
        }
    }
    Ok(verdict)
}

fn decision(
    fact: &Fact,
    firing: Option<&Firing>,
    places: &BTreeMap<FactId, usize>,
) -> Result<Decision, String> {
    let rule = firing.map_or_else(|| "deffacts".to_owned(), |firing| firing.rule.clone());
    let text = |slot: &str| fact.slot(slot).and_then(Value::lexeme).unwrap_or_default();
    let action = text("action");
    let severity = match (text("severity"), action) {
        ("info", _) | ("auto", "annotate") => "info",
        ("violation", _) | ("auto", "veto") => "violation",
        _ => "warning",
    };
    let mut details = Map::new();
    let wrong = |problem: &str| format!("a decision of rule {rule}: {problem}");
    match action {
        "redact" => {
            details.insert("pointer".to_owned(), json!(text("pointer")));
            if !text("pattern").is_empty() {
                details.insert("pattern".to_owned(), json!(text("pattern")));
            }
        }
        "retry" => match fact.slot("delay-ms") {
            Some(Value::Integer(delay)) if *delay >= 0 => {
                details.insert("delay_ms".to_owned(), json!(delay));
            }
            _ => {}
        },
        _ => details = pairs(fact).map_err(wrong)?,
    }
    let facts = firing.map_or(&[][..], |firing| &firing.facts);
    Ok(Decision {
        action: action.to_owned(),
        severity,
        reason: text("reason").to_owned(),
        details,
        facts: facts
            .iter()
            .take(MOST_FACTS)
            .map(|(id, fact)| reference(fact, places.get(id).copied()))
            .collect(),
        rule,
    })
}

/// `(details "kind" tokens "used" 12)`: names and values, one after another.
fn pairs(fact: &Fact) -> Result<Map<String, Json>, &'static str> {
    let Some(Value::Multifield(values)) = fact.slot("details") else {
        return Ok(Map::new());
    };
    let mut details = Map::new();
    for pair in values.chunks(2) {
        let [name, value] = pair else {
            return Err("its details are names and values, one after another");
        };
        let Some(name) = name.lexeme() else {
            return Err("the name of a detail is a text");
        };
        details.insert(name.to_owned(), plain(value));
    }
    Ok(details)
}

/// A symbol is a text to whoever reads a decision.
fn plain(value: &Value) -> Json {
    match value {
        Value::Symbol(name) if !matches!(&**name, "TRUE" | "FALSE" | "nil") => Json::String(name.to_string()),
        other => value_to_json(other),
    }
}

/// A fact as a decision names it. Where it came from outside: its place in what was given, and its slots, but for the text of
/// evidence. A decision is journaled, and what it is about may be just what must not be kept.
fn reference(fact: &Fact, place: Option<usize>) -> Json {
    let Some(place) = place else {
        return json!({ "template": fact.name() });
    };
    match fact.template() {
        Some(_) => {
            json!({"index": place, "template": fact.name(), "slots": slots(fact, &["text", "time", "run-id"])})
        }
        None => {
            let fields: Vec<Json> = fact.fields().unwrap_or_default().iter().map(plain).collect();
            json!({"index": place, "name": fact.name(), "fields": fields})
        }
    }
}

fn slots(fact: &Fact, left_out: &[&str]) -> Map<String, Json> {
    let template = fact.template();
    let slots = template.iter().flat_map(|template| template.slots());
    slots
        .filter(|slot| !left_out.contains(&slot.name()))
        .filter_map(|slot| {
            let value = fact.slot(slot.name())?;
            let said = !matches!(value, Value::String(text) if text.is_empty());
            said.then(|| (slot.name().to_owned(), plain(value)))
        })
        .collect()
}
