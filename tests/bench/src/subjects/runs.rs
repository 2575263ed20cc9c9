//! Durable runs: how many steps a second, what the disk itself would give, how quickly one is cancelled, and how quickly many go on
//! after a restart.

use crate::echo::{TOOL, package};
use crate::harness::Bench;
use crate::local::{Local, json};
use crate::raw::Database;
use crate::row::{Row, Target, Unit, Value};
use crate::samples::Samples;
use crate::served::rival_output;
use crate::site::{Site, input, request};
use crate::subjects::{database_in_memory, runtime};
use anyhow::{Context, Result, ensure};
use mizzen_isolation::{build, rebuilt};
use mizzen_model::execution::ExecutionStatus;
use mizzen_ops::{Caller, Executed, Wait};
use serde_json::json as literal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const STEPS: usize = 3;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let mut rows = throughput(bench)?;
    rows.push(without_disk(bench)?);
    rows.push(cancel(bench)?);
    rows.push(restart(bench)?);
    Ok(rows)
}

/// Runs that are executed at the same time, until the time is up; gives the number that ended.
pub(crate) async fn executed(
    local: &Local,
    document: &serde_json::Value,
    many: usize,
    time: Duration,
) -> Result<usize> {
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..many {
        let (local, document) = (local.clone(), json(document)?);
        tasks.spawn(async move {
            let mut ended = 0;
            // At least one each, however short the time.
            loop {
                let Executed::Ended(result) = local.execute(&document, Wait::ForEnd).await? else {
                    anyhow::bail!("a run waits for a person");
                };
                ensure!(
                    result.status == ExecutionStatus::Completed,
                    "a run failed: {:?}",
                    result.error
                );
                ended += 1;
                if began.elapsed() >= time {
                    return Ok(ended);
                }
            }
        });
    }
    let mut ended = 0;
    while let Some(task) = tasks.join_next().await {
        ended += task??;
    }
    Ok(ended)
}

