//! Answers with 100 MB of JSON that is valid otherwise.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error, ReplayPolicy, SideEffects};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        vec![tool("attack")]
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        // Exactly as much memory as the answer has: a growing buffer would need twice as much, and end otherwise.
        let mut text = vec![b'x'; 100 * 1024 * 1024];
        text[0] = b'"';
        text[100 * 1024 * 1024 - 1] = b'"';
        Ok(String::from_utf8(text).unwrap_or_default())
    }
}

fn tool(name: &str) -> Descriptor {
    Descriptor {
        name: name.to_owned(),
        namespace: "hostile.returns-100-mb".to_owned(),
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
