//! Facts that an author wrote: from a file, and whether a host would ever say them.

use anyhow::Context as _;
use mizzen_model::facts::{FACTS_VERSION, VOCABULARY, is_host_template, templates};
use mizzen_rules::Program;
use serde_json::Value;
use std::path::Path;

/// Facts from a file: an array, or an object, whose fields are ordered facts.
pub(super) fn read(path: &Path) -> anyhow::Result<Vec<Value>> {
    let document: Value = serde_json::from_str(&crate::verbs::rules::read(path)?)
        .with_context(|| format!("the facts {} are not JSON", path.display()))?;
    match document {
        Value::Array(facts) => Ok(facts),
        Value::Object(state) => Ok(mizzen_rules::json::state_facts(&state)
            .map_err(anyhow::Error::msg)?
            .iter()
            .map(mizzen_rules::json::fact_to_json)
            .collect()),
        _ => anyhow::bail!("the facts {} are neither an array nor an object", path.display()),
    }
}

/// What no host says, one line for each fact. A pack overlooks facts that it does not read, so a template or slot that is not
/// spelt as the vocabulary has it would go unnoticed: a case would show nothing.
pub(super) fn doubts(facts: &[Value], own: &[String]) -> anyhow::Result<Vec<String>> {
    let vocabulary = Program::parse(VOCABULARY)?;
    let doubt =
        |(at, fact): (usize, &Value)| doubt(fact, own, &vocabulary).map(|it| format!("fact {at}: {it}"));
    Ok(facts.iter().enumerate().filter_map(doubt).collect())
}

fn doubt(fact: &Value, own: &[String], vocabulary: &Program) -> Option<String> {
    let text = |name: &str| fact.get(name).and_then(Value::as_str);
    match (text("template"), text("name")) {
        // What another pack shares has the slots that it has, and what the pack keeps to itself is its own matter.
        (Some(template), _) if template.contains("::") || own.iter().any(|own| own == template) => None,
        (Some(template), _) if !is_host_template(template) => Some(unknown(template)),
        (None, Some(name)) if is_host_template(name) => Some(format!(
            "{name} is a template: {{\"template\": \"{name}\", \"slots\": {{…}}}}"
        )),
        (Some(_), _) => mizzen_rules::json::fact(fact, vocabulary)
            .err()
            .map(|error| error.to_string()),
        (None, _) => None,
    }
}

fn unknown(template: &str) -> String {
    let known: Vec<&str> = templates().collect();
    format!(
        "there is no template {template} in the host's facts {FACTS_VERSION}, which are {}; another pack's is PACK-ID::TEMPLATE",
        known.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_fact_that_no_host_says_is_noticed() {
        let check = |fact: Value, part: Option<&str>| {
            let doubts = doubts(&[fact], &["mine".to_owned()]).unwrap();
            match (doubts.as_slice(), part) {
                ([], None) => {}
                ([doubt], Some(part)) => assert!(doubt.contains(part), "{doubt}"),
                (doubts, part) => panic!("{doubts:?}, wanted {part:?}"),
            }
        };
        check(json!({"template": "step", "slots": {"tool": "a.b"}}), None);
        check(json!({"template": "mine", "slots": {"x": 1}}), None);
        check(json!({"template": "other.pack::score", "slots": {"x": 1}}), None);
        check(json!({"name": "severity", "fields": [5]}), None);
        check(json!("(severity 5)"), None);
        check(json!({"template": "stp"}), Some("no template stp"));
        check(
            json!({"template": "step", "slots": {"tol": "a"}}),
            Some("no slot tol"),
        );
        check(
            json!({"template": "moment", "slots": {"name": "now"}}),
            Some("before-run, before-step"),
        );
        check(json!({"name": "step", "fields": [1]}), Some("is a template"));
    }
}
