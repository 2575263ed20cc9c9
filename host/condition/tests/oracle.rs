//! Conditions against the `cel` crate: the same expressions, the same documents, the same answers. The expressions are
//! made here and small, because the oracle has no budget of its own.
//!
//! Differences that are meant, and therefore left out of the comparison:
//! - what is refused when it compiles (an operand that can never be a boolean, a nested comprehension) has no answer;
//! - an error is compared as an error, never by its text;
//! - the rows of `DIFFERENT`, each with its reason, are pinned by a test of their own.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_condition::{Condition, ConditionLimits, Context, Fuel, Variable, Variables};
use proptest::prelude::*;
use serde_json::{Value as Json, json};
use std::collections::HashMap;

fn documents() -> [(Variable, Json); 3] {
    [
        (
            Variable::Input,
            json!({"i": 3, "n": -2, "d": 0.5, "w": 2.0, "s": "abc", "e": "", "t": true, "f": false, "z": null,
                   "l": [1, 2, 3], "ls": ["a", "b"], "m": {"a": 1, "b": "x"}, "mixed": [1, "a", 1.5, null, true]}),
        ),
        (
            Variable::Steps,
            json!([{"output": {"score": 0.5, "ok": true}}, {"output": {"score": 0.9}}]),
        ),
        (
            Variable::Output,
            json!({"confidence": 0.9, "tags": ["x", "y"], "n": 7}),
        ),
    ]
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Answer {
    True,
    False,
    Error,
}

fn ours(text: &str) -> Option<Answer> {
    let condition = Condition::compile(text, Variables::GATE, ConditionLimits::RULE).ok()?;
    let documents = documents();
    let context = documents
        .iter()
        .fold(Context::new(), |context, (variable, value)| {
            context.with(*variable, value)
        });
    Some(match condition.evaluate(&context, &mut Fuel::default()) {
        Ok(true) => Answer::True,
        Ok(false) => Answer::False,
        Err(_) => Answer::Error,
    })
}

fn oracle(text: &str) -> Option<Answer> {
    let program = cel::Program::compile(text).ok()?;
    let mut context = cel::Context::default();
    for (variable, value) in documents() {
        context.add_variable_from_value(variable.name(), oracle_value(&value));
    }
    Some(match program.execute(&context) {
        Ok(cel::Value::Bool(true)) => Answer::True,
        Ok(cel::Value::Bool(false)) => Answer::False,
        Ok(_) | Err(_) => Answer::Error,
    })
}

/// The documents as we see them: whole numbers are ints. (The crate's own conversion makes them uints.)
fn oracle_value(json: &Json) -> cel::Value {
    match json {
        Json::Null => cel::Value::Null,
        Json::Bool(value) => cel::Value::Bool(*value),
        Json::Number(number) => match number.as_i64() {
            Some(value) => cel::Value::Int(value),
            None => cel::Value::Float(number.as_f64().unwrap()),
        },
        Json::String(text) => text.as_str().into(),
        Json::Array(items) => items.iter().map(oracle_value).collect::<Vec<_>>().into(),
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), oracle_value(value)))
            .collect::<HashMap<_, _>>()
            .into(),
    }
}

fn pick(choices: &'static [&'static str]) -> BoxedStrategy<String> {
    proptest::sample::select(choices).prop_map(str::to_owned).boxed()
}

/// Expressions of every kind, mostly of fitting types and sometimes not.
#[derive(Clone)]
struct Layer {
    truth: BoxedStrategy<String>,
    number: BoxedStrategy<String>,
    text: BoxedStrategy<String>,
    list: BoxedStrategy<String>,
}

