//! Everything of the model that reads text, under libFuzzer.
#![no_main]

#[path = "../target.rs"]
mod target;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| target::target(bytes));
