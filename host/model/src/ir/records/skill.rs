//! Skills.

use crate::ir::record::{literal, record};
use crate::record::choice;
use mizzen_json::Object;

record! {
    /// A skill that a document relies on.
    pub struct SkillRef {
        /// Namespaced skill id.
        id: String,
        /// Pinned version.
        version: Option<String> = None,
    }
}

choice! {
    /// What kind of skill it is.
    pub enum SkillKind {
        /// An agent.
        Agent = "agent",
        /// A workflow.
        Workflow = "workflow",
        /// A utility.
        Utility = "utility",
    }
}

literal!(SkillKind);

record! {
    /// A skill's descriptor.
    pub struct SkillSpec {
        /// Skill name.
        name: String,
        /// Namespace prefix.
        namespace: String,
        /// Skill semver.
        version: String,
        /// Human-readable summary.
        description: String,
        /// What kind of skill it is.
        kind: SkillKind,
        /// Tool ids the skill may call.
        tools: Vec<String> = Vec::new(),
        /// Inline examples of input and output.
        examples: Vec<Object> = Vec::new(),
        /// Graph fragment id.
        subgraph: Option<String> = None,
        /// Prompt template.
        system_prompt: Option<String> = None,
    }
}
