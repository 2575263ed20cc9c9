//! The IR: a document of 100 nodes and about 15 kB, as the Python reference was measured with (0.71 ms to validate).

use crate::harness::Bench;
use crate::row::{Row, Target, Unit, Value};
use crate::samples::{Rounds, Samples, alone, timed};
use anyhow::{Result, anyhow, ensure};
use mizzen_model::ir::{dumps, dumps_canonical, graph_hash, loads, validate};
use std::fmt::Write as _;
use std::hint::black_box;

/// A twentieth of the Python reference.
const LIMIT: f64 = 35e3;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 30),
        each: bench.pick(2, 300, 1_000),
    };
    let mut rows = Vec::new();
    for nodes in bench.pick([10, 100, 200], [100, 1_000, 10_000], [100, 1_000, 10_000]) {
        let text = document(nodes);
        ensure!(validate(&text).is_empty(), "the document is not valid");
        let rounds = Rounds {
            each: (rounds.each * 100 / nodes).max(2),
            ..rounds
        };
        let samples = alone(rounds, &mut |count| {
            timed(count, || {
                black_box(validate(black_box(&text)));
                Ok(())
            })
        })?;
        let row = Row::new(
            format!("IR validate, {nodes} nodes, {} kB", text.len() / 1_000),
            Value::time(&samples),
        );
        rows.push(if nodes == 100 {
            row.target(Target::AtMost(LIMIT))
        } else {
            row
        });
        rows.push(Row::new(
            format!("IR validate, {nodes} nodes, throughput"),
            throughput(&samples, text.len()),
        ));
    }
    let document = loads(&document(100)).map_err(|errors| anyhow!("{errors:?}"))?;
    let length = dumps_canonical(&document).len();
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            black_box(dumps_canonical(black_box(&document)));
            Ok(())
        })
    })?;
    rows.push(Row::new("IR canonical dump, 100 nodes", Value::time(&samples)).target(Target::AtMost(LIMIT)));
    rows.push(Row::new(
        "IR canonical dump, throughput",
        throughput(&samples, length),
    ));
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            black_box(dumps(black_box(&document)));
            Ok(())
        })
    })?;
    rows.push(Row::new(
        "IR dump in declared order, 100 nodes",
        Value::time(&samples),
    ));
    let samples = alone(rounds, &mut |count| {
        timed(count, || {
            black_box(graph_hash(black_box(&document)));
            Ok(())
        })
    })?;
    rows.push(Row::new("IR graph hash, 100 nodes", Value::time(&samples)));
    Ok(rows)
}

#[allow(clippy::cast_precision_loss, reason = "megabytes")]
fn throughput(samples: &Samples, bytes: usize) -> Value {
    Value::new(Unit::Throughput, bytes as f64 / (samples.p50() / 1e9))
}

/// Nodes, half as many rules with two actions each, a state schema and a mounted pack.
fn document(nodes: usize) -> String {
    let mut text = String::from("{\"ir_version\": \"1.0.0\", \"id\": \"graph:bench\", \"nodes\": [");
    for n in 0..nodes {
        let comma = if n == 0 { "" } else { ", " };
        let _ = write!(
            text,
            "{comma}{{\"id\": \"node_{n}\", \"kind\": \"acme.text.tool_{n}\"}}"
        );
    }
    text.push_str("], \"rules\": [");
    for n in 0..nodes / 2 {
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
