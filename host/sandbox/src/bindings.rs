//! The generated side of the contract: the one `bindgen!` of the host. Nothing generated leaves this crate.
//!
//! The world `host` names every export of the contract; a plugin has some of them. So the generated world type is not
//! used: each exported interface is looked up on its own, through its `GuestIndices` (see `plugin.rs`).

#![allow(missing_docs, unreachable_pub, clippy::all, clippy::restriction)]

wasmtime::component::bindgen!({
    path: "../../wit/v1",
    world: "host",
    imports: {
        "mizzen:plugin/log": trappable,
        "mizzen:plugin/config": trappable,
        "mizzen:plugin/secrets": trappable,
        "mizzen:plugin/clock": trappable,
        "mizzen:plugin/random": trappable,
        default: async | trappable,
    },
    exports: { default: async },
});
