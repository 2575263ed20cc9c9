//! Calls that tools make, in an execution (D23).

use super::ExecutionError;
use super::log::{LogEntry, is_zero};
use crate::record::choice;
use crate::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

choice! {
    /// Where a call that a tool makes stands.
    pub enum NestedStatus {
        /// Packs look at it, or it is being made.
        Running = "running",
        /// It has an answer, and its caller was given it.
        Completed = "completed",
        /// It has none.
        Failed = "failed",
        /// It was not made, or its answer was withheld: a pack is against it, or a limit.
        Denied = "denied",
    }
}

serde_as_text! { NestedStatus => NestedStatus::parse }

/// A call that a tool makes inside of a step's call, or of the gate agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NestedExecution {
    /// Its place: `2` is the second call of the step's tool, `2.1` the first one that the tool called by it makes.
    pub path: String,
    /// The attempt of the step that it was made in, from 1.
    pub attempt: u32,
    /// The tool that makes it.
    pub caller: String,
    /// The tool that is called.
    pub tool: String,
    /// Its version.
    pub version: String,
    /// Where it stands.
    pub status: NestedStatus,
    /// Why it failed or was denied.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub error: Option<ExecutionError>,
    /// When it was asked for.
    pub started_at: Timestamp,
    /// How long it took, packs included.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub duration_ms: Option<u64>,
    /// The last lines that the guest wrote, at most 64 lines and 16 KiB. Absent when packs vetoed or redacted what it answered.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub log: Vec<LogEntry>,
    /// How many lines there were before them.
    #[serde(skip_serializing_if = "is_zero", default)]
    pub log_dropped: u64,
}
