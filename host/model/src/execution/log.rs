//! What a guest wrote while it was called, as far as it is kept with the call.

use crate::record::choice;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

choice! {
    /// How much a line of a guest's log matters.
    pub enum LogLevel {
        /// Of interest while debugging.
        Debug = "debug",
        /// Of interest to an operator; also standard output.
        Info = "info",
        /// Something is odd; also standard error.
        Warn = "warn",
        /// Something went wrong.
        Error = "error",
    }
}

serde_as_text! { LogLevel => LogLevel::parse }

/// One line of a guest's log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogEntry {
    /// How much it matters.
    pub level: LogLevel,
    /// The text.
    pub message: String,
    /// Structured fields.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub fields: BTreeMap<String, String>,
}

/// Lines that are kept with a call: the last ones.
pub const LOG_LINES: usize = 64;
/// Bytes of them.
pub const LOG_BYTES: usize = 16 << 10;

/// The log of one call, bounded.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CallLog {
    /// The last lines.
    pub lines: Vec<LogEntry>,
    /// How many lines there were before them.
    pub dropped: u64,
}

impl CallLog {
    /// Of all lines the last ones; `dropped` lines were lost before.
    pub fn last_of(mut lines: Vec<LogEntry>, dropped: u64) -> Self {
        let size = |line: &LogEntry| {
            let fields = line.fields.iter().map(|(name, value)| name.len() + value.len());
            line.message.len().saturating_add(fields.sum())
        };
        let mut left = LOG_BYTES;
        let kept = lines
            .iter()
            .rev()
            .take(LOG_LINES)
            .take_while(|line| match left.checked_sub(size(line)) {
                Some(rest) => {
                    left = rest;
                    true
                }
                None => false,
            })
            .count();
        let before = lines.len().saturating_sub(kept);
        lines.drain(..before);
        Self {
            lines,
            dropped: dropped.saturating_add(u64::try_from(before).unwrap_or(u64::MAX)),
        }
    }

    /// Whether there is nothing to keep.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.dropped == 0
    }
}

pub(super) fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(message: String) -> LogEntry {
        LogEntry {
            level: LogLevel::Info,
            message,
            fields: BTreeMap::new(),
        }
    }

    #[test]
    fn the_last_lines_are_kept_and_the_others_counted() {
        let many = CallLog::last_of((0..100).map(|n| line(n.to_string())).collect(), 3);
        assert_eq!((many.lines.len(), many.dropped), (LOG_LINES, 39));
        assert_eq!(many.lines.last().map(|line| line.message.as_str()), Some("99"));
        let large = CallLog::last_of(
            vec![line("x".repeat(LOG_BYTES)), line("y".repeat(LOG_BYTES - 1))],
            0,
        );
        assert_eq!((large.lines.len(), large.dropped), (1, 1));
        let too_large = CallLog::last_of(vec![line("x".repeat(LOG_BYTES + 1))], 0);
        assert_eq!((too_large.lines.len(), too_large.dropped), (0, 1));
        assert!(CallLog::last_of(Vec::new(), 0).is_empty());
    }
}
