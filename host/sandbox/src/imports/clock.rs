//! `clock`: the time, for plugins that may know it.

use crate::bindings::mizzen::plugin::clock;
use crate::state::CallState;
use mizzen_model::permission::Use;
use std::time::SystemTime;

impl clock::Host for CallState {
    fn now_ms(&mut self) -> wasmtime::Result<u64> {
        // A tool of the plugin that did not ask for the clock gets the one that stands still.
        if self.ask(&Use::Clock)?.is_err() {
            return Ok(0);
        }
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
