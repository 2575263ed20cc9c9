//! A tool as a guest or a JSON document describes it, before anything is checked.

use super::{ReplayPolicy, SideEffects, ToolProblem};
use mizzen_json::shorten;
use serde_json::{Map, Value};

/// A tool as described; every text still hostile.
#[derive(Debug, Clone, PartialEq)]
#[expect(
    missing_docs,
    reason = "the fields are those of the specification's ToolSpec, documented on ToolSpec"
)]
pub struct ToolDraft {
    pub name: String,
    pub namespace: String,
    pub version: String,
    pub description: String,
    pub input_schema: String,
    pub output_schema: String,
    pub side_effects: SideEffects,
    pub replay_policy: ReplayPolicy,
    pub permissions: Vec<String>,
    pub idempotency_key: Option<String>,
    pub cost_estimate: Option<String>,
    pub examples: Vec<ExampleDraft>,
    pub tags: Vec<String>,
    pub deprecated: bool,
}

/// An example as described: JSON texts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "documented on Example")]
pub struct ExampleDraft {
    pub name: String,
    pub input: String,
    pub output: Option<String>,
}

/// Says that a descriptor used the legacy `side_effects: bool`. Whoever reads descriptors warns about it once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LegacySideEffects {
    /// The descriptor is of the current form.
    #[default]
    Absent,
    /// `true` became `write`, `false` became `none`.
    UpConverted,
}

impl ToolDraft {
    /// Reads a descriptor document, as in the specification, unknown keys refused.
    ///
    /// # Errors
    /// With everything that has the wrong type or is missing.
    pub fn from_json(document: &Value) -> Result<(Self, LegacySideEffects), Vec<ToolProblem>> {
        let Some(object) = document.as_object() else {
            return Err(vec![ToolProblem {
                field: "tool",
                message: "a tool is a JSON object".to_owned(),
            }]);
        };
        let mut fields = Fields {
            object,
            problems: Vec::new(),
        };
        fields.refuse_unknown();
        let (side_effects, legacy) = fields.side_effects();
        let replay_policy = match fields.optional_text("replay_policy") {
            None => ReplayPolicy::default(),
            Some(text) => ReplayPolicy::parse(&text).unwrap_or_else(|| {
                fields.wrong(
                    "replay_policy",
                    format!(
                        "`{}` is not must-stub, fail-loud or recorded-result",
                        shorten(&text)
                    ),
                );
                ReplayPolicy::default()
            }),
        };
        let draft = Self {
            name: fields.text("name"),
            namespace: fields.text("namespace"),
            version: fields.text("version"),
            description: fields.text("description"),
            input_schema: fields.json("input_schema"),
            output_schema: fields.json("output_schema"),
            side_effects,
            replay_policy,
            permissions: fields.texts("permissions"),
            idempotency_key: fields.optional_text("idempotency_key"),
            cost_estimate: fields.optional_text("cost_estimate"),
            examples: fields.examples(),
            tags: fields.texts("tags"),
            deprecated: fields.flag("deprecated"),
        };
        if fields.problems.is_empty() {
            Ok((draft, legacy))
        } else {
            Err(fields.problems)
        }
    }
}

const KEYS: [&str; 14] = [
    "name",
    "namespace",
    "version",
    "description",
    "input_schema",
    "output_schema",
    "side_effects",
    "replay_policy",
    "permissions",
    "idempotency_key",
    "cost_estimate",
    "examples",
    "tags",
    "deprecated",
];

struct Fields<'a> {
    object: &'a Map<String, Value>,
    problems: Vec<ToolProblem>,
}

impl Fields<'_> {
    fn wrong(&mut self, field: &'static str, message: impl Into<String>) {
        self.problems.push(ToolProblem {
            field,
            message: message.into(),
        });
    }

    fn refuse_unknown(&mut self) {
        // One problem however many keys there are: the document is hostile.
        if let Some(key) = self.object.keys().find(|key| !KEYS.contains(&key.as_str())) {
            let message = format!("unknown key `{}`; a tool has {}", shorten(key), KEYS.join(", "));
            self.wrong("tool", message);
        }
    }

    fn text(&mut self, field: &'static str) -> String {
        match self.object.get(field) {
            Some(Value::String(text)) => return text.clone(),
            Some(_) => self.wrong(field, "it must be a string"),
            None => self.wrong(field, "it is missing"),
        }
        String::new()
    }

    fn optional_text(&mut self, field: &'static str) -> Option<String> {
        match self.object.get(field) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()),
            Some(_) => {
                self.wrong(field, "it must be a string");
                None
            }
        }
    }

    fn json(&mut self, field: &'static str) -> String {
        match self.object.get(field) {
            Some(value) => value.to_string(),
            None => {
                self.wrong(field, "it is missing");
                String::new()
            }
        }
    }

    fn flag(&mut self, field: &'static str) -> bool {
        match self.object.get(field) {
            None => false,
            Some(Value::Bool(flag)) => *flag,
            Some(_) => {
                self.wrong(field, "it must be true or false");
                false
            }
        }
    }

    fn texts(&mut self, field: &'static str) -> Vec<String> {
        let items = match self.object.get(field) {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.wrong(field, "it must be a list of strings");
                return Vec::new();
            }
        };
        let texts: Option<Vec<String>> = items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect();
        texts.unwrap_or_else(|| {
            self.wrong(field, "it must be a list of strings");
            Vec::new()
        })
    }

    fn side_effects(&mut self) -> (SideEffects, LegacySideEffects) {
        match self.object.get("side_effects") {
            Some(Value::Bool(flag)) => {
                return (SideEffects::up_converted(*flag), LegacySideEffects::UpConverted);
            }
            Some(Value::String(text)) => match SideEffects::parse(text) {
                Some(effects) => return (effects, LegacySideEffects::Absent),
                None => self.wrong(
                    "side_effects",
                    format!("`{}` is not none, read, write or external", shorten(text)),
                ),
            },
            Some(_) => self.wrong("side_effects", "it must be none, read, write or external"),
            None => self.wrong(
                "side_effects",
                "it is missing; write none, read, write or external",
            ),
        }
        (SideEffects::External, LegacySideEffects::Absent)
    }

    fn examples(&mut self) -> Vec<ExampleDraft> {
        let items = match self.object.get("examples") {
            None => return Vec::new(),
            Some(Value::Array(items)) => items,
            Some(_) => {
                self.wrong("examples", "it must be a list of objects");
                return Vec::new();
            }
        };
        let read = |(index, item): (usize, &Value)| {
            let item = item.as_object()?;
            let name = match item.get("name") {
                Some(name) => name.as_str()?.to_owned(),
                None => format!("example {}", index + 1),
            };
            let output = item.get("output").map(Value::to_string);
            Some(ExampleDraft {
                name,
                input: item.get("input")?.to_string(),
                output,
            })
        };
        let examples: Option<Vec<ExampleDraft>> = items.iter().enumerate().map(read).collect();
        examples.unwrap_or_else(|| {
            self.wrong(
                "examples",
                "each example is an object with `input`, and optionally `name` and `output`",
            );
            Vec::new()
        })
    }
}
