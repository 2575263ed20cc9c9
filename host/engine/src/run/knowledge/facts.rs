//! The facts of a moment as JSON, written once for all packs: each pack is sent what it reads of them.

use mizzen_model::facts::is_host_template;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

/// Texts of one answer or input that are shown.
pub(super) const EVIDENCE_MAX: usize = 2_000;
/// Fields of the input that are shown.
const STATE_MAX: usize = 1_000;
/// All facts of a moment, in bytes.
const BYTES_MAX: usize = 2 << 20;
/// The longest name of an input's field that is a fact.
const NAME_MAX: usize = 128;
/// The fewest digits of a number that is evidence: fewer belong to no card, telephone or person.
const DIGITS_MIN: usize = 7;
/// What the facts of most moments fit into.
const USUAL: usize = 4_096;

/// The facts of a moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MomentFacts {
    /// One after another.
    text: String,
    /// Each with its template; an ordered fact has none.
    facts: Vec<(Option<&'static str>, Range<usize>)>,
}

impl MomentFacts {
    /// All of them, a JSON array.
    pub fn all(&self) -> String {
        self.select("", |_| true)
    }

    /// A JSON array of the facts whose templates are wanted, and of all ordered facts, behind what stands before: facts of
    /// somebody else, each with a comma after it.
    pub fn select(&self, before: &str, is_wanted: impl Fn(&str) -> bool) -> String {
        let mut selected = String::with_capacity(before.len() + self.text.len() + self.facts.len() + 2);
        selected.push('[');
        selected.push_str(before);
        for (template, place) in &self.facts {
            if template.is_none_or(&is_wanted) {
                selected.push_str(self.text.get(place.clone()).unwrap_or_default());
                selected.push(',');
            }
        }
        if selected.ends_with(',') {
            selected.pop();
        }
        selected.push(']');
        selected
    }
}

/// Facts in the making.
pub(super) struct FactWriter {
    told: MomentFacts,
    /// The templates that somebody reads.
    read: Arc<[&'static str]>,
    run_id: String,
    time: String,
    /// The source and the run of the last fact: most of them have the same.
    tail: String,
    tail_source: Option<String>,
    /// The step that the next facts are about.
    pub(super) step: Option<u32>,
    /// Who says them, where it is not who usually says such facts: that one is the template's default.
    pub(super) origin: Option<&'static str>,
    problem: Option<String>,
}

/// The value of a slot.
pub(super) enum Slot<'a> {
    Text(&'a str),
    Number(u64),
    Amount(f64),
    Flag(bool),
}

impl FactWriter {
    pub(super) fn new(run_id: String, now_ms: u64, read: Arc<[&'static str]>) -> Self {
        Self {
            read,
            told: MomentFacts {
                text: String::with_capacity(USUAL),
                facts: Vec::with_capacity(32),
            },
            run_id,
            time: now_ms.to_string(),
            tail: String::new(),
            tail_source: None,
            step: None,
            origin: None,
            problem: None,
        }
    }

    pub(super) fn is_read(&self, template: &str) -> bool {
        self.read.contains(&template)
    }

    pub(super) fn finish(self) -> Result<MomentFacts, String> {
        match self.problem {
            Some(problem) => Err(problem),
            None => Ok(self.told),
        }
    }

    /// A fact of a host's template, with its provenance.
    pub(super) fn tell(&mut self, template: &'static str, source: &str, slots: &[(&str, Slot<'_>)]) {
        if !self.is_read(template) {
            return;
        }
        let began = self.told.text.len();
        let text = &mut self.told.text;
        text.push_str("{\"template\":\"");
        text.push_str(template);
        text.push_str("\",\"slots\":{");
        for (name, value) in slots {
            text.push('"');
            text.push_str(name);
            text.push_str("\":");
            match value {
                Slot::Text(value) => quote(text, value),
                // The language's integers are signed. Writing to a string cannot fail.
                Slot::Number(number) => digits(text, (*number).min(i64::MAX as u64)),
                Slot::Amount(number) => drop(write!(text, "{}", Value::from(*number))),
                Slot::Flag(flag) => text.push_str(if *flag { "true" } else { "false" }),
            }
            text.push(',');
        }
        // In the order of the template's slots: whoever reads it finds each where it looks first.
        if let Some(origin) = self.origin {
            text.push_str("\"origin\":\"");
            text.push_str(origin);
            text.push_str("\",");
        }
        if self.tail_source.as_deref() != Some(source) {
            let tail = &mut self.tail;
            tail.clear();
            tail.push_str("\"source\":");
            quote(tail, source);
            tail.push_str(",\"run-id\":\"");
            tail.push_str(&self.run_id);
            tail.push('"');
            self.tail_source = Some(source.to_owned());
        }
        text.push_str(&self.tail);
        if let Some(step) = self.step {
            text.push_str(",\"step\":");
            digits(text, u64::from(step));
        }
        text.push_str(",\"time\":");
        text.push_str(&self.time);
        text.push_str("}}");
        self.told(Some(template), began);
    }

