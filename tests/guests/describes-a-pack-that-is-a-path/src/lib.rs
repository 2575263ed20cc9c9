//! Describes a pack whose id is a path.

wit_bindgen::generate!({ world: "pack-plugin", path: "../../../wit/v1" });

use exports::mizzen::plugin::pack::{Decision, Descriptor, Error, Guest, Requires};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Descriptor {
        Descriptor {
            id: "../../attack".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Does what the folder's name says.".to_owned(),
            requires: Requires { stargraph_facts_version: None, api_version: None },
            reads: Vec::new(),
            writes: Vec::new(),
        }
    }

    fn evaluate(_: String, _: u64) -> Result<Vec<Decision>, Error> {
        Ok(Vec::new())
    }
}

export!(Plugin);
