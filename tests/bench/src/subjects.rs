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
mod packs;
mod rules;
pub(crate) mod runs;
mod sandbox;
mod soak;
mod steering;

use crate::filled::{Rows, fill};
use crate::harness::Bench;
use crate::python::Python;
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
    sandbox, extism, load, decisions, chain, runs, memory, history, fairness, steering, soak, growth, packs,
    ir, rules
];

/// A runtime for the side that asks.
pub(crate) fn runtime() -> Result<Runtime> {
    Ok(tokio::runtime::Builder::new_multi_thread().enable_all().build()?)
}

/// A folder for a database that the disk does not slow down; on the disk where there is no memory to be had.
pub(crate) fn database_in_memory(bench: &Bench) -> Result<tempfile::TempDir> {
    let memory = std::path::Path::new("/dev/shm");
    let folder = tempfile::Builder::new()
        .prefix("mizzen-bench-")
        .tempdir_in(memory);
    folder.or_else(|_| bench.places.scratch())
}

/// Builds and downloads what the measurements need. The rows that miss something have the reason.
pub(crate) fn prepare(bench: &Bench) -> Result<()> {
    crate::echo::package(bench)?;
    crate::served::mizzen(bench)?;
    let python = |packages| Python::find(bench, packages).map(drop);
    for (what, done) in [
        ("Extism", extism::build(bench)),
        ("CLIPS", python(rules::CLIPS)),
        ("FastAPI", python(chain::FASTAPI)),
    ] {
        if let Err(error) = done {
            eprintln!("{what}: {error:#}");
        }
    }
    let runtime = runtime()?;
    for rows in [Rows::Runs, Rows::Sprites] {
        for count in [1_000, 10_000, 100_000, 1_000_000] {
            runtime.block_on(fill(bench, rows, count))?;
        }
    }
    Ok(())
}
