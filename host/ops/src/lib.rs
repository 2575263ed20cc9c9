//! Everything a caller can ask the host to do.

#![forbid(unsafe_code)]

pub mod outgoing;
pub mod toolbox;
