//! What conditions promise: meaning, refusals, bounds.

mod guide;
mod hostile;
mod meaning;
mod refusal;
mod rules;

use super::*;
use serde_json::{Value as Json, json};

/// A context in the middle of a run.
pub(super) fn documents() -> [(Variable, Json); 6] {
    [
        (
            Variable::Input,
            json!({"text": "hello", "count": 3, "big": 18446744073709551615_u64, "odd name": 1, "in": 2}),
        ),
        (
            Variable::Steps,
            json!([{"output": {"score": 0.5}}, {"output": {"score": 0.9}, "status": "completed"}]),
        ),
        (
            Variable::Output,
            json!({"confidence": 0.9, "tags": ["a", "b"], "none": null, "whole": 3.0, "ok": true}),
        ),
        (Variable::Error, json!({"code": "TIMEOUT", "message": "too slow"})),
        (
            Variable::Chain,
            json!({"name": "review", "steps": [{"sprite": "BECK-02"}, {"sprite": "LEWIS-06"}]}),
        ),
        (
            Variable::Council,
            json!({"domain": "engineering", "sprites": [{"name": "BECK-02", "protected": true}]}),
        ),
    ]
}

pub(super) fn evaluate(condition: &Condition) -> Result<bool, EvalError> {
    let documents = documents();
    let context = documents
        .iter()
        .fold(Context::new(), |context, (variable, value)| {
            context.with(*variable, value)
        });
    condition.evaluate(&context, &mut Fuel::default())
}

pub(super) fn gate(text: &str) -> Condition {
    Condition::compile_gate(text).unwrap_or_else(|error| panic!("{text}: {error}"))
}
