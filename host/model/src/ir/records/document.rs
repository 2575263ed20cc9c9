//! The root record and its sections.

use super::{Action, PackMount, SkillRef, StoreRef, ToolRef};
use crate::ir::record::{StringMap, record};
use crate::ir::slug::{validate_node_id, validate_rule_id};

record! {
    /// A portable description of an executable graph: nodes, rules, tools, skills, stores, governance packs and migrations.
    pub struct IRDocument {
        /// `MAJOR.MINOR.PATCH`; another major than this build's is refused.
        ir_version: String,
        /// Document identifier, free-form.
        id: String,
        /// Graph nodes.
        nodes: Vec<NodeSpec>,
        /// Top-level rule definitions.
        rules: Vec<RuleSpec> = Vec::new(),
        /// Tool references the graph relies on.
        tools: Vec<ToolRef> = Vec::new(),
        /// Skill references.
        skills: Vec<SkillRef> = Vec::new(),
        /// Store bindings.
        stores: Vec<StoreRef> = Vec::new(),
        /// State field name to type string.
        state_schema: StringMap = StringMap::new(),
        /// `module.path:ClassName` of an existing model; excludes a non-empty `state_schema` when the graph is built.
        state_class: Option<String> = None,
        /// Top-level parallel and join declarations.
        parallel: Vec<ParallelBlock> = Vec::new(),
        /// Mounted Bosun rule packs.
        governance: Vec<PackMount> = Vec::new(),
        /// Hash-to-hash migrations for resume.
        migrate: Vec<MigrateBlock> = Vec::new(),
    }
}

record! {
    /// A graph node.
    pub struct NodeSpec {
        /// Stable slug.
        id slug validate_node_id: String,
        /// Node factory key or `module.path:ClassName`.
        kind: String,
    }
}

record! {
    /// A rule: a pattern and what happens when it matches.
    pub struct RuleSpec {
        /// Stable slug.
        id slug validate_rule_id: String,
        /// CLIPS-pattern condition.
        when: String = String::new(),
        /// Actions; an action cannot contain another.
        then: Vec<Action> = Vec::new(),
    }
}

record! {
    /// A parallel/join declaration outside any rule.
    pub struct ParallelBlock {
        /// Node ids fanned out in parallel.
        targets: Vec<String>,
        /// Join node id; empty means the end of the block.
        join: String = String::new(),
        /// `all`, `any`, `race` or `quorum`.
        strategy: String = "all".to_owned(),
    }
}

record! {
    /// What a drifted graph hash may be migrated to.
    pub struct MigrateBlock {
        /// `graph_hash` before the migration.
        from_hash: String,
        /// `graph_hash` after the migration.
        to_hash: String,
    }
}
