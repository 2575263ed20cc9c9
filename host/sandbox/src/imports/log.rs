//! `log`: needs no permission, and is bounded by the call's log limit.

use crate::bindings::mizzen::plugin::{log, types};
use crate::state::CallState;
use mizzen_engine::{LogLevel, LogLine};

/// More fields than this are dropped.
const MAX_FIELDS: usize = 64;

impl log::Host for CallState {
    fn write(
        &mut self,
        level: log::Level,
        message: String,
        fields: Vec<types::Field>,
    ) -> wasmtime::Result<()> {
        self.count_host_call()?;
        let level = match level {
            log::Level::Debug => LogLevel::Debug,
            log::Level::Info => LogLevel::Info,
            log::Level::Warn => LogLevel::Warn,
            log::Level::Error => LogLevel::Error,
        };
        let fields = fields
            .into_iter()
            .take(MAX_FIELDS)
            .map(|f| (self.log.clean(f.name), self.log.clean(f.value)))
            .collect();
        let message = self.log.clean(message);
        self.log.write(LogLine {
            level,
            message,
            fields,
        });
        Ok(())
    }
}