impl Layer {
    fn leaves() -> Self {
        Self {
            truth: pick(&[
                "true",
                "false",
                "input.t",
                "input.f",
                "input.missing",
                "has(input.i)",
                "has(input.q)",
            ]),
            number: pick(&[
                "0",
                "1",
                "2",
                "3",
                "-1",
                "0u",
                "1u",
                "0.5",
                "2.0",
                "-0.5",
                "input.i",
                "input.n",
                "input.d",
                "input.w",
                "output.n",
                "output.confidence",
                "9223372036854775807",
                "input.missing",
                "input.m.a",
                "0x1f",
                "1e3",
            ]),
            text: pick(&[
                "''",
                "'a'",
                "'abc'",
                "\"b\"",
                "r'\\d'",
                "input.s",
                "input.e",
                "input.m.b",
                "'é'",
                "'\\x61\\n'",
                "'''q'''",
                "input.ls[0]",
                "input.missing",
            ]),
            list: pick(&[
                "[]",
                "[1, 2]",
                "input.l",
                "input.ls",
                "['a', 'b']",
                "input.mixed",
                "output.tags",
                "[1, 1.0, 'a']",
            ]),
        }
    }

    fn any(&self) -> BoxedStrategy<String> {
        prop_oneof![
            4 => self.number.clone(),
            3 => self.text.clone(),
            2 => self.truth.clone(),
            1 => self.list.clone(),
            1 => pick(&["null", "input.z", "input.m", "{}", "{'a': 1}", "int", "type(1)", "b'a'"]),
        ]
        .boxed()
    }

