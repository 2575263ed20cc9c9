//! Documents, and when they are valid.
//!
//! Pure: no IO, clock, randomness or async. A value of a type of this crate has been checked; there is no other way to
//! make one. To add a document: a module named after it, a `parse` that reports every problem, and its tests. Documents
//! that clients send as JSON state their fields once, in a table ([`record`]), which is also their JSON Schema.

#![forbid(unsafe_code)]

pub mod chain;
pub mod council;
pub mod document;
pub mod duration;
pub mod execution;
pub mod facts;
pub mod fingerprint;
pub mod gate;
mod glob;
pub mod governance;
pub mod hex;
pub mod id;
pub mod ir;
pub mod journal;
pub mod limits;
pub mod manifest;
pub mod namespace;
pub mod pack;
pub mod permission;
pub mod problem;
pub mod record;
pub mod rule;
pub mod sprite;
pub mod timestamp;
pub mod tool_spec;