/// 64 runs at once, beside 64 writers on the bare database, in turns.
fn throughput(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let site = Site::new(bench, &[package(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    let council = runtime.block_on(local.furnish("bench", TOOL, STEPS))?;
    let document = request(&council, &input())?;
    let raw = Database::open(site.path())?;
    let time = Duration::from_secs_f64(bench.pick(0.2, 3.0, 10.0));
    let many = bench.pick(4, 64, 64);
    let (mut ours, mut disk) = (Samples::default(), Samples::default());
    let mut total = 0;
    let before = (
        local.host.store.stats().writes(),
        local.host.store.stats().commits(),
    );
    // The first round warms up.
    for round in 0..=bench.pick(1, 3, 5) {
        let began = Instant::now();
        let ended = runtime.block_on(executed(&local, &document, many, time))?;
        let seconds = began.elapsed().as_secs_f64();
        total += ended;
        let writes = runtime.block_on(appended(&raw, many, time))?;
        if round > 0 {
            ours.push_value(count(ended * STEPS) / seconds);
            disk.push_value(writes);
        }
    }
    let stats = local.host.store.stats();
    let writes = stats.writes() - before.0;
    let commits = stats.commits() - before.1;
    runtime.block_on(local.close());
    let bytes = std::fs::metadata(site.data().join("mizzen.db"))?.len();
    #[allow(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let (per_step, group) = (
        bytes as f64 / count(total * STEPS),
        writes as f64 / commits as f64,
    );
    Ok(vec![
        Row::new(
            format!("durable steps with {many} runs at once"),
            Value::per_second(ours.p50()),
        )
        .beside(
            "raw SQLite, one durable write a step",
            Value::per_second(disk.p50()),
        )
        .target(Target::AtLeast(2_000.0)),
        Row::new(
            "writes that share a commit at that load",
            Value::new(Unit::Number, group),
        ),
        Row::new(
            "database bytes a step, payload of 100 B in and out included",
            Value::new(Unit::Bytes, per_step),
        )
        .target(Target::AtMost(2_048.0)),
    ])
}

#[allow(clippy::cast_precision_loss, reason = "counts of a few seconds")]
fn count(number: usize) -> f64 {
    number as f64
}

/// Durable writes a second by so many writers at once.
async fn appended(raw: &Database, many: usize, time: Duration) -> Result<f64> {
    let began = Instant::now();
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..many {
        let raw = raw.clone();
        tasks.spawn(async move {
            let mut written = 0;
            while began.elapsed() < time {
                raw.append(vec![b'x'; 1_000]).await?;
                written += 1;
            }
            anyhow::Ok(written)
        });
    }
    let mut written = 0;
    while let Some(task) = tasks.join_next().await {
        written += task??;
    }
    Ok(count(written) / began.elapsed().as_secs_f64())
}

/// The whole host on memory instead of a disk: what a step costs beside the disk, the guest included.
fn without_disk(bench: &Bench) -> Result<Row> {
    let what = "step of a run without the disk, guest included";
    const LONG: usize = 10;
    let runtime = runtime()?;
    let data = database_in_memory(bench)?;
    let site = Site::new(bench, &[package(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &data.path().join("data")))?;
    let council = runtime.block_on(local.furnish("bench", TOOL, LONG))?;
    let document = json(&request(&council, &input())?)?;
    let mut samples = Samples::default();
    for round in 0..bench.pick(2, 500, 2_000) {
        let began = Instant::now();
        runtime.block_on(local.execute(&document, Wait::ForEnd))?;
        if round > 0 {
            samples.push(began.elapsed() / 10);
        }
    }
    runtime.block_on(local.close());
    Ok(Row::new(what, Value::time(&samples)).target(Target::AtMost(200e3)))
}

/// A guest that spins for longer than anybody waits.
fn patient_spinner(bench: &Bench) -> Result<PathBuf> {
    let built = build(
        &bench.places.root.join("tests/guests/spins"),
        &bench.places.guests(),
    )?;
    let patient = rebuilt(&std::fs::read(built)?, |component, manifest| {
        let manifest = manifest.replace("300ms", "60s").replace("\"1s\"", "\"60s\"");
        (component, manifest)
    })?;
    let file = bench.places.kept.join("spins-for-long.wasm");
    std::fs::write(&file, patient)?;
    Ok(file)
}

/// From the request to cancel to the guest being gone, which was spinning.
fn cancel(bench: &Bench) -> Result<Row> {
    let runtime = runtime()?;
    let site = Site::new(bench, &[patient_spinner(bench)?])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    // It takes no input.
    let bare = |council: &mut serde_json::Value| {
        if let Some(map) = council.pointer_mut("/chains/0/steps/0/input_map") {
            *map = literal!({});
        }
    };
    let council = runtime.block_on(local.furnish_changed("bench", "hostile.spins.attack", 1, bare))?;
    let document = json(&request(&council, &input())?)?;
    let mut samples = Samples::default();
    for _ in 0..bench.pick(2, 100, 500) {
        let took = runtime.block_on(async {
            let id = local.execute(&document, Wait::ForStart).await?.id();
            waited(|| local.sandbox.in_use().instances == 1).await?;
            let began = Instant::now();
            let caller = Caller::local("req-bench");
            let cancelling = local.host.cancel_execution(&caller, id);
            let gone = waited(|| local.sandbox.in_use().instances == 0);
            let (cancelled, gone) = tokio::join!(cancelling, async { gone.await.map(|()| began.elapsed()) });
            ensure!(
                cancelled?.status == ExecutionStatus::Cancelled,
                "the run was not cancelled"
            );
            gone
        })?;
        samples.push(took);
    }
    runtime.block_on(local.close());
    let row = Row::new(
        "cancel: from the request to the spinning guest gone, p99",
        Value::slow(&samples),
    );
    Ok(row.target(Target::AtMost(20e6)))
}

/// Waits until it is so, for a minute at most.
async fn waited(is_so: impl Fn() -> bool) -> Result<()> {
    let began = Instant::now();
    while !is_so() {
        ensure!(began.elapsed() < Duration::from_secs(60), "nothing happens");
        tokio::time::sleep(Duration::from_micros(200)).await;
    }
    Ok(())
}

/// A child opens many runs and is gone; here they are driven again.
fn restart(bench: &Bench) -> Result<Row> {
    let many = bench.pick(50, 10_000, 10_000);
    let runtime = runtime()?;
    let site = Site::new(bench, &[package(bench)?])?;
    let text = |path: &Path| path.to_str().map(str::to_owned).context("the path is not text");
    rival_output("open-runs", &[&text(site.path())?, &many.to_string()])?;
    let local = runtime.block_on(Local::open(bench, &site, &site.data()))?;
    let began = Instant::now();
    let recovered = runtime.block_on(local.host.resume_runs())?;
    let took = began.elapsed();
    ensure!(
        recovered.resumed == many && recovered.stuck.is_empty(),
        "{} of {many} runs were resumed; stuck: {:?}",
        recovered.resumed,
        recovered.stuck.first()
    );
    let row = Row::new(
        format!("restart: {many} open runs driven again"),
        Value::seconds(took.as_secs_f64()),
    );
    Ok(row.target(Target::AtMost(2e9)))
}

/// The child's part: opens runs that wait for a person, then is gone without a word, as after a power cut.
pub(crate) fn open_runs(bench: &Bench, folder: &Path, many: usize) -> Result<()> {
    let runtime = runtime()?;
    runtime.block_on(async {
        let site = Site::at(folder);
        let local = Local::open(bench, &site, &site.data()).await?;
        let council = local.furnish("bench", TOOL, STEPS).await?;
        let document = json(&request(&council, &literal!({"text": "a", "risky": true}))?)?;
        let mut tasks = tokio::task::JoinSet::new();
        let mut opened = 0;
        while opened < many || !tasks.is_empty() {
            while opened < many && tasks.len() < 256 {
                let (local, document) = (local.clone(), document.clone());
                tasks.spawn(async move { local.execute(&document, Wait::ForEnd).await });
                opened += 1;
            }
            if let Some(task) = tasks.join_next().await {
                ensure!(matches!(task??, Executed::Waiting(_)), "a run does not wait");
            }
        }
        println!("{{\"opened\": {opened}}}");
        std::process::exit(0)
    })
}
