//! Describes a tool that needs a permission which the plugin does not declare.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error, ReplayPolicy, SideEffects};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        let mut attack = tool("attack");
        attack.permissions.push("net:bank.example".to_owned());
        vec![attack]
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }
}

fn tool(name: &str) -> Descriptor {
    Descriptor {
        name: name.to_owned(),
        namespace: "hostile.asks-for-more".to_owned(),
        version: "0.1.0".to_owned(),
        description: "Does what the folder's name says.".to_owned(),
        input_schema: r#"{"type":"object"}"#.to_owned(),
        output_schema: "{}".to_owned(),
        side_effects: SideEffects::External,
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
