//! What is measured, in the order of the table. To add a subject: a file here, and a line in [`SUBJECTS`].

mod chain;
mod decisions;
mod extism;
mod fairness;
mod growth;
mod history;
mod ir;
mod load;
pub(crate) mod memory;
mod rules;
pub(crate) mod runs;
mod sandbox;

use crate::harness::Bench;
use crate::row::Row;
use anyhow::Result;
use tokio::runtime::Runtime;

/// A part of the table.
pub(crate) struct Subject {
    pub(crate) name: &'static str,
    pub(crate) measure: fn(&Bench) -> Result<Vec<Row>>,
}

macro_rules! subjects {
    ($($name:ident),+ $(,)?) => {
        /// Every subject.
        pub(crate) const SUBJECTS: &[Subject] = &[$(Subject { name: stringify!($name), measure: $name::measure }),+];
    };
}

subjects![
    sandbox, extism, load, decisions, chain, runs, memory, history, fairness, growth, ir, rules
];

/// A runtime for the side that asks.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// Builds and downloads what the measurements need. What cannot be had is said by the rows that miss it.
pub(crate) fn prepare(bench: &Bench) -> Result<()> {
    crate::echo::package(bench)?;
    crate::served::mizzen(bench)?;
    for (what, done) in [("Extism", extism::build(bench))] {
        if let Err(error) = done {
            eprintln!("{what}: {error:#}");
        }
    }
    Ok(())
}
