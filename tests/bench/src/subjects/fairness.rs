//! Honest calls while others misbehave: one plugin spins, one bombs memory, one sleeps in a host call.

use crate::echo::{Echo, document};
use crate::harness::Bench;
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, Samples, alone};
use crate::subjects::runtime;
use anyhow::Result;
use mizzen_isolation::{build, call};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::runtime::Runtime;

const MISDEEDS: [&str; 3] = ["spins", "bombs-memory", "sleeps"];
/// Beside the quiet host.
const FAIR: f64 = 2.0;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let mut hostile = Vec::new();
    for name in MISDEEDS {
        hostile.push(build(
            &bench.places.root.join("tests/guests").join(name),
            &bench.places.guests(),
        )?);
    }
    let echo = runtime.block_on(Echo::load(bench, hostile))?;
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 20),
        each: bench.pick(3, 1_000, 2_000),
    };
    let quiet = honest(&runtime, &echo, rounds)?;
    let mut rows = vec![Row::new("honest call on a quiet host", Value::time(&quiet))];
    let cases: [(&str, &[&str]); 4] = [
        ("one plugin spins", &["spins"]),
        ("one bombs memory", &["bombs-memory"]),
        ("one sleeps in a host call", &["sleeps"]),
        ("all three at once", &MISDEEDS),
    ];
    // Each case ends with the limits of its guests: seconds. A quick run has time for the last one.
    for (name, misdeeds) in cases.into_iter().skip(bench.pick(3, 0, 0)) {
        let stop = Arc::new(AtomicBool::new(false));
        let tasks: Vec<_> = misdeeds
            .iter()
            .map(|misdeed| runtime.spawn(misbehave(echo.clone(), misdeed, Arc::clone(&stop))))
            .collect();
        let samples = honest(&runtime, &echo, rounds);
        stop.store(true, Ordering::Relaxed);
        for task in tasks {
            runtime.block_on(task)?;
        }
        let samples = samples?;
        rows.push(Row::new(
            format!("honest call while {name}"),
            Value::time(&samples),
        ));
        let row = Row::new(format!("honest call while {name}, p99"), Value::slow(&samples));
        rows.push(
            row.beside("p99 when quiet", Value::slow(&quiet))
                .target(Target::RatioAtMost(FAIR)),
        );
    }
    Ok(rows)
}

fn honest(runtime: &Runtime, echo: &Echo, rounds: Rounds) -> Result<Samples> {
    let input: serde_json::Value = serde_json::from_str(&document(100))?;
    alone(rounds, &mut |count| {
        runtime.block_on(echo.clone().call(count, input.clone()))
    })
}

/// Calls a hostile tool again and again until told to stop; its calls end by its limits.
async fn misbehave(echo: Echo, misdeed: &'static str, stop: Arc<AtomicBool>) {
    let tool = format!("hostile.{misdeed}.attack");
    while !stop.load(Ordering::Relaxed) {
        // That it is stopped is what is expected.
        let _ = call(&echo.toolbox, &tool, json!({})).await;
    }
}