    /// The ordered fact `(name value …)` (D13).
    fn state(&mut self, name: &str, values: &[Value]) {
        let began = self.told.text.len();
        let text = &mut self.told.text;
        text.push_str("{\"name\":");
        quote(text, name);
        text.push_str(",\"fields\":[");
        for (at, value) in values.iter().enumerate() {
            if at > 0 {
                text.push(',');
            }
            match value {
                Value::String(value) => quote(text, value),
                value => drop(write!(text, "{value}")),
            }
        }
        text.push_str("]}");
        self.told(None, began);
    }

    fn told(&mut self, template: Option<&'static str>, began: usize) {
        self.told.facts.push((template, began..self.told.text.len()));
        if self.told.text.len() > BYTES_MAX {
            self.refuse(format!("the facts have more than {BYTES_MAX} bytes"));
        }
    }

    fn refuse(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// One fact for every text in a value, with the pointer to it. A number with as many digits as a person's data has is a text
    /// too, and so is a key that is no plain name; its pointer leads to its object, because a pointer must not say what may have
    /// to be redacted.
    pub(super) fn evidence(&mut self, subject: &str, source: &str, value: &Value) {
        if !self.is_read("evidence") {
            return;
        }
        let mut open = vec![(String::new(), value)];
        let mut count = 0_usize;
        while let Some((pointer, value)) = open.pop() {
            if self.problem.is_some() {
                return;
            }
            let mut told = |telling: &mut Self, text: &str| {
                count += 1;
                if count > EVIDENCE_MAX {
                    telling.refuse(format!("the {subject} has more than {EVIDENCE_MAX} texts"));
                    return;
                }
                let slots = [
                    ("subject", Slot::Text(subject)),
                    ("pointer", Slot::Text(&pointer)),
                    ("text", Slot::Text(text)),
                ];
                telling.tell("evidence", source, &slots);
            };
            match value {
                Value::String(text) => told(self, text),
                Value::Number(number) => {
                    let text = number.to_string();
                    if text.bytes().filter(u8::is_ascii_digit).count() >= DIGITS_MIN {
                        told(self, &text);
                    }
                }
                Value::Array(items) => {
                    let items = items.iter().enumerate().rev();
                    open.extend(items.map(|(index, item)| (format!("{pointer}/{index}"), item)));
                }
                Value::Object(members) => {
                    for key in members.keys().filter(|key| !is_plain(key)) {
                        told(self, key);
                    }
                    let members = members.iter().rev();
                    open.extend(members.map(|(key, item)| {
                        let key = key.replace('~', "~0").replace('/', "~1");
                        (format!("{pointer}/{key}"), item)
                    }));
                }
                Value::Null | Value::Bool(_) => {}
            }
        }
    }

    /// Every field of the input or state as `(field value)`; an object's as `(field.inner value)`, a list as several values.
    pub(super) fn fields(&mut self, members: &Map<String, Value>) {
        let mut open: Vec<(String, &Value)> = members
            .iter()
            .rev()
            .map(|(name, value)| (name.clone(), value))
            .collect();
        let mut count = 0_usize;
        while let Some((name, value)) = open.pop() {
            // Only what a rule could name.
            if self.problem.is_some() || !is_name(&name) {
                continue;
            }
            if let Value::Object(inner) = value {
                let inner = inner.iter().rev();
                open.extend(inner.map(|(key, value)| (format!("{name}.{key}"), value)));
                continue;
            }
            count += 1;
            if count > STATE_MAX {
                self.refuse(format!("the input has more than {STATE_MAX} fields"));
                return;
            }
            // A caller's field is never mistaken for something that the host says.
            let name = if is_host_template(&name) {
                format!("state.{name}")
            } else {
                name
            };
            match value {
                Value::Array(items) => {
                    let plain = items.iter().map(|item| match item {
                        Value::Array(_) | Value::Object(_) => Value::String(item.to_string()),
                        plain => plain.clone(),
                    });
                    let fields: Vec<Value> = plain.collect();
                    self.state(&name, &fields);
                }
                plain => self.state(&name, std::slice::from_ref(plain)),
            }
        }
    }
}

/// A key that whoever wrote the tool has chosen.
fn is_plain(key: &str) -> bool {
    let letter = |byte: u8| byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-');
    key.len() <= NAME_MAX && key.bytes().all(letter)
}

fn is_name(name: &str) -> bool {
    let first = name
        .bytes()
        .next()
        .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    let rest = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    first && name.len() <= NAME_MAX && name.bytes().all(rest)
}

/// A number as JSON. There are two dozen of them around every step, and most are short.
fn digits(into: &mut String, number: u64) {
    match u8::try_from(number) {
        Ok(digit @ 0..=9) => into.push(char::from(b'0' + digit)),
        // Writing to a string cannot fail.
        _ => drop(write!(into, "{number}")),
    }
}

/// A text as JSON.
fn quote(into: &mut String, text: &str) {
    // Most texts need no escape, and then this is a copy.
    if text
        .bytes()
        .any(|byte| byte < b' ' || byte == b'"' || byte == b'\\')
    {
        let _ = write!(into, "{}", Value::from(text));
        return;
    }
    into.push('"');
    into.push_str(text);
    into.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told() -> MomentFacts {
        let mut telling = FactWriter::new("run".to_owned(), 7, Arc::from(["moment", "budget"]));
        telling.tell("step", "chain", &[("name", Slot::Text("nobody reads it"))]);
        telling.evidence("input", "step", &json!({"nobody": "reads it"}));
        telling.tell("moment", "run", &[("name", Slot::Text("before \"run\"\n"))]);
        telling.step = Some(2);
        let slots = [
            ("used", Slot::Number(u64::MAX)),
            ("limit", Slot::Amount(0.5)),
            ("is", Slot::Flag(true)),
        ];
        telling.tell("budget", "chain", &slots);
        let input = json!({"severity": 5, "who": {"name": "a \\ b"}, "step": null, "tags": [[1], true]});
        telling.fields(input.as_object().unwrap());
        telling.finish().unwrap()
    }

    #[test]
    fn what_is_told_is_json() {
        let all: Value = serde_json::from_str(&told().all()).unwrap();
        assert_eq!(
            all,
            json!([
                {"template": "moment", "slots": {"name": "before \"run\"\n", "source": "run", "run-id": "run", "time": 7}},
                {"template": "budget", "slots": {
                    "used": i64::MAX, "limit": 0.5, "is": true, "step": 2, "source": "chain", "run-id": "run", "time": 7}},
                {"name": "severity", "fields": [5]},
                {"name": "state.step", "fields": [null]},
                {"name": "tags", "fields": ["[1]", true]},
                {"name": "who.name", "fields": ["a \\ b"]},
            ])
        );
    }

    #[test]
    fn a_pack_is_sent_what_it_reads_and_every_ordered_fact() {
        let names = |text: &str| -> Vec<String> {
            let facts: Vec<Value> = serde_json::from_str(text).unwrap();
            let name = |fact: &Value| fact.get("template").or(fact.get("name")).cloned();
            facts
                .iter()
                .filter_map(name)
                .map(|name| name.as_str().unwrap().to_owned())
                .collect()
        };
        let told = told();
        let state = ["severity", "state.step", "tags", "who.name"];
        assert_eq!(
            names(&told.select("", |name| name == "budget")),
            [&["budget"][..], &state].concat()
        );
        assert_eq!(names(&told.select("", |_| false)), state);
        let before = r#"{"name":"x"},"#;
        assert_eq!(
            names(&told.select(before, |_| false)),
            [&["x"][..], &state].concat()
        );
        assert_eq!(names(&MomentFacts::default().select(before, |_| true)), ["x"]);
        assert_eq!(MomentFacts::default().all(), "[]");
    }
}
