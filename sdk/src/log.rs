//! Structured log lines. Needs no permission; the host bounds their number and size for each call.

/// How much a line matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// Of interest while debugging.
    Debug,
    /// Of interest to an operator.
    Info,
    /// Something is odd.
    Warn,
    /// Something went wrong.
    Error,
}

/// Writes one line with its fields. Lines past the host's bound are counted and dropped.
pub fn write(level: Level, message: &str, fields: &[(&str, &str)]) {
    #[cfg(target_family = "wasm")]
    {
        use crate::bindings::mizzen::plugin::{log, types::Field};
        let level = match level {
            Level::Debug => log::Level::Debug,
            Level::Info => log::Level::Info,
            Level::Warn => log::Level::Warn,
            Level::Error => log::Level::Error,
        };
        let fields: Vec<Field> = fields
            .iter()
            .map(|(name, value)| Field {
                name: (*name).to_owned(),
                value: (*value).to_owned(),
            })
            .collect();
        log::write(level, message, &fields);
    }
    #[cfg(not(target_family = "wasm"))]
    crate::testing::with(|host| host.log(level, message, fields));
}

/// A line of interest while debugging.
pub fn debug(message: &str) {
    write(Level::Debug, message, &[]);
}

/// A line of interest to an operator.
pub fn info(message: &str) {
    write(Level::Info, message, &[]);
}

/// Something is odd.
pub fn warn(message: &str) {
    write(Level::Warn, message, &[]);
}

/// Something went wrong.
pub fn error(message: &str) {
    write(Level::Error, message, &[]);
}
