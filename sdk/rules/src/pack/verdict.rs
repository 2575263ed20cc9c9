//! From the facts at the end of a run to what a pack answers. Details and facts are written as the JSON text that leaves the
//! sandbox; nobody inside looks at them again.

mod text;

use crate::json::value_to_json;
use crate::{Fact, FactId, Firing, Value};
use serde_json::{Map, Value as Json, json};
use text::{Text, plain};

/// Facts that a decision names at most.
const MOST_FACTS: usize = 16;
/// What most details and facts of a decision fit into.
const USUAL: usize = 256;

/// What an evaluation came to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Verdict {
    /// What the rules concluded, in order.
    pub decisions: Vec<Decision>,
    /// Facts of shared templates, as `ID::TEMPLATE`.
    pub shared: Vec<Json>,
}

/// One conclusion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// `veto`, `escalate`, `retry`, `redact` or `annotate`.
    pub action: &'static str,
    /// `info`, `warning` or `violation`.
    pub severity: &'static str,
    /// The rule that asserted it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// What the action takes, or what is recorded: the text of a JSON object.
    pub details: String,
    /// The facts that the rule matched: the text of a JSON array.
    pub facts: String,
}

impl Decision {
    /// As JSON, for people and for cases.
    #[must_use]
    pub fn to_json(&self) -> Json {
        // Both were written here, so they can be read.
        let read = |text: &str| serde_json::from_str(text).unwrap_or(Json::Null);
        json!({
            "action": self.action,
            "severity": self.severity,
            "rule": self.rule,
            "reason": self.reason,
            "details": read(&self.details),
            "facts": read(&self.facts),
        })
    }
}

pub(super) fn read<'s>(
    firings: &[Firing],
    facts: impl Iterator<Item = (FactId, &'s Fact)>,
    places: &[(FactId, usize)],
    id: &str,
    shares: &[String],
) -> Result<Verdict, String> {
    let mut verdict = Verdict::default();
    let mut made: Vec<(FactId, &Firing)> = Vec::new();
    for firing in firings {
        made.extend(firing.asserted.iter().map(|(fact, _)| (*fact, firing)));
    }
    // Those of one fact stay in order: a fact that was modified is of the rule that modified it last.
    made.sort_by_key(|(fact, _)| *fact);
    let maker = |id: FactId| {
        let behind = made.partition_point(|(fact, _)| *fact <= id);
        let (fact, firing) = made.get(behind.checked_sub(1)?)?;
        (*fact == id).then_some(*firing)
    };
    for (fact_id, fact) in facts {
        let name = fact.name();
        if name == "decision" && fact.template().is_some() {
            // What a rule has changed is no longer what was given.
            let place = |id: FactId| {
                let place = places.binary_search_by_key(&id, |(id, _)| *id).ok();
                let place = place.and_then(|place| Some(places.get(place)?.1));
                place.filter(|_| maker(id).is_none())
            };
            verdict.decisions.push(decision(fact, maker(fact_id), place)?);
        } else if shares.iter().any(|shared| shared == name) {
            verdict
                .shared
                .push(json!({"template": format!("{id}::{name}"), "slots": slots(fact)}));
        }
    }
    Ok(verdict)
}

fn decision(
    fact: &Fact,
    firing: Option<&Firing>,
    place: impl Fn(FactId) -> Option<usize>,
) -> Result<Decision, String> {
    let rule = firing.map_or("deffacts", |firing| &firing.rule);
    let text = |slot: &str| fact.slot(slot).and_then(Value::lexeme).unwrap_or_default();
    let action = match text("action") {
        "veto" => "veto",
        "escalate" => "escalate",
        "retry" => "retry",
        "redact" => "redact",
        _ => "annotate",
    };
    let severity = match (text("severity"), action) {
        ("info", _) | ("auto", "annotate") => "info",
        ("violation", _) | ("auto", "veto") => "violation",
        _ => "warning",
    };
    let mut details = Text::object(USUAL);
    match action {
        "redact" => {
            details.key("pointer").text(text("pointer"));
            if !text("pattern").is_empty() {
                details.key("pattern").text(text("pattern"));
            }
        }
        "retry" => {
            if let Some(delay @ Value::Integer(0..)) = fact.slot("delay-ms") {
                details.key("delay_ms").value(delay);
            }
        }
        _ => pairs(fact, &mut details).map_err(|problem| format!("a decision of rule {rule}: {problem}"))?,
    }
    let mut led = Text::array(USUAL);
    let facts = firing.map_or(&[][..], |firing| &firing.facts);
    for (id, fact) in facts.iter().take(MOST_FACTS) {
        reference(fact, place(*id), &mut led);
    }
    Ok(Decision {
        action,
        severity,
        reason: text("reason").to_owned(),
        details: details.end(),
        facts: led.end(),
        rule: rule.to_owned(),
    })
}

/// `(details "kind" tokens "used" 12)`: names and values, one after another. Of a name that is there twice the last counts.
fn pairs(fact: &Fact, details: &mut Text) -> Result<(), &'static str> {
    let Some(Value::Multifield(values)) = fact.slot("details") else {
        return Ok(());
    };
    for pair in values.chunks(2) {
        let [name, value] = pair else {
            return Err("its details are names and values, one after another");
        };
        let Some(name) = name.lexeme() else {
            return Err("the name of a detail is a text");
        };
        details.key(name).value(value);
    }
    Ok(())
}

/// A fact as a decision names it. Where it came from outside: its place in what was given, and its slots, but for the text of
/// evidence. A decision is journaled, and what it is about may be just what must not be kept.
fn reference(fact: &Fact, place: Option<usize>, led: &mut Text) {
    led.item().open('{');
    match (place, fact.template()) {
        (None, _) => led.key("template").text(fact.name()),
        (Some(place), None) => {
            led.key("index").number(place);
            led.key("name").text(fact.name());
            led.key("fields").open('[');
            for value in fact.fields().unwrap_or_default() {
                led.item().value(value);
            }
            led.close(']');
        }
        (Some(place), Some(template)) => {
            led.key("index").number(place);
            led.key("template").text(fact.name());
            led.key("slots").open('{');
            for (slot, value) in template.slots().iter().zip(fact.slots()) {
                let left_out = matches!(slot.name(), "text" | "time" | "run-id");
                if !left_out && is_said(value) {
                    led.key(slot.name()).value(value);
                }
            }
            led.close('}');
        }
    }
    led.close('}');
}

fn is_said(value: &Value) -> bool {
    !matches!(value, Value::String(text) if text.is_empty())
}

fn slots(fact: &Fact) -> Map<String, Json> {
    let template = fact.template();
    let slots = template.iter().flat_map(|template| template.slots());
    slots
        .zip(fact.slots())
        .filter(|(_, value)| is_said(value))
        .map(|(slot, value)| {
            let value = match plain(value) {
                Some(name) => Json::String(name.to_owned()),
                None => value_to_json(value),
            };
            (slot.name().to_owned(), value)
        })
        .collect()
}
