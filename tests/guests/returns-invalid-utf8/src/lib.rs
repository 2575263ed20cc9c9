//! Answers with text that is not UTF-8.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error, ReplayPolicy, SideEffects};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        vec![tool("attack")]
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        let bytes = vec![b'"', 0xff, 0xfe, 0xc0, 0x80, b'"'];
        // SAFETY: there is none; that is the point.
        Ok(unsafe { String::from_utf8_unchecked(bytes) })
    }
}

fn tool(name: &str) -> Descriptor {
    Descriptor {
        name: name.to_owned(),
        namespace: "hostile.returns-invalid-utf8".to_owned(),
        version: "0.1.0".to_owned(),
        description: "Does what the folder's name says.".to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: "{}".to_owned(),
        side_effects: SideEffects::None,
        replay_policy: ReplayPolicy::RecordedResult,
        permissions: Vec::new(),
        idempotency_key: None,
        cost_estimate: None,
        examples: Vec::new(),
        tags: Vec::new(),
        deprecated: false,
    }
}

mizzen_sdk::bindings::export!(Plugin with_types_in mizzen_sdk::bindings);
