//! Honest calls while others misbehave: plugins that spin, alone and in numbers, bomb memory, fill it, or sleep in a host call, and packs that
//! spin or sleep.

use crate::echo::{Echo, document};
use crate::harness::Bench;
use crate::misdeeds::{Misbehaving, Misdeed, packages};
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, Samples, alone};
use crate::subjects::runtime;
use anyhow::Result;
use std::collections::BTreeSet;
use tokio::runtime::Runtime;

/// Beside the quiet host, where one misbehaves.
const FAIR: f64 = 2.0;
/// Beside the quiet host, where many do: this many times, and two ticks of a millisecond in which others have their turns.
const FAIR_TO_MANY: f64 = 3.0;
const TWO_TICKS: f64 = 2e6;

/// Few enough to be held to the time on a quiet host alone.
const ALONE: &[(&str, &[Misdeed])] = &[
    ("one plugin spins", &[("spins", 1)]),
    ("one bombs memory", &[("bombs-memory", 1)]),
    ("one sleeps in a host call", &[("sleeps", 1)]),
    (
        "all three at once",
        &[("spins", 1), ("bombs-memory", 1), ("sleeps", 1)],
    ),
];
const MANY: &[(&str, &[Misdeed])] = &[
    ("8 guests spin", &[("spins-in-numbers", 8)]),
    ("20 guests spin", &[("spins-in-numbers", 20)]),
    ("4 guests fill their memory", &[("fills-memory", 4)]),
    (
        "8 packs spin and 8 sleep",
        &[("pack-spins", 8), ("pack-sleeps", 8)],
    ),
    (
        "16 guests spin and 8 packs sleep",
        &[("spins-in-numbers", 16), ("pack-sleeps", 8)],
    ),
];

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let names: BTreeSet<&str> = ALONE
        .iter()
        .chain(MANY)
        .flat_map(|(_, misdeeds)| misdeeds.iter().map(|(name, _)| *name))
        .collect();
    let echo = runtime.block_on(Echo::load(bench, packages(bench, names)?))?;
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 20),
        each: bench.pick(3, 1_000, 2_000),
    };
    let quiet = honest(&runtime, &echo, rounds)?;
    let mut rows = vec![Row::new("honest call on a quiet host", Value::time(&quiet))];
    // Each case ends with the limits of its guests: seconds. A quick run has time for the last of each kind.
    for (cases, is_many) in [(ALONE, false), (MANY, true)] {
        for (name, misdeeds) in cases.iter().skip(bench.pick(cases.len() - 1, 0, 0)) {
            let misbehaving = Misbehaving::begin(&runtime, &echo.toolbox, misdeeds);
            let samples = honest(&runtime, &echo, rounds);
            misbehaving.end(&runtime)?;
            let samples = samples?;
            rows.push(Row::new(
                format!("honest call while {name}"),
                Value::time(&samples),
            ));
            let target = if is_many {
                Target::AtMost(FAIR_TO_MANY * quiet.p99() + TWO_TICKS)
            } else {
                Target::RatioAtMost(FAIR)
            };
            let row = Row::new(format!("honest call while {name}, p99"), Value::slow(&samples));
            rows.push(row.beside("p99 when quiet", Value::slow(&quiet)).target(target));
        }
    }
    Ok(rows)
}

fn honest(runtime: &Runtime, echo: &Echo, rounds: Rounds) -> Result<Samples> {
    let input: serde_json::Value = serde_json::from_str(&document(100))?;
    alone(rounds, &mut |count| {
        runtime.block_on(echo.clone().call(count, input.clone()))
    })
}
