//! How cost grows: each at three sizes a factor ten apart. The number is the exponent between the first and the last size:
//! 0 is flat, 1 is linear, and `n log n` stays below 1.3 at these sizes.

use crate::echo::{TOOL, others, package};
use crate::filled;
use crate::harness::Bench;
use crate::local::{Local, json};
use crate::row::{Row, Target, Unit, Value};
use crate::samples::{Rounds, Samples, alone, timed};
use crate::site::{Site, council, input, request};
use crate::subjects::runs::executed;
use crate::subjects::{load, runtime};
use anyhow::{Context, Result};
use mizzen_isolation::{build, rebuilt};
use mizzen_ops::{Caller, Wait};
use mizzen_store::{RunFilter, RunPlace, SpriteFilter};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// What `n log n` comes to between 10 and 1,000, rounded up for noise.
const N_LOG_N: f64 = 1.3;

type Sizes = [usize; 3];

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    Ok(vec![
        plugins(bench, &runtime)?,
        tools(bench, &runtime)?,
        sprites(bench, &runtime)?,
        councils(bench, &runtime)?,
        steps(bench, &runtime)?,
        history(bench, &runtime)?,
        concurrent(bench, &runtime)?,
    ])
}

/// A row from the times at three sizes.
fn row(what: &str, sizes: Sizes, times: &[f64]) -> Row {
    let shown: Vec<String> = times
        .iter()
        .map(|time| Value::new(Unit::Nanoseconds, *time).shown())
        .collect();
    #[allow(clippy::cast_precision_loss, reason = "at most a hundred thousand")]
    let exponent = match times {
        [first, _, last] => (last / first).ln() / (sizes[2] as f64 / sizes[0] as f64).ln(),
        _ => f64::NAN,
    };
    let [small, middle, large] = sizes;
    let what = format!("growth of {what}, {small}/{middle}/{large}: {}", shown.join(", "));
    Row::new(what, Value::new(Unit::Number, exponent)).target(Target::AtMost(N_LOG_N))
}

fn few(bench: &Bench, each: usize) -> Rounds {
    Rounds {
        rounds: bench.pick(1, 3, 5),
        each: bench.pick(1, each, each * 2),
    }
}

/// A warm load of more and more plugins.
fn plugins(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([1, 2, 3], [10, 100, 1_000], [10, 100, 1_000]);
    let cache = bench.places.kept.join("artifacts");
    let mut times = Vec::new();
    for size in sizes {
        let files = others(bench, size)?;
        load::load(runtime, &files, &cache)?;
        let samples = alone(few(bench, 1), &mut |_| {
            Ok(vec![load::load(runtime, &files, &cache)?.0].into())
        })?;
        times.push(samples.p50());
    }
    Ok(row("a warm load with plugins", sizes, &times))
}

/// A warm load of one plugin with more and more tools.
fn tools(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([1, 2, 3], [1, 10, 100], [1, 10, 100]);
    let built = build(
        &bench.places.root.join("tests/bench/guests/many"),
        &bench.places.guests(),
    )?;
    let built = std::fs::read(built)?;
    let cache = bench.places.kept.join("artifacts");
    let mut times = Vec::new();
    for size in sizes {
        let package = rebuilt(&built, |component, manifest| {
            (with_tools(component, size), manifest)
        })?;
        let file: PathBuf = bench.places.kept.join(format!("many-{size}.wasm"));
        std::fs::write(&file, package)?;
        let files = [file];
        load::load(runtime, &files, &cache)?;
        let samples = alone(few(bench, 5), &mut |count| {
            let mut samples = Samples::default();
            for _ in 0..count {
                samples.push(load::load(runtime, &files, &cache)?.0);
            }
            Ok(samples)
        })?;
        times.push(samples.p50());
    }
    Ok(row("a warm load with tools of a plugin", sizes, &times))
}

/// The number in the component's data, changed.
fn with_tools(mut component: Vec<u8>, count: usize) -> Vec<u8> {
    const BEFORE: &[u8] = b"tools-in-this-plugin:";
    let found = component
        .windows(BEFORE.len())
        .position(|window| window == BEFORE);
    let place = found.map(|at| at + BEFORE.len()..at + BEFORE.len() + 4);
    if let Some(digits) = place.and_then(|place| component.get_mut(place)) {
        digits.copy_from_slice(format!("{count:04}").as_bytes());
    }
    component
}

