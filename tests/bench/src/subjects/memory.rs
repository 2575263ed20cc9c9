//! Resident memory: of the idle server, of each plugin, of each call in flight, and after very many calls.

use crate::echo::{Echo, document, others, settings};
use crate::harness::Bench;
use crate::process::resident;
use crate::row::{Row, Target, Unit, Value};
use crate::served::{NO_BINARY, mizzen, rival_output};
use crate::site::Site;
use crate::subjects::runtime;
use anyhow::{Context, Result, ensure};
use mizzen_isolation::{build, load, rebuilt};
use mizzen_ops::toolbox::CallRequest;
use mizzen_sandbox::{CallContext, Sandbox, Settings};
use serde_json::json;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let mut rows = server(bench)?;
    for many in bench.pick([1, 2, 8], [1, 100, 1_000], [1, 100, 1_000]) {
        let [before, after] = child("in-flight", many)?;
        let each = (after - before) / many_as(many);
        let row = Row::new(
            format!("memory of a call in flight, {many} at once"),
            Value::new(Unit::Bytes, each),
        );
        rows.push(row);
    }
    let calls = bench.pick(200, 1_000_000, 2_000_000);
    let [early, late] = child("many-calls", calls)?;
    let row = Row::new(
        format!("resident memory after {calls} calls"),
        Value::new(Unit::Bytes, late),
    );
    let row = row.beside("after a tenth of them", Value::new(Unit::Bytes, early));
    rows.push(row.target(Target::RatioAtMost(1.05)));
    Ok(rows)
}

#[allow(clippy::cast_precision_loss, reason = "at most millions")]
fn many_as(many: usize) -> f64 {
    many as f64
}

/// Starts a child that prints two numbers.
fn child(role: &str, many: usize) -> Result<[f64; 2]> {
    let output = rival_output(role, &[&many.to_string()])?;
    serde_json::from_str(output.trim()).with_context(|| format!("{role} printed {output:?}"))
}

fn server(bench: &Bench) -> Result<Vec<Row>> {
    let Some(binary) = mizzen(bench)? else {
        return Ok(vec![Row::skipped("memory of `mizzen serve`", NO_BINARY)]);
    };
    let weigh = |plugins: usize| -> Result<u64> {
        let site = Site::new(bench, &others(bench, plugins)?)?;
        // The first start compiles, which takes memory that is not given back; the second is what an operator sees.
        drop(site.serve(&binary)?);
        let server = site.serve(&binary)?;
        std::thread::sleep(Duration::from_millis(bench.pick(0, 500, 500)));
        resident(server.id())
    };
    let many = bench.pick(2, 100, 100);
    let (idle, loaded) = (weigh(0)?, weigh(many)?);
    let each = Value::new(Unit::Bytes, (float(loaded) - float(idle)) / many_as(many));
    Ok(vec![
        Row::new(
            "resident memory of `mizzen serve`, idle, no plugins",
            Value::bytes(idle),
        ),
        Row::new(format!("memory of a loaded plugin ({many} loaded)"), each),
    ])
}

#[allow(clippy::cast_precision_loss, reason = "bytes of a process")]
fn float(bytes: u64) -> f64 {
    bytes as f64
}

fn own() -> Result<u64> {
    resident(std::process::id())
}

/// The child's part: guests that wait in a host call, all at once.
pub(crate) fn in_flight(bench: &Bench, many: usize) -> Result<()> {
    let runtime = runtime()?;
    let sleeper = build(
        &bench.places.root.join("tests/guests/sleeps"),
        &bench.places.guests(),
    )?;
    let patient = rebuilt(&std::fs::read(sleeper)?, |component, manifest| {
        (component, manifest.replace("\"1s\"", "\"60s\""))
    })?;
    let file = bench.places.kept.join("sleeps-for-long.wasm");
    std::fs::write(&file, patient)?;
    let slots = u32::try_from(many * 4)?.max(64);
    let settings = Settings {
        slots,
        max_memory: 64 << 20,
        ..settings(bench)
    };
    let sandbox = Arc::new(Sandbox::start(settings)?);
    runtime.block_on(async {
        let toolbox = load(&sandbox, vec![file]).await?;
        let before = own()?;
        for _ in 0..many {
            let toolbox = Arc::clone(&toolbox);
            tokio::spawn(async move {
                let request = CallRequest {
                    tool: "hostile.sleeps.attack".to_owned(),
                    input: json!({}),
                    context: CallContext::default(),
                    policy: mizzen_engine::CallPolicy::default(),
                };
                toolbox.call(request).await.map(|_| ())
            });
        }
        let began = Instant::now();
        while sandbox.in_use().instances < u64::try_from(many)? {
            ensure!(
                began.elapsed() < Duration::from_secs(50),
                "only {} calls are in flight",
                sandbox.in_use().instances
            );
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // Counted when the instance is made; a moment later it waits in its host call.
        tokio::time::sleep(Duration::from_millis(200)).await;
        println!("[{before}, {}]", own()?);
        std::process::exit(0)
    })
}

/// The child's part: calls on two threads, and the memory after a tenth and after all of them.
pub(crate) fn many_calls(bench: &Bench, many: usize) -> Result<()> {
    let runtime = runtime()?;
    let echo = runtime.block_on(Echo::load(bench, Vec::new()))?;
    let input: Arc<str> = document(100).into();
    let call = |count: usize| -> Result<u64> {
        let mut left = count;
        while left > 0 {
            let now = left.min(20_000);
            let halves = [now / 2, now - now / 2]
                .map(|half| runtime.spawn(echo.clone().invoke(half, Arc::clone(&input))));
            for half in halves {
                runtime.block_on(half)??;
            }
            left -= now;
        }
        own()
    };
    let early = call(many / 10)?;
    let late = call(many - many / 10)?;
    println!("[{early}, {late}]");
    Ok(())
}
