//! The description of a tool.

use crate::{Context, ToolError};

/// A tool. Implemented by `#[tool]`, not by hand.
pub trait Tool {
    /// The tool's name.
    const NAME: &'static str;

    /// The tool's description: the same at every call.
    fn describe() -> Descriptor;

    /// Reads the input, runs the tool, writes the output.
    fn invoke(input: &str, context: &Context) -> Result<String, ToolError>;
}

/// A tool, as the host and its users see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Descriptor {
    /// The tool's name, unique in its namespace.
    pub name: &'static str,
    /// A namespace other than the plugin's own.
    pub namespace: Option<&'static str>,
    /// The tool's own version.
    pub version: &'static str,
    /// One or two sentences for the person or model that chooses a tool.
    pub description: &'static str,
    /// JSON Schema 2020-12 of the input.
    pub input_schema: String,
    /// JSON Schema 2020-12 of the output.
    pub output_schema: String,
    /// How the tool touches the world.
    pub side_effects: SideEffects,
    /// What a replay does with a call of this tool.
    pub replay_policy: ReplayPolicy,
    /// The permissions that this tool needs.
    pub permissions: &'static [&'static str],
    /// The input field whose value makes repeated calls the same call.
    pub idempotency_key: Option<&'static str>,
    /// What one call costs, as decimal text.
    pub cost_estimate: Option<&'static str>,
    /// Examples, run as tests.
    pub examples: &'static [Example],
    /// Words to find the tool by.
    pub tags: &'static [&'static str],
    /// Still works, but should no longer be chosen.
    pub deprecated: bool,
}

/// An input and, where it determines it, the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Example {
    /// What the example shows.
    pub name: &'static str,
    /// The input, as JSON text.
    pub input: &'static str,
    /// The output, as JSON text; none when only success is expected.
    pub output: Option<&'static str>,
}

/// How a tool touches the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SideEffects {
    /// A function of its input and nothing else.
    None,
    /// Reads state outside of the sandbox.
    Read,
    /// Changes state that the host keeps.
    Write,
    /// Changes state that the host does not keep.
    External,
}

/// What a replay of a recorded run does with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplayPolicy {
    /// A stand-in must be supplied; the call is never made again.
    MustStub,
    /// A replay that reaches the call stops with an error.
    FailLoud,
    /// The recorded result is returned again.
    RecordedResult,
}
