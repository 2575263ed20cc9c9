//! Documents, and when they are valid.
#![forbid(unsafe_code)]

pub mod fingerprint;
pub mod ir;
pub mod json;
pub mod yaml;
