//! The rule engine that ships in the binary.

/// The engine without rules: a component made from `plugins/rule-engine`. A test compares the sources with
/// those that it was made from, and fails with the command that renews it.
pub const RULE_ENGINE: &[u8] = include_bytes!("../../../../plugins/rule-engine/rule-engine.wasm");

/// The section of a pack that holds its rule file, for people: what runs is the engine's memory.
pub const RULES_SECTION: &str = "bosun:rules";
