//! How long the IR takes: a document of 100 nodes and about 15 kB, as the Python reference was measured with (0.71 ms to
//! validate). `cargo bench -p mizzen-model`.
#![allow(missing_docs, reason = "criterion's macros make the items")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use mizzen_model::ir::{Options, dumps, dumps_canonical, graph_hash, inspect, loads, validate};
use std::fmt::Write as _;
use std::hint::black_box;

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

criterion_group!(benches, ir);
criterion_main!(benches);
