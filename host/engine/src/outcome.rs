//! How one call into a plugin ended. The sandbox makes these; everybody else reads them.

use mizzen_model::limits::ByteSize;
use std::time::Duration;

/// How a call ended. Each kind asks something different of the caller, so none is a plain string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The plugin answered with this JSON text.
    Output(String),
    /// The plugin answered with an error of its own.
    ToolError(ToolError),
    /// The guest broke off: a panic, an unreachable instruction, a stack overflow.
    Trap(Trap),
    /// The guest was stopped because its time was up.
    Deadline(Deadline),
    /// The guest asked for more memory than its limit and did not survive the refusal.
    OutOfMemory {
        /// The limit in bytes.
        limit: u64,
    },
    /// The answer is larger than the limit; it was not read.
    OutputTooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The answer is not what the contract says: not UTF-8, not JSON, nested too deep.
    BadOutput {
        /// What is wrong with it.
        reason: String,
    },
    /// The guest made more calls into the host than its limit allows.
    HostCallsExhausted {
        /// The limit in calls.
        limit: u64,
    },
}

/// An error that a plugin reports itself, with the contract's variants.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The caller's input does not fit.
    #[error("invalid input at {:?}: {message}", path)]
    InvalidInput {
        /// An RFC 6901 pointer into the input.
        path: String,
        /// What is wrong and what was expected.
        message: String,
    },
    /// A permission, a profile or a rule forbids it.
    #[error("denied: {0}")]
    Denied(String),
    /// Something that is needed cannot be reached now.
    #[error("unavailable: {0}")]
    Unavailable(String),
    /// The work was tried and failed.
    #[error("{code}: {message}")]
    Failed {
        /// A stable code.
        code: String,
        /// What happened.
        message: String,
    },
}

/// Why and where a guest broke off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trap {
    /// What kind of trap it was, in wasmtime's words, such as `wasm trap: call stack exhausted`.
    pub kind: String,
    /// The guest's panic message with its place in the source, when it printed one.
    pub message: Option<String>,
    /// The guest's functions, innermost first, when the component carries their names.
    pub frames: Vec<String>,
}

/// Which time was up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deadline {
    /// Time on the wall, waiting in host calls included.
    WallClock(Duration),
    /// Time on a core.
    Cpu(Duration),
}

impl Outcome {
    /// A stable name for metrics, journals and `--json`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Output(_) => "output",
            Self::ToolError(_) => "tool-error",
            Self::Trap(_) => "trap",
            Self::Deadline(_) => "deadline",
            Self::OutOfMemory { .. } => "out-of-memory",
            Self::OutputTooLarge { .. } => "output-too-large",
            Self::BadOutput { .. } => "bad-output",
            Self::HostCallsExhausted { .. } => "host-calls-exhausted",
        }
    }

    /// What happened, for a person, and what can be done about it.
    pub fn explain(&self) -> String {
        match self {
            Self::Output(_) => "the tool answered".into(),
            Self::ToolError(error) => error.to_string(),
            Self::Trap(trap) => match &trap.message {
                Some(message) => format!("the plugin trapped: {message} ({})", trap.kind),
                None => format!("the plugin trapped: {}", trap.kind),
            },
            Self::Deadline(Deadline::WallClock(limit)) => {
                format!(
                    "the plugin was stopped after its wall-clock limit of {limit:?}; raise limits.wall_clock in plugin.toml if it needs longer"
                )
            }
            Self::Deadline(Deadline::Cpu(limit)) => {
                format!(
                    "the plugin was stopped after its CPU limit of {limit:?}; raise limits.cpu in plugin.toml if it needs longer"
                )
            }
            Self::OutOfMemory { limit } => {
                format!(
                    "the plugin needs more memory than its limit of {}; raise limits.memory in plugin.toml",
                    ByteSize::bytes(*limit)
                )
            }
            Self::OutputTooLarge { limit } => {
                format!(
                    "the plugin's answer is larger than its limit of {}; raise limits.output in plugin.toml",
                    ByteSize::bytes(*limit)
                )
            }
            Self::BadOutput { reason } => format!("the plugin's answer cannot be used: {reason}"),
            Self::HostCallsExhausted { limit } => {
                format!(
                    "the plugin made more than its limit of {limit} host calls; raise limits.host_calls in plugin.toml"
                )
            }
        }
    }
}

/// What a call used. Measured by the sandbox, not told by the guest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// From the start of the call to its end.
    pub duration: Duration,
    /// Time on a core: the guest's own, and the host's on its behalf.
    pub cpu: Duration,
    /// The most linear memory the guest had, in bytes.
    pub peak_memory: u64,
    /// Calls that the guest made into the host.
    pub host_calls: u64,
}

/// A line that a guest wrote, through `log` or to its standard output or error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// How much it matters.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// Structured fields.
    pub fields: Vec<(String, String)>,
}

/// How much a log line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Of interest while debugging.
    Debug,
    /// Of interest to an operator; also standard output.
    Info,
    /// Something is odd; also standard error.
    Warn,
    /// Something went wrong.
    Error,
}

/// Everything that is known of a call that ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallReport {
    /// How it ended.
    pub outcome: Outcome,
    /// What it used.
    pub usage: Usage,
    /// What the guest wrote, within its bound.
    pub log: Vec<LogLine>,
    /// Lines that did not fit the bound.
    pub log_dropped: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named_as_a_manifest_writes_them() {
        let memory = Outcome::OutOfMemory { limit: 16 << 20 }.explain();
        assert!(memory.contains("limit of 16MiB"), "{memory}");
        let output = Outcome::OutputTooLarge { limit: 1 << 10 }.explain();
        assert!(output.contains("limit of 1KiB"), "{output}");
    }
}
