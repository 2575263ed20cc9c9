#![forbid(unsafe_code)]
//! What happens, and in what order.

pub mod condition;
