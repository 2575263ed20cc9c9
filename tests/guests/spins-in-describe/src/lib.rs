//! Runs for ever in `describe`.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        loop {
            std::hint::black_box(());
        }
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }
}

mizzen_sdk::bindings::export!(Plugin with_types_in mizzen_sdk::bindings);
