//! The run's input as a journal may keep it when the run has ended: without what packs took out of the inputs of its calls.
//!
//! Until then the run needs its input whole: conditions read it, later steps map it, and a host that stops makes the run again from it.

use super::super::Run;
use crate::pack::{REDACTED, Replaced};
use mizzen_condition::Pattern;
use serde_json::{Map, Value};

impl<C> Run<C> {
    /// The input without what was redacted; none where nothing was.
    pub fn redacted_input(&self) -> Option<&Value> {
        self.redacted_input.as_ref()
    }

    /// The run was begun with what [`Run::redacted_input`] had left: what is to be redacted may be gone already.
    pub fn set_input_redacted(&mut self) {
        self.input_is_redacted = true;
    }

    /// Takes texts out wherever they stand in the input, whole or with other words around them.
    pub(super) fn forget_texts(&mut self, texts: &[Replaced], words: &[String]) {
        if texts.is_empty() {
            return;
        }
        self.forget(cleaner(texts, words));
    }

    /// As [`Run::forget_texts`] in the state of a graph, which is shown when the run has ended. Only of what is taken out of a node's own
    /// input: that is made again whole from the journal and redacted again, so a run that is made again has the same state.
    pub(super) fn forget_in_state(&mut self, texts: &[Replaced], words: &[String]) {
        if let (false, Some(graph)) = (texts.is_empty(), &mut self.result.graph) {
            for value in graph.state.values_mut() {
                clean_texts(value, cleaner(texts, words));
            }
        }
    }

    /// As [`Run::forget_texts`], where only the pattern is known: a journal has the input of a tool's call as it was redacted.
    pub(super) fn forget_matches(&mut self, pattern: &str) {
        if let Ok(pattern) = Pattern::compile(pattern) {
            self.forget(|text| pattern.replace(text, REDACTED));
        }
    }

    fn forget(&mut self, clean: impl Fn(&str) -> Option<String>) {
        let mut kept = self.redacted_input.take().unwrap_or_else(|| self.input.clone());
        clean_texts(&mut kept, clean);
        self.redacted_input = (kept != self.input).then_some(kept);
    }
}

/// Takes texts out of a text; nothing where none of them is in it.
fn cleaner<'a>(texts: &'a [Replaced], words: &'a [String]) -> impl Fn(&str) -> Option<String> + 'a {
    move |text| {
        if let Some(found) = texts.iter().find(|found| found.before == text) {
            return Some(found.after.clone());
        }
        let mut left = text.to_owned();
        for word in words.iter().filter(|word| !word.is_empty()) {
            if left.contains(word.as_str()) {
                left = left.replace(word.as_str(), REDACTED);
            }
        }
        (left != text).then_some(left)
    }
}

/// Cleans every string, number and key. Not by recursion: callers decide how deep an input is.
fn clean_texts(input: &mut Value, clean: impl Fn(&str) -> Option<String>) {
    let mut open = vec![input];
    while let Some(value) = open.pop() {
        if let Value::Number(number) = &value
            && clean(&number.to_string()).is_some()
        {
            *value = REDACTED.into();
            continue;
        }
        match value {
            Value::String(text) => {
                if let Some(left) = clean(text) {
                    *text = left;
                }
            }
            Value::Array(items) => open.extend(items),
            Value::Object(members) => {
                if members.keys().any(|key| clean(key).is_some()) {
                    *members = renamed(std::mem::take(members), &clean);
                }
                open.extend(members.values_mut());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// Of several keys that become the same the later ones are numbered, as in a redaction.
fn renamed(members: Map<String, Value>, clean: impl Fn(&str) -> Option<String>) -> Map<String, Value> {
    let mut kept = Map::new();
    for (key, value) in members {
        let left = clean(&key).unwrap_or(key);
        let (mut name, mut number) = (left.clone(), 2);
        while kept.contains_key(&name) {
            name = format!("{left} {number}");
            number += 1;
        }
        kept.insert(name, value);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_text_is_gone_wherever_it_stands() {
        let mut input = json!({
            "text": "x SECRET4711 y", "list": [{"deep": "SECRET4711"}, 4711, true, null],
            "SECRET4711": 1, "a SECRET4711": 2, "other": "SECRET 4711",
        });
        clean_texts(&mut input, |text| match text {
            "4711" => Some(REDACTED.to_owned()),
            text => text
                .contains("SECRET4711")
                .then(|| text.replace("SECRET4711", REDACTED)),
        });
        assert_eq!(
            input,
            json!({
                "text": "x [redacted] y", "list": [{"deep": "[redacted]"}, "[redacted]", true, null],
                "[redacted]": 1, "a [redacted]": 2, "other": "SECRET 4711",
            })
        );
        let mut same = json!({"SECRET4711": 1, "[redacted]": 2});
        clean_texts(&mut same, |text| {
            (text == "SECRET4711").then(|| REDACTED.to_owned())
        });
        assert_eq!(same.as_object().unwrap().len(), 2, "{same}");
    }
}
