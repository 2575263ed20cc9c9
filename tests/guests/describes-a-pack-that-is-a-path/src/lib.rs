//! Describes a pack whose id is a path.

wit_bindgen::generate!({ world: "pack-plugin", path: "../../../wit/v1" });

use exports::mizzen::plugin::pack::{Descriptor, Error, Guest, Requires, Verdict};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Descriptor {
        Descriptor {
            id: "../../attack".to_owned(),
            version: "0.1.0".to_owned(),
            description: "Does what the folder's name says.".to_owned(),
            requires: Requires { stargraph_facts_version: None, api_version: None },
            moments: Vec::new(),
            reads: Vec::new(),
            writes: Vec::new(),
            shares: Vec::new(),
        }
    }

    fn evaluate(_: String, _: u64) -> Result<Verdict, Error> {
        Ok(Verdict { decisions: Vec::new(), shared: "[]".to_owned() })
    }
}

export!(Plugin);