    fn next(&self) -> Self {
        let (truth, number, text, list, any) = (
            self.truth.clone(),
            self.number.clone(),
            self.text.clone(),
            self.list.clone(),
            self.any(),
        );
        let relation = pick(&["==", "!=", "<", "<=", ">", ">="]);
        let equality = pick(&["==", "!="]);
        let logic = pick(&["&&", "||"]);
        let sums = pick(&["+", "-", "*", "/", "%"]);
        let element = pick(&[
            "x",
            "x == 1",
            "x > 1",
            "x == 'a'",
            "x != null",
            "x + 1 > 2",
            "2 / x == 1",
            "x in input.l",
            "type(x) == int",
        ]);
        let macros = pick(&["all", "exists", "exists_one"]);
        // T6: what cannot be a key is an error, not an absence.
        let maps = pick(&[
            "{'a': 1}",
            "{1: 'x', true: 2}",
            "{2u: 1, 'abc': 2}",
            "input.m",
            "{}",
        ]);
        Self {
            truth: prop_oneof![
                2 => truth.clone(),
                4 => (number.clone(), relation.clone(), number.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                2 => (text.clone(), relation.clone(), text.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                2 => (any.clone(), equality, any.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                1 => (any.clone(), relation, any.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                4 => (truth.clone(), logic, truth.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                2 => truth.clone().prop_map(|a| format!("!{a}")),
                2 => (truth.clone(), truth.clone(), truth.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
                2 => (any.clone(), list.clone()).prop_map(|(a, l)| format!("({a} in {l})")),
                2 => (any.clone(), maps).prop_map(|(a, m)| format!("({a} in {m})")),
                2 => (list.clone(), macros, element.clone()).prop_map(|(l, m, e)| format!("{l}.{m}(x, {e})")),
                2 => (text.clone(), pick(&["contains", "startsWith", "endsWith"]), text.clone())
                    .prop_map(|(a, f, b)| format!("{a}.{f}({b})")),
                1 => text.clone().prop_map(|a| format!("{a}.matches('^a.?')")),
            ]
            .boxed(),
            number: prop_oneof![
                2 => number.clone(),
                4 => (number.clone(), sums, number.clone()).prop_map(|(a, o, b)| format!("({a} {o} {b})")),
                1 => number.clone().prop_map(|a| format!("-({a})")),
                1 => any.clone().prop_map(|a| format!("size({a})")),
                1 => list.clone().prop_map(|a| format!("{a}.size()")),
                1 => (truth.clone(), number.clone(), number.clone()).prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
                1 => (list.clone(), number.clone()).prop_map(|(l, n)| format!("{l}[{n}]")),
                1 => (pick(&["int", "uint", "double"]), number.clone()).prop_map(|(f, n)| format!("{f}({n})")),
            ]
            .boxed(),
            text: prop_oneof![
                3 => text.clone(),
                2 => (text.clone(), text.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
                1 => any.clone().prop_map(|a| format!("string({a})")),
            ]
            .boxed(),
            list: prop_oneof![
                3 => list.clone(),
                2 => (list.clone(), element.clone()).prop_map(|(l, e)| format!("{l}.filter(x, {e})")),
                1 => (list.clone(), element.clone()).prop_map(|(l, e)| format!("{l}.map(x, {e})")),
                1 => (list.clone(), list.clone()).prop_map(|(a, b)| format!("({a} + {b})")),
                1 => (any.clone(), any.clone()).prop_map(|(a, b)| format!("[{a}, {b}]")),
            ]
            .boxed(),
        }
    }
}

struct Different {
    example: &'static str,
    ours: Option<Answer>,
    oracle: Option<Answer>,
    reason: &'static str,
}

/// The differences that are meant. Generated expressions stay clear of them.
const DIFFERENT: &[Different] = &[
    Different {
        example: "9007199254740993 == 9007199254740992.0",
        ours: Some(Answer::False),
        oracle: Some(Answer::True),
        reason: "numbers are compared on one number line; the oracle rounds the integer to a double first",
    },
    Different {
        example: r"'१'.matches('^\\d$')",
        ours: Some(Answer::False),
        oracle: Some(Answer::True),
        reason: "patterns are RE2's, where \\d is ASCII",
    },
    Different {
        example: "'x'.matches('(')",
        ours: None,
        oracle: Some(Answer::Error),
        reason: "a literal pattern is compiled with the condition, so that a bad one is refused at creation",
    },
    Different {
        example: "false && 1",
        ours: None,
        oracle: Some(Answer::False),
        reason: "an operand that can never be a boolean is refused, as CEL's checker does",
    },
    Different {
        example: "input.`i` == 3",
        ours: Some(Answer::True),
        oracle: None,
        reason: "quoted field names are newer than the oracle",
    },
    Different {
        example: "[1].all(x, [1].all(y, true))",
        ours: None,
        oracle: Some(Answer::True),
        reason: "comprehensions do not nest: their cost would be a product",
    },
];

#[test]
fn every_intended_difference_is_one() {
    for different in DIFFERENT {
        let reason = different.reason;
        assert_eq!(
            ours(different.example),
            different.ours,
            "{}: {reason}",
            different.example
        );
        assert_eq!(
            oracle(different.example),
            different.oracle,
            "{}: {reason}",
            different.example
        );
    }
}

/// Times are not generated: most texts are none.
#[test]
fn times_have_the_answer_of_the_oracle() {
    for text in [
        "timestamp('2020-01-01T00:00:00Z') == timestamp('2020-01-01T00:00:00Z')",
        "timestamp('2020-01-01T00:00:00Z') < timestamp('2021-01-01T00:00:00Z')",
        "timestamp('2020-01-01T02:00:00+02:00') == timestamp('2020-01-01T00:00:00Z')",
        "duration('1h30m') == duration('90m')",
        "duration('1s') > duration('1m')",
        "timestamp('2020-01-01T00:00:00Z') + duration('1h') == timestamp('2020-01-01T01:00:00Z')",
        "timestamp('2020-01-01T01:00:00Z') - duration('1h') == timestamp('2020-01-01T00:00:00Z')",
        "timestamp('2020-01-01T01:00:00Z') - timestamp('2020-01-01T00:00:00Z') == duration('1h')",
    ] {
        assert_eq!(ours(text), oracle(text), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn generated_expressions_have_the_answer_of_the_oracle(text in Layer::leaves().next().next().truth) {
        prop_assume!(text.len() < 600);
        let ours = ours(&text);
        prop_assert!(ours.is_some(), "{} does not compile", text);
        prop_assert_eq!(ours, oracle(&text), "{}", text);
    }
}
