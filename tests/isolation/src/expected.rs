//! `expected.toml`.

use anyhow::{Context, Result};
use std::path::Path;

/// What a guest must come to.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The outcome's name, or `load-refused:CODE`.
    pub outcome: String,
    /// The tool to call.
    pub tool: String,
    /// Its input.
    pub input: String,
    /// A text that the output or the explanation contains.
    #[serde(default)]
    pub contains: String,
    /// Other guests of the same set.
    #[serde(default)]
    pub with: Vec<String>,
    /// Calls that are made first and must succeed.
    #[serde(default)]
    pub before: Vec<Before>,
    /// What the operator grants; what is declared, when left out.
    pub granted: Option<Vec<String>>,
    /// What the operator lists under `private_hosts`. Nothing, when left out.
    #[serde(default)]
    pub private_hosts: Vec<String>,
    /// Where the guest gets connected to, in order. Nowhere, when left out.
    #[serde(default)]
    pub connects: Vec<String>,
    /// Whether the guest's constant `GROW` becomes an instruction that grows its table.
    #[serde(default)]
    pub grows_table: bool,
    /// Whether the guest's constants `FILL` become an instruction that fills its table.
    #[serde(default)]
    pub fills_table: bool,
    /// How many calls are made at the same time; each must come to the outcome.
    #[serde(default = "once")]
    pub at_once: usize,
}

fn once() -> usize {
    1
}

/// A call that is made first.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Before {
    /// The tool.
    pub tool: String,
    /// Its input.
    pub input: String,
}

impl Expected {
    /// Reads a guest's expectation.
    ///
    /// # Errors
    /// When there is none, or it is not one.
    pub fn read(folder: &Path) -> Result<Self> {
        let file = folder.join("expected.toml");
        let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        toml::from_str(&text).with_context(|| file.display().to_string())
    }
}
