//! Documents, and when they are valid.
#![forbid(unsafe_code)]

pub mod chain;
pub mod council;
pub mod document;
pub mod duration;
pub mod fingerprint;
pub mod gate;
pub mod id;
pub mod ir;
pub mod json;
pub mod problem;
pub mod record;
pub mod rule;
pub mod sprite;
pub mod timestamp;
pub mod yaml;
