//! All misdeeds at once beside honest clients, for a while: seconds, or ten minutes with `--long`.

use crate::echo::{TOOL, package};
use crate::harness::Bench;
use crate::local::{Local, json};
use crate::misdeeds::{Misbehaving, Misdeed, grants, packages};
use crate::process::resident;
use crate::row::{Row, Target, Value};
use crate::samples::Samples;
use crate::site::{Site, input, request};
use crate::subjects::{database_in_memory, runtime};
use anyhow::{Result, bail, ensure};
use mizzen_json::Json;
use mizzen_model::execution::ExecutionStatus;
use mizzen_ops::{Executed, Wait};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

/// Fewer than there are slots for calls: honest ones find a free one. `hoards-and-waits` is not here: it waits for an answer from outside
/// of this machine.
const MISDEEDS: &[Misdeed] = &[
    ("spins", 2),
    ("spins-in-numbers", 4),
    ("fills-memory", 1),
    ("copies-memory", 1),
    ("bombs-memory", 1),
    ("bombs-memory-at-once", 1),
    ("sleeps", 2),
    ("prints-without-end", 1),
    ("recurses", 1),
    ("returns-100-mb", 1),
    ("returns-deep-json", 1),
    ("pack-spins", 2),
    ("pack-sleeps", 2),
    ("pack-bombs-memory", 1),
    ("burdens-the-host", 1),
    ("floods-the-log", 1),
    ("floods-the-host", 1),
    ("fills-its-table", 1),
    ("fills-its-quota", 1),
    ("nests-too-deep", 1),
];
const CLIENTS: usize = 64;
/// Between two requests of a client.
const PAUSE: Duration = Duration::from_millis(20);
/// Beside the same clients on a quiet host.
const FAIR: f64 = 3.0;
/// What the memory at the end may be beside that at a quarter of the time.
const FLAT: f64 = 1.05;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let names = || MISDEEDS.iter().map(|(name, _)| *name);
    let mut plugins = packages(bench, names())?;
    plugins.push(package(bench)?);
    let site = Site::granting(bench, &plugins, &grants(bench, names())?)?;
    let data = database_in_memory(bench)?;
    let local = runtime.block_on(Local::open(bench, &site, data.path()))?;
    let council = runtime.block_on(local.furnish("soak", TOOL, 1))?;
    let document = json(&request(&council, &input())?)?;
    let time = Duration::from_secs_f64(bench.pick(0.3, 20.0, 600.0));
    let clients = |time: Duration| runtime.block_on(honest(&local, &document, time));
    // The first seconds warm up.
    clients(time.min(Duration::from_secs(2)))?;
    let quiet = clients(time.min(Duration::from_secs(10)))?;
    // Memory is weighed when those who misbehave have ended: what they may hold while they run is up to their limits.
    let beside = |time: Duration| -> Result<(Samples, u64)> {
        let misbehaving = Misbehaving::begin(&runtime, &local.toolbox, MISDEEDS);
        let samples = clients(time);
        misbehaving.end(&runtime)?;
        Ok((samples?, resident(std::process::id())?))
    };
    let (mut all, before) = beside(time / 4)?;
    let (late, after) = beside(time * 3 / 4)?;
    all.extend(late);
    runtime.block_on(local.close());
    let seconds = time.as_secs_f64();
    Ok(vec![
        Row::new(
            format!("run of {CLIENTS} honest clients on a quiet host"),
            Value::time(&quiet),
        ),
        Row::new(
            format!("the same beside all misdeeds at once, {seconds} s"),
            Value::time(&all),
        ),
        Row::new("the same, p99", Value::slow(&all))
            .beside("p99 when quiet", Value::slow(&quiet))
            .target(Target::RatioAtMost(FAIR)),
        Row::new("resident memory after all of it", Value::bytes(after))
            .beside("after a quarter of it", Value::bytes(before))
            .target(Target::RatioAtMost(FLAT)),
        Row::new(
            "bytes that guests hold after all of it",
            Value::bytes(local.sandbox.in_use().memory_bytes),
        )
        .target(Target::AtMost(0.0)),
    ])
}

/// Every client runs a chain of one step again and again, until the time is up.
async fn honest(local: &Local, document: &Json, time: Duration) -> Result<Samples> {
    let began = Instant::now();
    let mut clients = JoinSet::new();
    for _ in 0..CLIENTS {
        let (local, document) = (local.clone(), document.clone());
        clients.spawn(async move {
            let mut samples = Samples::default();
            // At least one each, however short the time.
            loop {
                let asked = Instant::now();
                let Executed::Ended(result) = local.execute(&document, Wait::ForEnd).await? else {
                    bail!("a run waits for a person");
                };
                ensure!(
                    result.status == ExecutionStatus::Completed,
                    "an honest run failed: {:?}",
                    result.error
                );
                samples.push(asked.elapsed());
                if began.elapsed() >= time {
                    return Ok(samples);
                }
                tokio::time::sleep(PAUSE).await;
            }
        });
    }
    let mut samples = Samples::default();
    while let Some(client) = clients.join_next().await {
        samples.extend(client??);
    }
    Ok(samples)
}
