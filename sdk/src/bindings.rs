//! Generated from `wit/v1`. The only place with generated types; `export.rs` and the host interfaces translate.

#![allow(
    unsafe_code,
    missing_docs,
    unreachable_pub,
    clippy::all,
    clippy::restriction,
    clippy::pedantic
)]

wit_bindgen::generate!({
    world: "tool-plugin",
    path: "../wit/v1",
    pub_export_macro: true,
    default_bindings_module: "mizzen_sdk::bindings",
});
