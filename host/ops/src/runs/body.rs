//! The members of a journal entry, already written: what is written again and again is written once, and nothing is copied into a
//! tree of values first.

use super::entry::EntryKind;
use mizzen_json::{Form, serde_to_canonical, write_string};
use serde::Serialize;
use serde_json::{Map, Value};
use std::sync::Arc;

/// Canonical JSON text of one member.
#[derive(Debug, Clone)]
enum Text {
    Own(String),
    /// The same in many entries.
    Shared(Arc<str>),
}

/// An object whose members are canonical JSON text.
#[derive(Debug, Clone, Default)]
pub(crate) struct Body {
    members: Vec<(&'static str, Text)>,
}

impl Body {
    pub(super) fn of_kind(kind: EntryKind) -> Self {
        let mut body = Self {
            members: Vec::with_capacity(16),
        };
        body.text("kind", kind.as_str());
        body
    }

    pub(super) fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    fn set(&mut self, name: &'static str, text: Text) {
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, before)) => *before = text,
            None => self.members.push((name, text)),
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.members.retain(|(known, _)| *known != name);
    }

    pub(super) fn text(&mut self, name: &'static str, text: &str) {
        let mut out = String::with_capacity(text.len().saturating_add(2));
        write_string(text, Form::Canonical, &mut out);
        self.set(name, Text::Own(out));
    }

    pub(super) fn number(&mut self, name: &'static str, number: impl Into<u64>) {
        self.set(name, Text::Own(number.into().to_string()));
    }

    pub(super) fn value(&mut self, name: &'static str, value: &Value) {
        self.set(name, Text::Own(serde_to_canonical(value)));
    }

    /// Something of the model. Nothing of it can fail to be written: strings, numbers and values.
    pub(super) fn model(&mut self, name: &'static str, model: &impl Serialize) {
        self.value(name, &serde_json::to_value(model).unwrap_or_default());
    }

    /// Text that is canonical JSON.
    pub(super) fn written(&mut self, name: &'static str, text: String) {
        self.set(name, Text::Own(text));
    }

    pub(super) fn list(&mut self, name: &'static str, items: impl Iterator<Item = Self>) {
        let mut out = String::from("[");
        for item in items {
            if out.len() > 1 {
                out.push(',');
            }
            out.push_str(&item.finish());
        }
        out.push(']');
        self.set(name, Text::Own(out));
    }

    pub(super) fn extend(&mut self, more: Self) {
        for (name, text) in more.members {
            self.set(name, text);
        }
    }

    /// The same members, cheap to copy.
    pub(super) fn shared(self) -> Self {
        let share = |(name, text)| match text {
            Text::Own(text) => (name, Text::Shared(text.into())),
            shared @ Text::Shared(_) => (name, shared),
        };
        Self {
            members: self.members.into_iter().map(share).collect(),
        }
    }

    /// The members as values, for those who compare them.
    pub(super) fn into_map(self) -> Map<String, Value> {
        // Read as what it is compared with is read. What was written as JSON can be read as JSON.
        serde_json::from_str(&self.finish()).unwrap_or_default()
    }

    /// The object, canonical.
    pub(super) fn finish(mut self) -> String {
        self.members.sort_unstable_by_key(|(name, _)| *name);
        let text = |text: &Text| match text {
            Text::Own(text) => text.len(),
            Text::Shared(text) => text.len(),
        };
        let bytes = self
            .members
            .iter()
            .map(|(name, value)| name.len() + text(value) + 4);
        let mut out = String::with_capacity(bytes.sum::<usize>() + 2);
        out.push('{');
        for (place, (name, value)) in self.members.iter().enumerate() {
            if place > 0 {
                out.push(',');
            }
            write_string(name, Form::Canonical, &mut out);
            out.push(':');
            out.push_str(match value {
                Text::Own(text) => text,
                Text::Shared(text) => text,
            });
        }
        out.push('}');
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_body_is_the_canonical_text_of_the_same_object() {
        let value = json!({"b": [1.5, {"z": 1, "a": "\u{e9}\"\n"}], "a": null});
        let mut body = Body::of_kind(EntryKind::Tick);
        body.value("value", &value);
        body.number("seq", 7_u32);
        body.text("actor", "ada \"the\" first\u{1}");
        body.model("list", &vec!["b", "a"]);
        body.written("raw", "[]".to_owned());
        body.text("kind", "y");
        let expected = json!({
            "kind": "y", "value": value, "seq": 7, "actor": "ada \"the\" first\u{1}", "list": ["b", "a"], "raw": [],
        });
        assert_eq!(body.clone().finish(), serde_to_canonical(&expected));
        assert_eq!(body.shared().finish(), serde_to_canonical(&expected));
        assert_eq!(Body::default().finish(), "{}");
    }
}
