//! History and registry with a thousand, a hundred thousand and a million rows: pages stay flat, and so does appending.

use crate::filled::{Rows, audit, chain, sprite, start_run, store};
use crate::harness::Bench;
use crate::machine::fdatasync;
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, Samples, alone, timed};
use crate::subjects::runtime;
use anyhow::{Result, ensure};
use mizzen_store::{RunFilter, RunPlace, SpriteFilter, Store};
use mizzen_store_sqlite::cursor_at;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::runtime::Runtime;

/// A page is flat when a thousand times more rows do not make it slower than this.
const FLAT: f64 = 2.0;
/// A page of a million runs, 99 times of 100.
const SLOW_PAGE: f64 = 50e6;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let runtime = runtime()?;
    let sizes = bench.pick(
        [20, 100, 200],
        [1_000, 100_000, 1_000_000],
        [1_000, 100_000, 1_000_000],
    );
    let disk = fdatasync(&bench.places, bench.pick(5, 200, 500))?;
    let mut rows = Vec::new();
    let mut first: Vec<Samples> = Vec::new();
    for kind in [Rows::Runs, Rows::Sprites] {
        first.clear();
        for size in sizes {
            let what = format!("{} of {size}", name(kind));
            let store = match runtime.block_on(store(bench, kind, size)) {
                Ok(store) => store,
                Err(error) => {
                    rows.push(Row::skipped(what, format!("{error:#}")));
                    continue;
                }
            };
            for (place, (page, samples)) in pages(bench, &runtime, &store, kind, size)?
                .into_iter()
                .enumerate()
            {
                let row = Row::new(format!("{page}, {what}"), Value::time(&samples));
                rows.push(match first.get(place) {
                    Some(first) => row
                        .beside(format!("with {}", sizes[0]), Value::time(first))
                        .target(Target::RatioAtMost(FLAT)),
                    None => row,
                });
                if kind == Rows::Runs && size == 1_000_000 {
                    let row = Row::new(format!("{page}, {what}, p99"), Value::slow(&samples));
                    rows.push(row.target(Target::AtMost(SLOW_PAGE)));
                }
                if first.len() <= place {
                    first.push(samples);
                }
            }
            rows.push(
                append(bench, &runtime, &store, kind, size)?.beside("fdatasync of 4 KiB", Value::time(&disk)),
            );
            runtime.block_on(store.close());
        }
    }
    Ok(rows)
}

fn name(kind: Rows) -> &'static str {
    match kind {
        Rows::Runs => "runs",
        Rows::Sprites => "sprites",
    }
}

/// Pages of twenty: the newest, by a filter, and from the middle.
fn pages(
    bench: &Bench,
    runtime: &Runtime,
    store: &Store,
    kind: Rows,
    size: u64,
) -> Result<Vec<(&'static str, Samples)>> {
    let rounds = Rounds {
        rounds: bench.pick(1, 3, 10),
        each: bench.pick(2, 60, 200),
    };
    let middle = i64::try_from(size / 2)?;
    let mut measured = Vec::new();
    match kind {
        Rows::Runs => {
            let of_chain = RunFilter {
                chain: Some(chain(3)),
                ..RunFilter::default()
            };
            let failed = RunFilter {
                status: Some("failed".to_owned()),
                ..of_chain.clone()
            };
            for (name, filter, place) in [
                ("newest page by chain", of_chain.clone(), RunPlace::Offset(0)),
                ("page by chain and status", failed, RunPlace::Offset(0)),
                (
                    "page by chain from the middle",
                    of_chain,
                    RunPlace::After(cursor_at([middle, middle])),
                ),
                ("newest page of all", RunFilter::default(), RunPlace::Offset(0)),
            ] {
                let samples = alone(rounds, &mut |count| {
                    timed(count, || {
                        let page = runtime.block_on(store.list_runs(filter.clone(), place, 20))?;
                        ensure!(page.total > 0 || filter.status.is_some(), "an empty page");
                        Ok(())
                    })
                })?;
                measured.push((name, samples));
            }
        }
        Rows::Sprites => {
            let tagged = SpriteFilter {
                tag: Some("tag-7".into()),
                ..SpriteFilter::default()
            };
            let named = SpriteFilter {
                name: Some("SPRITE-7".into()),
                ..SpriteFilter::default()
            };
            for (name, filter) in [
                ("page from the middle", SpriteFilter::default()),
                ("page by tag from the middle", tagged),
                ("page by name from the middle", named),
            ] {
                let samples = alone(rounds, &mut |count| {
                    timed(count, || {
                        let place = Some(cursor_at([middle, 0]));
                        runtime.block_on(store.list_sprites(filter.clone(), place, 20))?;
                        Ok(())
                    })
                })?;
                measured.push((name, samples));
            }
        }
    }
    Ok(measured)
}

/// One durable write into the table, alone in its commit.
fn append(bench: &Bench, runtime: &Runtime, store: &Store, kind: Rows, size: u64) -> Result<Row> {
    // Numbers that no earlier run of the benchmarks has used: the databases are kept.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)?
        .as_micros();
    let seed = u64::try_from(seed)?;
    let rounds = Rounds {
        rounds: 1,
        each: bench.pick(2, 60, 200),
    };
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            let number = seed + NEXT.fetch_add(1, Ordering::Relaxed);
            match kind {
                Rows::Runs => runtime.block_on(start_run(store, number))?,
                Rows::Sprites => {
                    drop(runtime.block_on(store.create_sprite(
                        sprite(number),
                        String::new(),
                        None,
                        audit(),
                    ))?);
                }
            }
            Ok(())
        })
    })?;
    let what = format!("one durable write into {size} {}", name(kind));
    Ok(Row::new(what, Value::time(&samples)))
}
