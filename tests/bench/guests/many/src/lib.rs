//! A plugin with as many tools as a number in its data says. The benchmarks change the number, so one build serves all sizes.

use mizzen_sdk::bindings::exports::mizzen::plugin::tool::{Descriptor, Guest};
use mizzen_sdk::bindings::mizzen::plugin::types::{CallContext, Error, ReplayPolicy, SideEffects};

struct Plugin;

/// Found and changed in the component's bytes; the compiler must not know it.
static TOOLS: &str = "tools-in-this-plugin:0001";

fn tools() -> usize {
    let text = std::hint::black_box(TOOLS);
    text.rsplit(':').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        (0..tools()).map(|number| tool(format!("tool-{number}"))).collect()
    }

    fn invoke(_: String, input: String, _: CallContext) -> Result<String, Error> {
        Ok(input)
    }
}

fn tool(name: String) -> Descriptor {
    Descriptor {
        name,
        namespace: "bench-many".to_owned(),
        version: "0.1.0".to_owned(),
        description: "Gives back what it is given.".to_owned(),
        input_schema: r#"{"type":"object","properties":{"text":{"type":"string"}}}"#.to_owned(),
        output_schema: r#"{"type":"object","properties":{"text":{"type":"string"}}}"#.to_owned(),
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
