//! `secrets`: values that the operator gives by name. They never reach a log or a journal.

use super::absent;
use crate::bindings::mizzen::plugin::{secrets, types};
use crate::state::CallState;
use mizzen_json::shorten;
use mizzen_model::permission::Use;

impl secrets::Host for CallState {
    fn get(&mut self, name: String) -> wasmtime::Result<Result<String, types::Error>> {
        if let Err(denied) = self.check(&Use::Secret(&name))? {
            return Ok(Err(denied));
        }
        let Some(secret) = self.services().secrets.get(&name).cloned() else {
            return Ok(Err(absent(&format!(
                "secret {:?}; the operator sets it under [secrets] in mizzen.toml",
                shorten(&name)
            ))));
        };
        self.log.reveal(&name, &secret);
        Ok(Ok(secret.expose().to_owned()))
    }
}
