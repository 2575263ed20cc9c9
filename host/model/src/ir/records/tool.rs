//! Tools.

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

literal! {
    /// What a tool does to the world.
    pub enum SideEffects {
        /// Nothing.
        None = "none",
        /// Reads.
        Read = "read",
        /// Writes.
        Write = "write",
        /// Acts outside the host.
        External = "external",
    }
}

literal! {
    /// How a replay treats a call of the tool. The underscore spelling is read too (D19).
    pub enum ReplayPolicy {
        /// The call must be stubbed.
        MustStub = "must-stub" also "must_stub",
        /// The replay stops.
        FailLoud = "fail-loud" also "fail_loud",
        /// The recorded result is used.
        RecordedResult = "recorded-result" also "recorded_result",
    }
}

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
