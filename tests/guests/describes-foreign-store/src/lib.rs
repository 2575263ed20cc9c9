//! Describes a store in a namespace that it does not claim.

wit_bindgen::generate!({ world: "store-plugin", path: "../../../wit/v1" });

use exports::mizzen::plugin::store::{CallContext, Descriptor, Error, Guest, Protocol};

struct Plugin;

impl Guest for Plugin {
    fn describe() -> Vec<Descriptor> {
        vec![Descriptor {
            name: "attack".to_owned(),
            namespace: "acme.payroll".to_owned(),
            protocol: Protocol::Doc,
            config_schema: "{}".to_owned(),
        }]
    }

    fn read(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }

    fn write(_: String, _: String, _: CallContext) -> Result<String, Error> {
        Ok("{}".to_owned())
    }
}

export!(Plugin);
