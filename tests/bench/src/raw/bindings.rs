//! The generated side of the contract, for the raw calls.

#![allow(missing_docs, unreachable_pub, dead_code, clippy::all, clippy::restriction)]

wasmtime::component::bindgen!({
    path: "../../wit/v1",
    world: "tool-plugin",
    exports: { default: async },
});
