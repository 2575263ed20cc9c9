//! A sandboxed call beside the bare engine: the same component, the same settings, a fresh instance each.

use crate::echo::{Echo, document, others, package};
use crate::harness::Bench;
use crate::raw::Raw;
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, Samples, in_turns, versus};
use crate::subjects::runtime;
use anyhow::Result;
use std::sync::Arc;
use std::time::Instant;
use tokio::runtime::Runtime;

const RAW: &str = "raw wasmtime";

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let echo = runtime.block_on(Echo::load(bench, Vec::new()))?;
    let raw = Arc::new(Raw::of_package(&package(bench)?)?);
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 20),
        each: bench.pick(3, 400, 2_000),
    };
    let large = Rounds {
        each: bench.pick(1, 10, 50),
        ..rounds
    };
    let row = |what: String, bytes: usize, threads: usize, rounds: Rounds| -> Result<Row> {
        let (ours, theirs) = sides(&runtime, &echo, &raw, rounds, &document(bytes), threads)?;
        Ok(Row::new(what, Value::time(&ours)).beside(RAW, Value::time(&theirs)))
    };
    let fresh = |name: &str| format!("fresh call, JSON echo, {name}");
    let mut rows = vec![
        row(fresh("100 B"), 100, 1, rounds)?.target(Target::RatioAtMost(1.25)),
        row(fresh("10 kB"), 10_000, 1, rounds)?,
        row("the same on two threads, 100 B".to_owned(), 100, 2, rounds)?,
        governed(&runtime, &echo, &raw, rounds)?,
        row(fresh("1 MB"), 1_000_000, 1, large)?.target(Target::RatioAtMost(1.1)),
        // A slot of the pool keeps up to a megabyte that a large call has touched, and clears it after every later call: that is
        // cheaper than faults where large calls are usual, and a price where they are rare.
        row(fresh("100 B, in a slot that served 1 MB"), 100, 1, rounds)?,
    ];
    rows.extend(beside_others(bench, &runtime, rounds)?);
    rows.push(size(bench)?);
    Ok(rows)
}

fn sides(
    runtime: &Runtime,
    echo: &Echo,
    raw: &Arc<Raw>,
    rounds: Rounds,
    input: &str,
    threads: usize,
) -> Result<(Samples, Samples)> {
    let input: Arc<str> = input.into();
    versus(
        rounds,
        &mut |count| {
            let work = (0..threads).map(|_| runtime.spawn(echo.clone().invoke(count, Arc::clone(&input))));
            joined(runtime, work.collect())
        },
        &mut |count| {
            let work =
                (0..threads).map(|_| runtime.spawn(raw_calls(Arc::clone(raw), count, Arc::clone(&input))));
            joined(runtime, work.collect())
        },
    )
}

fn joined(runtime: &Runtime, work: Vec<tokio::task::JoinHandle<Result<Samples>>>) -> Result<Samples> {
    let mut all = Samples::default();
    for task in work {
        all.extend(runtime.block_on(task)??);
    }
    Ok(all)
}

async fn raw_calls(raw: Arc<Raw>, count: usize, input: Arc<str>) -> Result<Samples> {
    let mut samples = Samples::default();
    let (tool, input) = ("echo".to_owned(), input.to_string());
    for _ in 0..count {
        let began = Instant::now();
        let output = raw.call(&tool, &input).await?;
        samples.push(began.elapsed());
        anyhow::ensure!(output.len() == input.len(), "the echo changed its document");
    }
    Ok(samples)
}

/// The whole way of a tool call, as a step takes it, beside the bare engine.
fn governed(runtime: &Runtime, echo: &Echo, raw: &Arc<Raw>, rounds: Rounds) -> Result<Row> {
    let text = document(100);
    let input: serde_json::Value = serde_json::from_str(&text)?;
    let text: Arc<str> = text.into();
    let (ours, theirs) = versus(
        rounds,
        &mut |count| runtime.block_on(echo.clone().call(count, input.clone())),
        &mut |count| runtime.block_on(runtime.spawn(raw_calls(Arc::clone(raw), count, Arc::clone(&text))))?,
    )?;
    let what = "governed call: schemas, permit, profile, sandbox, 100 B";
    Ok(Row::new(what, Value::time(&ours)).beside(RAW, Value::time(&theirs)))
}

/// The same call in sets of different sizes, in turns.
fn beside_others(bench: &Bench, runtime: &Runtime, rounds: Rounds) -> Result<Vec<Row>> {
    let sizes = bench.pick([1, 2, 3], [1, 100, 1_000], [1, 100, 1_000]);
    let input: serde_json::Value = serde_json::from_str(&document(100))?;
    let mut sets = Vec::new();
    for size in sizes {
        let others = others(bench, size - 1)?;
        sets.push(runtime.block_on(Echo::load(bench, others))?);
    }
    let mut sides: Vec<_> = sets
        .iter()
        .map(|echo| |count: usize| runtime.block_on(echo.clone().call(count, input.clone())))
        .collect();
    let mut batches: Vec<&mut crate::samples::Batch<'_>> = Vec::new();
    for side in &mut sides {
        batches.push(side);
    }
    let samples = in_turns(rounds, &mut batches)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut alone = None;
    for (size, samples) in sizes.into_iter().zip(&samples) {
        let value = Value::time(samples);
        let row = Row::new(format!("governed call with {size} plugins loaded"), value);
        rows.push(match alone {
            None => row,
            Some(alone) => row
                .beside("with 1 plugin", alone)
                .target(Target::RatioAtMost(1.15)),
        });
        alone = alone.or(Some(value));
    }
    Ok(rows)
}

/// What the smallest tool weighs.
fn size(bench: &Bench) -> Result<Row> {
    let bytes = std::fs::metadata(package(bench)?)?.len();
    Ok(Row::new(
        "size of a minimal tool's signed package",
        Value::bytes(bytes),
    ))
}
