//! Loading plugins: compiled for the first time, and from the cache of compiled artifacts; and the start of the whole server.

use crate::echo::{others, package};
use crate::harness::Bench;
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, Samples, alone};
use crate::served::{NO_BINARY, mizzen};
use crate::site::Site;
use crate::subjects::runtime;
use anyhow::{Result, ensure};
use mizzen_catalog::Sources;
use mizzen_catalog::load::load_set;
use mizzen_isolation::terms;
use mizzen_ops::toolbox::{Outfit, Toolbox};
use mizzen_sandbox::{Compiled, Sandbox, Settings};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// A start that is not perceived as a wait.
const START_MS: f64 = 1_000.0;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let mut rows = vec![cold(bench, &runtime)?];
    let cache = bench.places.scratch()?;
    let sizes = bench.pick([1, 2, 4], [1, 10, 100], [1, 10, 100]);
    for size in sizes {
        let files = others(bench, size)?;
        // The first load fills the cache.
        load(&runtime, &files, cache.path())?;
        let rounds = Rounds {
            rounds: bench.pick(1, 5, 10),
            each: bench.pick(1, 100 / size.min(100), 100 / size.min(100)),
        };
        let samples = alone(rounds, &mut |count| {
            let mut samples = Samples::default();
            for _ in 0..count {
                let (took, compiled) = load(&runtime, &files, cache.path())?;
                ensure!(compiled == 0, "{compiled} plugins were compiled again");
                samples.push(took);
            }
            Ok(samples)
        })?;
        #[allow(clippy::cast_precision_loss, reason = "a few hundred")]
        let each = samples.p50() / size as f64;
        rows.push(Row::new(
            format!("warm load of {size} signed plugins"),
            Value::time(&samples),
        ));
        let each = Value::new(crate::row::Unit::Nanoseconds, each);
        rows.push(Row::new(format!("warm load, each of {size}"), each).target(Target::AtMost(3e6)));
    }
    rows.extend(startup(bench)?);
    Ok(rows)
}

/// Compiles one plugin with an empty cache.
fn cold(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let files = [package(bench)?];
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 30),
        each: 1,
    };
    let samples = alone(rounds, &mut |_| {
        let empty = bench.places.scratch()?;
        let (took, compiled) = load(runtime, &files, empty.path())?;
        ensure!(compiled == 1, "nothing was compiled");
        Ok(vec![took].into())
    })?;
    Ok(Row::new(
        "cold load of 1 plugin: verified, compiled, described",
        Value::time(&samples),
    ))
}

/// Loads a set into a new process's sandbox: how long it took, and how many were compiled for it.
pub(super) fn load(runtime: &Runtime, files: &[PathBuf], cache: &Path) -> Result<(Duration, usize)> {
    let settings = Settings {
        slots: 8,
        cache: Some(cache.to_owned()),
        ..Settings::default()
    };
    let toolbox = Toolbox::new(Arc::new(Sandbox::start(settings)?), Outfit::default());
    let sources = Sources {
        files: files.to_vec(),
        ..Sources::default()
    };
    let terms = terms();
    let began = Instant::now();
    let plan = load_set(&sources, &terms)?;
    let loaded = runtime.block_on(toolbox.load(&plan))?;
    let took = began.elapsed();
    ensure!(
        loaded.plugins().count() == files.len(),
        "not every plugin was loaded"
    );
    let compiled = loaded
        .plugins()
        .filter(|plugin| plugin.compiled() == Compiled::Now)
        .count();
    Ok((took, compiled))
}

/// From the start of the process to its first line.
fn startup(bench: &Bench) -> Result<Vec<Row>> {
    let Some(binary) = mizzen(bench)? else {
        return Ok(vec![Row::skipped("start of `mizzen serve`", NO_BINARY)]);
    };
    let mut rows = Vec::new();
    for size in bench.pick([0, 1], [0, 100], [0, 100]) {
        let site = Site::new(bench, &others(bench, size)?)?;
        let rounds = Rounds {
            rounds: bench.pick(1, 8, 20),
            each: 1,
        };
        // The warm-up fills the cache in the data folder.
        let samples = alone(rounds, &mut |_| Ok(vec![site.serve(&binary)?.startup].into()))?;
        let row = Row::new(
            format!("start of `mizzen serve` with {size} plugins, warm"),
            Value::time(&samples),
        );
        rows.push(row.target(Target::AtMost(START_MS * 1e6)));
    }
    Ok(rows)
}
