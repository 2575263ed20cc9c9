//! Documents, and when they are valid.
//!
//! Pure: no IO, clock, randomness or async. A value of a type of this crate has been checked; there is no other way to
//! make one. To add a document: a module named after it, a `parse` that reports every problem, and its tests.

#![forbid(unsafe_code)]

pub mod fingerprint;
mod glob;
pub mod ir;
pub mod json;
pub mod limits;
pub mod manifest;
pub mod namespace;
pub mod permission;
pub mod strict_toml;
pub mod tool_spec;
pub mod yaml;
