//! What a condition costs: compiled once per council, evaluated at every gate.

#![allow(clippy::expect_used, missing_docs)] // a benchmark may stop loudly

use criterion::{Criterion, criterion_group, criterion_main};
use mizzen_condition::{Condition, Context, Fuel, Variable};
use serde_json::json;
use std::hint::black_box;

fn conditions(criterion: &mut Criterion) {
    let output =
        json!({"confidence": 0.9, "tags": ["a", "b", "c"], "text": "a short text with a word in it"});
    let steps = json!([{"output": {"score": 0.5}}, {"output": {"score": 0.9}}, {"output": {"score": 0.7}}]);
    let context = Context::new()
        .with(Variable::Output, &output)
        .with(Variable::Steps, &steps);
    for (name, text) in [
        ("comparison", "output.confidence >= 0.85"),
        (
            "logic",
            "has(output.confidence) && output.confidence >= 0.85 && !('x' in output.tags)",
        ),
        (
            "comprehension",
            "steps.all(s, s.output.score > 0.4) && steps.size() == 3",
        ),
        ("pattern", "output.text.matches('w[aeiou]rd')"),
    ] {
        let condition = Condition::compile_gate(text).expect("the benchmark's condition compiles");
        criterion.bench_function(&format!("condition/evaluate/{name}"), |bencher| {
            bencher.iter(|| black_box(&condition).evaluate(black_box(&context), &mut Fuel::default()));
        });
        criterion.bench_function(&format!("condition/compile/{name}"), |bencher| {
            bencher.iter(|| Condition::compile_gate(black_box(text)));
        });
    }
}

criterion_group!(benches, conditions);
criterion_main!(benches);
