//! What a plugin says of itself, checked and turned into the model's own record.

use crate::bindings::exports::mizzen::plugin::tool;
use crate::bindings::mizzen::plugin::types;
use crate::call::CallFault;
use mizzen_engine::Outcome;
use mizzen_model::tool_spec::ToolSpec;

/// More tools than this are several plugins.
const MAX_TOOLS: usize = 256;

/// A plugin does not say what it provides.
#[derive(Debug, thiserror::Error)]
pub enum DescribeError {
    /// The guest ended without an answer.
    #[error("describe ended without an answer: {}", .0.explain())]
    Ended(Outcome),
    /// The call could not be made.
    #[error(transparent)]
    Fault(#[from] CallFault),
    /// Two fresh instances answered differently.
    #[error("describe gave two different answers; it must give the same tools at every call")]
    Unstable,
    /// Too many tools.
    #[error("it describes {0} tools; at most {MAX_TOOLS} are allowed")]
    TooMany(usize),
    /// A tool that is not well described.
    #[error("tool `{tool}`: {problem}")]
    Tool {
        /// The tool's name as described.
        tool: String,
        /// What is wrong with it.
        problem: String,
    },
}
