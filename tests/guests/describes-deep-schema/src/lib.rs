//! Describes a tool whose schema nests 20,000 deep.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error, ReplayPolicy, SideEffects};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        let mut attack = tool("attack");
        attack.input_schema = "{\"not\":".repeat(20_000) + "true" + &"}".repeat(20_000);
        vec![attack]
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }
}

fn tool(name: &str) -> Descriptor {
    Descriptor {
        name: name.to_owned(),
        namespace: "hostile.describes-deep-schema".to_owned(),
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
