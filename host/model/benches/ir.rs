//! How long the IR takes: a document of 100 nodes and about 15 kB, as the Python reference was measured with (0.71 ms to
//! validate). `cargo bench -p mizzen-model`; where `python3` (or `MIZZEN_PYTHON`) has pydantic, the reference is measured in the
//! same run, and how many times longer it takes is printed.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(missing_docs, reason = "criterion's macros make the items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mizzen_model::ir::{IRDocument, Options, dumps, dumps_canonical, graph_hash, inspect, loads, validate};
use std::fmt::Write as _;
use std::hint::black_box;
use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Instant;

/// 100 nodes, 50 rules with two actions each, a state schema and a mounted pack.
fn document() -> String {
    let mut text = String::from("{\"ir_version\": \"1.0.0\", \"id\": \"graph:bench\", \"nodes\": [");
    for n in 0..100 {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{{\"id\": \"node_{n}\", \"kind\": \"acme.text.tool_{n}\"}}"
        );
    }
    text.push_str("], \"rules\": [");
    for n in 0..50 {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{{\"id\": \"rule.{n}\", \"when\": \"(severity ?s&:(>= ?s {n})) (message ?m&:(neq ?m \\\"\\\"))\", \"then\": \
             [{{\"kind\": \"goto\", \"target\": \"node_{n}\"}}, {{\"kind\": \"retry\", \"target\": \"node_{n}\", \"backoff_ms\": 1{n}}}]}}"
        );
    }
    text.push_str("], \"state_schema\": {\"message\": \"str\", \"severity\": \"int\"}, \"governance\": [{\"id\": \"pack.routing\", ");
    text.push_str("\"version\": \"1.0.0\", \"requires\": {\"stargraph_facts_version\": \"1.0\", \"api_version\": \"1\"}}]}");
    text
}

fn ir(criterion: &mut Criterion) {
    let text = document();
    let parsed = match loads(&text) {
        Ok(parsed) => parsed,
        Err(errors) => {
            eprintln!("the document of the benchmark is invalid: {errors:?}");
            return;
        }
    };
    let mut group = criterion.benchmark_group("ir_100_nodes");
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("validate", |bench| bench.iter(|| validate(black_box(&text))));
    group.bench_function("validate_and_warn", |bench| {
        bench.iter(|| inspect(black_box(&text), Options::default()))
    });
    group.throughput(Throughput::Bytes(dumps(&parsed).len() as u64));
    group.bench_function("dumps", |bench| bench.iter(|| dumps(black_box(&parsed))));
    group.bench_function("dumps_canonical", |bench| {
        bench.iter(|| dumps_canonical(black_box(&parsed)))
    });
    group.bench_function("graph_hash", |bench| {
        bench.iter(|| graph_hash(black_box(&parsed)))
    });
    group.finish();
}

/// The median of the reference for validating and for dumping canonically, in nanoseconds.
fn reference(text: &str) -> Option<(f64, f64)> {
    let python = std::env::var("MIZZEN_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/benches/reference.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    child.stdin.take()?.write_all(text.as_bytes()).ok()?;
    let output = child.wait_with_output().ok()?;
    let printed = String::from_utf8(output.stdout).ok()?;
    let (validate, dump) = printed.trim().split_once(' ')?;
    Some((validate.parse().ok()?, dump.parse().ok()?))
}

/// The median of ours, measured as the reference measures itself: one call at a time.
fn median(mut work: impl FnMut()) -> f64 {
    let mut times: Vec<u128> = (0..3_000)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed().as_nanos()
        })
        .collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or(1) as f64
}

/// The claim is a twentieth of the reference's time; a loaded machine slows both, so they are measured side by side.
fn side_by_side(_: &mut Criterion) {
    let text = document();
    let Ok(parsed) = loads::<IRDocument>(&text) else {
        return;
    };
    let Some((validating, dumping)) = reference(&text) else {
        println!(
            "side by side with the Python reference: not measured, no python3 with pydantic (set MIZZEN_PYTHON)"
        );
        return;
    };
    let ours = median(|| drop(black_box(validate(black_box(&text)))));
    let canonical = median(|| drop(black_box(dumps_canonical(black_box(&parsed)))));
    for (what, reference, ours) in [
        ("validate", validating, ours),
        ("dumps_canonical", dumping, canonical),
    ] {
        println!(
            "{what}: reference {:.1} µs, ours {:.1} µs: 1/{:.0} of its time",
            reference / 1e3,
            ours / 1e3,
            reference / ours
        );
    }
}

criterion_group!(benches, ir, side_by_side);
criterion_main!(benches);
