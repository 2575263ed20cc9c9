//! `clock`: the time, for plugins that may read it.

use crate::bindings::mizzen::plugin::clock;
use crate::state::CallState;
use mizzen_model::permission::Use;
use std::time::SystemTime;

impl clock::Host for CallState {
    fn now_ms(&mut self) -> wasmtime::Result<u64> {
        // A tool of the plugin without the permission gets the deterministic clock.
        if self.check(&Use::Clock)?.is_err() {
            return Ok(0);
        }
        let since = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        Ok(u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
    }
}
