//! Tools.

pub use crate::tool_spec::{ReplayPolicy, SideEffects};

use crate::ir::decimal::Decimal;
use crate::ir::record::{literal, record};
use mizzen_json::Object;

record! {
    /// A tool that a document relies on.
    pub struct ToolRef {
        /// Namespaced tool id, as `ns.name`.
        id: String,
        /// Pinned version.
        version: Option<String> = None,
    }
}

literal!(SideEffects, ReplayPolicy);

record! {
    /// A tool's descriptor.
    pub struct ToolSpec {
        /// Tool name, unique within its namespace.
        name: String,
        /// Namespace prefix.
        namespace: String,
        /// Tool semver.
        version: String,
        /// Human-readable summary.
        description: String,
        /// JSON Schema of the input.
        input_schema: Object,
        /// JSON Schema of the output.
        output_schema: Object,
        /// What it does to the world.
        side_effects: SideEffects,
        /// How a replay treats a call.
        replay_policy: ReplayPolicy = ReplayPolicy::MustStub,
        /// Capabilities needed to execute.
        permissions: Vec<String> = Vec::new(),
        /// Caller-supplied key that makes a repetition harmless.
        idempotency_key: Option<String> = None,
        /// Money, never a float.
        cost_estimate: Option<Decimal> = None,
        /// Inline examples of input and output.
        examples: Vec<Object> = Vec::new(),
        /// Tags for finding it.
        tags: Vec<String> = Vec::new(),
        /// Whether it should no longer be used.
        deprecated: bool = false,
    }
}
