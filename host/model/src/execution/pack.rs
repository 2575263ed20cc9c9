//! What packs said in an execution.

use crate::governance::{PackAction, PackMode, PackOrigin, PackSeverity};
use crate::pack::Moment;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

serde_as_text! {
    PackAction => PackAction::parse,
    PackMode => PackMode::parse,
    PackOrigin => PackOrigin::parse,
    PackSeverity => PackSeverity::parse,
}

/// One thing that a mounted pack said, or that it did not answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PackEvaluation {
    /// The pack.
    pub pack_id: String,
    /// Its version.
    pub version: String,
    /// The package that it came from, to the byte.
    pub digest: String,
    /// How it is mounted.
    pub mode: PackMode,
    /// When it was asked.
    #[serde(deserialize_with = "moment")]
    pub moment: Moment,
    /// The step it was asked about.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<u32>,
    /// The call that it was asked about, where a tool makes it: its path among the step's calls.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub call: Option<String>,
    /// The rule that concluded it; none when the pack did not answer.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rule: Option<String>,
    /// How much it matters.
    pub severity: PackSeverity,
    /// What it asks for. A pack that did not answer asks for a veto.
    pub action: PackAction,
    /// Why.
    pub reason: String,
    /// What the pack says with it: the pointer and pattern of a redaction, the delay of a retry, anything else.
    #[serde(skip_serializing_if = "Map::is_empty", default)]
    pub details: Map<String, Value>,
    /// Whether it was done: not what an advisory pack asks for, nor a retry that the step's policy has no room for.
    pub applied: bool,
    /// Why it was not done.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub not_applied: Option<String>,
}

fn moment<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
    let text = String::deserialize(deserializer)?;
    Moment::parse(&text)
        .ok_or_else(|| serde::de::Error::custom(format!("not a moment: {}", mizzen_json::quote(&text))))
}
