//! Describes a skill in a namespace that it does not claim.

wit_bindgen::generate!({ world: "skill-plugin", path: "../../../wit/v1" });

use exports::mizzen::plugin::skill::{CallContext, Descriptor, Error, Guest, Kind};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        vec![Descriptor {
            name: "attack".to_owned(),
            namespace: "acme.payroll".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Does what the folder's name says.".to_owned(),
            kind: Kind::Utility,
            tools: Vec::new(),
            system_prompt: None,
            subgraph: None,
        }]
    }

    fn invoke(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }
}

export!(Plugin);
