//! `config`: the operator's settings for this plugin.

use crate::bindings::mizzen::plugin::config;
use crate::state::CallState;
use mizzen_model::permission::Use;

impl config::Host for CallState {
    fn get(&mut self) -> wasmtime::Result<String> {
        // The interface has no error: a tool without the permission `config` gets empty settings.
        let allowed = self.check(&Use::Config)?.is_ok();
        Ok(self
            .services()
            .config
            .clone()
            .filter(|_| allowed)
            .unwrap_or_else(|| "{}".into()))
    }
}
