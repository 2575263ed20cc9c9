//! How quickly runs are started, shown, listed and stopped while guests spin: what people do with runs never waits for guests' threads.

use crate::echo::package;
use crate::harness::Bench;
use crate::local::{Local, json};
use crate::misdeeds::{Misbehaving, packages};
use crate::row::{Row, Target, Value};
use crate::samples::Samples;
use crate::site::{Site, request};
use crate::subjects::{database_in_memory, runtime};
use anyhow::Result;
use mizzen_json::Json;
use mizzen_ops::{Caller, ExecutionPlace, Wait};
use mizzen_store::RunFilter;
use serde_json::json as literal;
use std::time::{Duration, Instant};

const SPINS: &str = "spins-in-numbers";
/// The slowest hundredth of each act.
const LIMIT: f64 = 100e6;
/// Guests that spin beside those of the runs that are steered.
const SPINNING: usize = 4;

/// The acts, in the order in which they are done.
const ACTS: [&str; 4] = ["start", "show", "list", "cancel"];

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let mut plugins = packages(bench, [SPINS])?;
    plugins.push(package(bench)?);
    let site = Site::new(bench, &plugins)?;
    let data = database_in_memory(bench)?;
    let local = runtime.block_on(Local::open(bench, &site, data.path()))?;
    let tool = format!("hostile.{SPINS}.attack");
    let council = runtime.block_on(local.furnish_changed("steered", &tool, 1, |council| {
        // The tool takes nothing and says nothing.
        if let Some(chain) = council.pointer_mut("/chains/0") {
            if let Some(step) = chain
                .pointer_mut("/steps/0")
                .and_then(|step| step.as_object_mut())
            {
                step.retain(|name, _| name != "input_map" && name != "output_map");
            }
            if let Some(chain) = chain.as_object_mut() {
                chain.insert("gates".to_owned(), literal!([]));
            }
        }
    }))?;
    let document = json(&request(&council, &literal!({}))?)?;
    let misbehaving = Misbehaving::begin(&runtime, &local.toolbox, &[(SPINS, SPINNING)]);
    let times = runtime.block_on(steered(&local, &document, bench.pick(2, 200, 1_000)));
    misbehaving.end(&runtime)?;
    runtime.block_on(local.close());
    let rows = ACTS.iter().zip(times?).map(|(act, times)| {
        let what = format!("{act} a run while {SPINNING} guests spin, p99");
        Row::new(what, Value::slow(&times)).target(Target::AtMost(LIMIT))
    });
    Ok(rows.collect())
}

/// Starts a run that spins, looks at it, lists it and stops it, so many times.
async fn steered(local: &Local, document: &Json, count: usize) -> Result<[Samples; ACTS.len()]> {
    // Those that spin are under way.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let caller = Caller::local("req-bench");
    let mut times: [Samples; ACTS.len()] = Default::default();
    let [start, show, list, cancel] = &mut times;
    for _ in 0..count {
        let began = Instant::now();
        let id = local.execute(document, Wait::ForStart).await?.id();
        start.push(began.elapsed());
        let began = Instant::now();
        local.host.execution(id).await?;
        show.push(began.elapsed());
        let began = Instant::now();
        let first = ExecutionPlace::Offset(0);
        local
            .host
            .list_executions(RunFilter::default(), first, 20)
            .await?;
        list.push(began.elapsed());
        let began = Instant::now();
        local.host.cancel_execution(&caller, id).await?;
        cancel.push(began.elapsed());
    }
    Ok(times)
}