/// A page of sprites in more and more sprites.
fn sprites(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([10, 20, 40], [1_000, 10_000, 100_000], [1_000, 10_000, 100_000]);
    let mut times = Vec::new();
    for size in sizes {
        let store = runtime.block_on(filled::store(bench, filled::Rows::Sprites, size as u64))?;
        let samples = alone(few(bench, 50), &mut |count| {
            timed(count, || {
                runtime.block_on(store.list_sprites(SpriteFilter::default(), None, 20))?;
                Ok(())
            })
        })?;
        times.push(samples.p50());
        runtime.block_on(store.close());
    }
    Ok(row("a page of sprites with sprites", sizes, &times))
}

/// A run of one step on a host with more and more councils.
fn councils(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([1, 2, 3], [10, 100, 1_000], [10, 100, 1_000]);
    let site = Site::new(bench, &[package(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    let first = runtime.block_on(local.furnish("bench", TOOL, 1))?;
    let document = json(&request(&first, &input())?)?;
    let sprite = first
        .pointer("/sprites/0/id")
        .and_then(|id| id.as_str())
        .context("the council has no sprite")?
        .to_owned();
    let mut times = Vec::new();
    let mut made = 1;
    for size in sizes {
        runtime.block_on(async {
            let mut tasks = tokio::task::JoinSet::new();
            for number in made..size {
                let (host, council) = (
                    local.host.clone(),
                    json(&council(&format!("domain-{number}"), &sprite, 1))?,
                );
                tasks.spawn(async move {
                    host.create_council(&Caller::local("req-bench"), &council, None)
                        .await
                });
            }
            while let Some(made) = tasks.join_next().await {
                made??;
            }
            anyhow::Ok(())
        })?;
        made = size;
        times.push(run_time(bench, runtime, &local, &document)?);
    }
    runtime.block_on(local.close());
    Ok(row("a run with councils on the host", sizes, &times))
}

fn run_time(bench: &Bench, runtime: &Runtime, local: &Local, document: &mizzen_json::Json) -> Result<f64> {
    let samples = alone(few(bench, 20), &mut |count| {
        timed(count, || {
            runtime.block_on(local.execute(document, Wait::ForEnd))?;
            Ok(())
        })
    })?;
    Ok(samples.p50())
}

/// A run of more and more steps.
fn steps(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([1, 2, 3], [1, 10, 100], [1, 10, 100]);
    let site = Site::new(bench, &[package(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    let mut times = Vec::new();
    for size in sizes {
        let council = runtime.block_on(local.furnish(&format!("steps-{size}"), TOOL, size))?;
        let document = json(&request(&council, &input())?)?;
        let samples = alone(few(bench, 100 / size.min(50)), &mut |count| {
            timed(count, || {
                runtime.block_on(local.execute(&document, Wait::ForEnd))?;
                Ok(())
            })
        })?;
        times.push(samples.p50());
    }
    runtime.block_on(local.close());
    Ok(row("a durable run with steps of its chain", sizes, &times))
}

/// The newest page of a chain's history in more and more runs.
fn history(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([10, 20, 40], [1_000, 10_000, 100_000], [1_000, 10_000, 100_000]);
    let mut times = Vec::new();
    for size in sizes {
        let store = runtime.block_on(filled::store(bench, filled::Rows::Runs, size as u64))?;
        let filter = RunFilter {
            chain: Some(filled::chain(3)),
            ..RunFilter::default()
        };
        let samples = alone(few(bench, 50), &mut |count| {
            timed(count, || {
                runtime.block_on(store.list_runs(filter.clone(), RunPlace::Offset(0), 20))?;
                Ok(())
            })
        })?;
        times.push(samples.p50());
        runtime.block_on(store.close());
    }
    Ok(row("a page of history with runs", sizes, &times))
}

/// As many runs as there are, at once: the time per batch.
fn concurrent(bench: &Bench, runtime: &Runtime) -> Result<Row> {
    let sizes = bench.pick([1, 2, 3], [10, 100, 1_000], [10, 100, 1_000]);
    let site = Site::new(bench, &[package(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    let council = runtime.block_on(local.furnish("bench", TOOL, 3))?;
    let document = request(&council, &input())?;
    let mut times = Vec::new();
    for size in sizes {
        let mut samples = Samples::default();
        for round in 0..=bench.pick(1, 5, 10) {
            let began = Instant::now();
            runtime.block_on(executed(&local, &document, size, Duration::from_nanos(1)))?;
            if round > 0 {
                samples.push(began.elapsed());
            }
        }
        times.push(samples.p50());
    }
    runtime.block_on(local.close());
    Ok(row("a batch with runs at once", sizes, &times))
}
