//! What guests write, on the host's own log and with the call.

use super::resolve::Pin;
use mizzen_engine::{CallReport, LogLevel as GuestLevel, LogLine};
use mizzen_json::steers_a_terminal;
use mizzen_model::execution::{CallLog, LogEntry, LogLevel};

/// Writes every line on the host's log, at its own level: `target` is `mizzen::plugin`.
pub(super) fn tell(pin: &Pin, execution_id: &str, step: Option<u32>, report: &CallReport) {
    for line in &report.log {
        let (plugin, tool, message) = (pin.plugin.as_str(), pin.tool.as_str(), text(line));
        macro_rules! say {
            ($level:ident) => {
                tracing::$level!(target: "mizzen::plugin", plugin, tool, execution_id, step, "{message}")
            };
        }
        match line.level {
            GuestLevel::Debug => say!(debug),
            GuestLevel::Info => say!(info),
            GuestLevel::Warn => say!(warn),
            GuestLevel::Error => say!(error),
        }
    }
    if report.log_dropped > 0 {
        let (plugin, tool, dropped) = (pin.plugin.as_str(), pin.tool.as_str(), report.log_dropped);
        tracing::debug!(target: "mizzen::plugin", plugin, tool, execution_id, step, dropped, "more was written than the plugin's limit for its log");
    }
}

/// The message with its fields, without what a terminal would obey.
fn text(line: &LogLine) -> String {
    let fields = line.fields.iter().map(|(name, value)| format!(" {name}={value}"));
    let text: String = std::iter::once(line.message.clone()).chain(fields).collect();
    text.chars()
        .map(|c| if steers_a_terminal(c) { '\u{fffd}' } else { c })
        .collect()
}

/// What is kept with the call: the last lines.
pub(super) fn kept(report: &CallReport) -> CallLog {
    let entry = |line: &LogLine| LogEntry {
        level: match line.level {
            GuestLevel::Debug => LogLevel::Debug,
            GuestLevel::Info => LogLevel::Info,
            GuestLevel::Warn => LogLevel::Warn,
            GuestLevel::Error => LogLevel::Error,
        },
        message: line.message.clone(),
        fields: line.fields.iter().cloned().collect(),
    };
    CallLog::last_of(report.log.iter().map(entry).collect(), report.log_dropped)
}
