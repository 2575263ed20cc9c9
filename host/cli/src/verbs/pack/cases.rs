//! `cases/*.json`: facts in, decisions expected.

use crate::verbs::rules::FILE_BYTES;
use anyhow::{Context as _, Result};
use mizzen_catalog::files;
use mizzen_engine::Schema;
use mizzen_model::manifest::Manifest;
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// More cases than anybody reads.
const MOST_FILES: usize = 10_000;
const BUDGET: u64 = 1_000_000;

/// One case.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// What it shows.
    pub(super) name: String,
    /// The facts.
    pub(super) facts: Vec<Value>,
    /// The operator's settings, which become `setting` facts.
    #[serde(default)]
    pub(super) settings: serde_json::Map<String, Value>,
    /// Match operations.
    #[serde(default = "budget")]
    pub(super) budget: u64,
    /// The decisions that must come, all of them and in this order; of each, what is written here.
    #[serde(default)]
    pub(super) decisions: Vec<Value>,
    /// What must be in the reason why there is no verdict, instead of decisions.
    pub(super) fails: Option<String>,
}

fn budget() -> u64 {
    BUDGET
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Document {
    Several(Vec<Case>),
    One(Box<Case>),
}

/// The cases of a folder, in the order of the files.
#[derive(Debug)]
pub(super) struct Cases(Vec<Case>);

impl Cases {
    /// Reads `DIR/cases/*.json`; a folder without cases has none.
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let folder = folder.join("cases");
        let mut files = Vec::new();
        if folder.is_dir() {
            for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
                let path = entry?.path();
                if path.extension().is_some_and(|extension| extension == "json") {
                    files.push(path);
                }
                anyhow::ensure!(
                    files.len() <= MOST_FILES,
                    "{} has too many files",
                    folder.display()
                );
            }
        }
        files.sort();
        let mut cases = Vec::new();
        for file in files {
            let text = files::read_text(&file, FILE_BYTES)?;
            // Read as a value first: an untagged enum would only say that nothing fits.
            let document: Value =
                serde_json::from_str(&text).with_context(|| format!("{} is not JSON", file.display()))?;
            let document = match document {
                Value::Array(_) => serde_json::from_value(document).map(Document::Several),
                one => serde_json::from_value(one).map(|case| Document::One(Box::new(case))),
            };
            match document.with_context(|| format!("{} is not a case, or a list of them", file.display()))? {
                Document::Several(several) => cases.extend(several),
                Document::One(one) => cases.push(*one),
            }
        }
        Ok(Self(cases))
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Case> {
        self.0.iter()
    }
}

/// What the operator may set for a pack, where it says so.
pub(super) fn config_schema(manifest: &Manifest) -> Result<Option<Schema>> {
    let schema = manifest.config_schema().map(Schema::compile).transpose();
    schema.map_err(|error| anyhow::anyhow!("[config]: {error}"))
}

impl Case {
    /// What no host would do: say such facts, or take such settings. Whatever came of it would show nothing.
    pub(super) fn doubts(&self, own: &[String], schema: Option<&Schema>) -> Result<Vec<String>> {
        let mut doubts = super::facts::doubts(&self.facts, own)?;
        if !self.settings.is_empty()
            && let Some(schema) = schema
            && let Err(found) = schema.check(&Value::Object(self.settings.clone()))
        {
            doubts.extend(found.iter().map(|found| {
                format!(
                    "settings: {} {}, by [config] of the pack",
                    found.path, found.message
                )
            }));
        }
        Ok(doubts)
    }

    /// The facts with the settings in front.
    pub(super) fn all_facts(&self) -> Vec<Value> {
        let setting = |(key, value): (&String, &Value)| serde_json::json!({"template": "setting", "slots": {"key": key, "value": value}});
        self.settings
            .iter()
            .map(setting)
            .chain(self.facts.iter().cloned())
            .collect()
    }

    /// What is wrong with these decisions, if something is.
    pub(super) fn problem(&self, found: &[Value]) -> Option<String> {
        if let Some(part) = &self.fails {
            return Some(format!(
                "expected no verdict ({part}), found {} decisions",
                found.len()
            ));
        }
        let shown = |decisions: &[Value]| serde_json::to_string_pretty(decisions).unwrap_or_default();
        if found.len() != self.decisions.len() {
            return Some(format!(
                "expected {} decisions, found {}:\n{}",
                self.decisions.len(),
                found.len(),
                shown(found)
            ));
        }
        for (at, (expected, found)) in self.decisions.iter().zip(found).enumerate() {
            if let Some(path) = difference(expected, found, "") {
                return Some(format!(
                    "decision {at} differs at {path}:\nexpected {expected}\nfound    {found}"
                ));
            }
        }
        None
    }
}

/// Where a value lacks something of what is expected: objects may have more members, everything else must be the same.
/// Recursion is as deep as the JSON parser allows.
fn difference(expected: &Value, found: &Value, path: &str) -> Option<String> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => expected.iter().find_map(|(key, value)| {
            let path = format!("{path}/{key}");
            match found.get(key) {
                Some(found) => difference(value, found, &path),
                None => Some(path),
            }
        }),
        (expected, found) if expected == found => None,
        _ => Some(if path.is_empty() {
            "/".to_owned()
        } else {
            path.to_owned()
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_decision_may_say_more_than_the_case_but_nothing_else() {
        let case: Case = serde_json::from_value(
            json!({"name": "n", "facts": [], "decisions": [{"action": "veto", "details": {"a": 1}}]}),
        )
        .unwrap();
        let check = |found: Value, part: Option<&str>| match (case.problem(&[found]), part) {
            (None, None) => {}
            (Some(problem), Some(part)) => assert!(problem.contains(part), "{problem}"),
            (problem, part) => panic!("{problem:?} {part:?}"),
        };
        check(
            json!({"action": "veto", "rule": "r", "details": {"a": 1, "b": 2}}),
            None,
        );
        check(json!({"action": "veto", "details": {"a": 2}}), Some("/details/a"));
        check(json!({"action": "redact", "details": {"a": 1}}), Some("/action"));
        check(json!({"action": "veto"}), Some("/details"));
        assert!(case.problem(&[]).is_some());
    }
}
