//! Indexed joins over 100, 1,000 and 10,000 facts: the time should grow close to linearly.

#![allow(clippy::expect_used, missing_docs)] // a benchmark may stop loudly

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use mizzen_rules::{Budget, Fact, Program, Session, Value, When};
use std::hint::black_box;

const RULES: &str = "
    (defrule paid (order ?id ?amount) (payment ?id ?paid&:(>= ?paid ?amount)) => (assert (settled ?id)))
    (defrule open (order ?id ?) (not (payment ?id ?)) => (assert (open ?id)))";

fn facts(count: i64) -> Vec<Fact> {
    (0..count / 2)
        .flat_map(|id| {
            let order = Fact::ordered("order", vec![Value::Integer(id), Value::Integer(id % 7)]);
            let payment = Fact::ordered("payment", vec![Value::Integer(id * 2), Value::Integer(5)]);
            [order, payment]
        })
        .collect()
}

fn matching(criterion: &mut Criterion) {
    let program = Program::parse(RULES).expect("the benchmark's rules are rules");
    let mut group = criterion.benchmark_group("rules/join");
    for count in [100, 1_000, 10_000] {
        let facts = facts(count);
        let budget = Budget {
            operations: 100_000_000,
            facts: 100_000,
            activations: 1_000_000,
            memory: 1 << 30,
            ..Budget::default()
        };
        group.throughput(Throughput::Elements(u64::try_from(count).unwrap_or(0)));
        group.bench_with_input(BenchmarkId::from_parameter(count), &facts, |bencher, facts| {
            bencher.iter(|| {
                let mut session = Session::new(&program, budget).expect("a session");
                for fact in facts {
                    session.assert(fact.clone()).expect("a fact");
                }
                black_box(session.run().expect("a report"))
            });
        });
    }
    group.finish();
    let when = When::compile("(severity ?s&:(>= ?s 4))").expect("the seed's rule");
    criterion.bench_function("rules/when", |bencher| {
        bencher.iter(|| {
            let fact = Fact::ordered("severity", vec![Value::Integer(5)]);
            when.evaluate([fact], Budget::default())
                .expect("an outcome")
                .holds()
        });
    });
}

criterion_group!(benches, matching);
criterion_main!(benches);
