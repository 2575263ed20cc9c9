//! `random`: randomness from the operating system, for plugins that may have it.

use crate::bindings::mizzen::plugin::random;
use crate::state::CallState;
use mizzen_model::permission::Use;

const MAX_BYTES: u32 = 65_536;

impl random::Host for CallState {
    fn bytes(&mut self, count: u32) -> wasmtime::Result<Vec<u8>> {
        if let Err(denied) = self.check(&Use::Random)? {
            // The interface has no error, and predictable bytes would be worse than none.
            wasmtime::bail!("{denied:?}");
        }
        if count > MAX_BYTES {
            wasmtime::bail!("random.bytes({count}): at most {MAX_BYTES} at a time");
        }
        let mut bytes = vec![0; count as usize];
        getrandom::fill(&mut bytes).map_err(|e| wasmtime::format_err!("no randomness: {e}"))?;
        Ok(bytes)
    }
}
