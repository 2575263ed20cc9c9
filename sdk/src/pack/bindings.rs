//! Generated from `wit/v1`, for packs. A world of its own: a pack imports nothing but the log.

#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::restriction,
    clippy::pedantic
)]

wit_bindgen::generate!({
    world: "pack-plugin",
    path: "../wit/v1",
    pub_export_macro: true,
    export_macro_name: "export_pack_guest",
    default_bindings_module: "mizzen_sdk::pack::bindings",
    with: { "mizzen:plugin/types@1.0.0": crate::bindings::mizzen::plugin::types },
});
