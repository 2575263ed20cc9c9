#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]

use super::*;
use std::time::{Duration, Instant};

/// Runs on the stack of a small thread: what overflows here would abort the host.
fn on_small_stack<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new()
        .stack_size(512 * 1024)
        .spawn(work)
        .unwrap()
        .join()
        .unwrap()
}

fn refused(text: &str, wanted: &str) {
    let text = text.to_owned();
    let wanted = wanted.to_owned();
    let started = Instant::now();
    on_small_stack(move || {
        let error = Condition::compile_rule(&text).unwrap_err();
        let short: String = text.chars().take(60).collect();
        assert!(error.message.contains(&wanted), "{short}: {error}");
        assert!(Condition::compile_gate(&text).is_err());
    });
    assert!(
        started.elapsed() < Duration::from_millis(500),
        "{:?}",
        started.elapsed()
    );
}

fn accepted(text: String) {
    on_small_stack(move || {
        let condition = Condition::compile(&text, Variables::GATE, ConditionLimits::RULE).unwrap();
        let _ = evaluate(&condition);
        drop(condition);
    });
}

#[test]
fn too_large_texts_are_refused_at_their_limit() {
    let long = |length: usize| format!("{}true", " ".repeat(length - 4));
    assert!(Condition::compile_gate(&long(2048)).is_ok());
    assert!(Condition::compile_gate(&long(2049)).is_err());
    assert!(Condition::compile_rule(&long(4096)).is_ok());
    assert!(Condition::compile_rule(&long(4097)).is_err());
    let wide = format!("'{}' == ''", "é".repeat(2000));
    assert!(
        Condition::compile_gate(&wide).is_ok(),
        "the limit counts characters, not bytes"
    );
    refused(&"x".repeat(10_000_000), "characters at most");
}

#[test]
fn chains_and_nests_beyond_the_limits_are_refused_and_within_them_fit_a_small_stack() {
    refused(&vec!["1"; 2048].join("+"), "more than 256 operators");
    refused(&"(".repeat(4000), "nested deeper than 32");
    refused(&"[".repeat(4000), "nested deeper than 32");
    refused(&"{".repeat(4000), "nested deeper than 32");
    refused(&"!".repeat(4000), "more than 256 operators");
    refused(&"-".repeat(4000), "more than 256 operators");
    refused(&"true?".repeat(800), "more than 256 operators");
    refused(&format!("input{}", ".a".repeat(2000)), "more than 512 parts");
    refused(&format!("input{}", "[0]".repeat(1300)), "more than 512 parts");
    refused(&"input.a ".repeat(500), "expected an operator");

    accepted(format!("{} == 1", vec!["1"; 255].join("+")));
    accepted(format!("{}true", "!".repeat(256)));
    accepted(format!("{}1 == 1", "-".repeat(255)));
    accepted(format!("{}true", "false?true:".repeat(170)));
    accepted(format!("{}true{}", "(".repeat(32), ")".repeat(32)));
    accepted(format!("{}1{} == 1", "[".repeat(32), "]".repeat(32)));
    accepted(vec!["true"; 257].join("&&"));
    accepted(format!("input{}", ".a".repeat(511)));
    accepted(format!(
        "{}true{}",
        "true||true&&1==1+1*size([".repeat(16),
        "])".repeat(16)
    ));
    accepted(format!("{}1{} == 1", "(1+1*".repeat(32), ")".repeat(32)));
    accepted(format!(
        "{}true{}",
        "(true?false||true&&1==1+1*1||".repeat(32),
        ":true)".repeat(32)
    ));
    accepted(format!("input{} == []", ".map(x,x)".repeat(160)));
}

#[test]
fn comprehensions_do_not_nest() {
    refused("[1].all(x, [1].all(y, true))", "inside another comprehension");
    refused(
        "[1].map(x, [1].map(y, [1].map(z, z))) == []",
        "inside another comprehension",
    );
    accepted("[1].filter(x, x > 0).map(x, x).all(x, x == 1)".to_owned());
}

fn exhausts(text: &str, context: &Context<'_>) {
    let condition = Condition::compile(text, Variables::GATE, ConditionLimits::RULE).unwrap();
    let started = Instant::now();
    let mut fuel = Fuel::default();
    let error = condition.evaluate(context, &mut fuel).unwrap_err();
    assert_eq!(error.kind(), EvalErrorKind::OutOfFuel, "{text}: {error}");
    assert!(
        started.elapsed() < Duration::from_millis(500),
        "{text}: {:?}",
        started.elapsed()
    );
    assert_eq!(fuel.used(), Fuel::DEFAULT);
}

#[test]
fn expensive_evaluations_end_with_the_fuel() {
    let many = Json::from((0..200_000).collect::<Vec<_>>());
    let long = Json::from("a".repeat(2_000_000));
    let context = Context::new()
        .with(Variable::Input, &many)
        .with(Variable::Output, &long);
    exhausts("input.all(x, x >= 0)", &context);
    exhausts("input.exists(x, x < 0) || true", &context);
    exhausts("-1 in input", &context);
    exhausts("input == input", &context);
    exhausts("(input + input).size() > 0", &context);
    exhausts("(output + output + output + output) == ''", &context);
    exhausts("output.contains('b')", &context);
    exhausts("output.size() == 1", &context);
    exhausts(
        &format!("[{}].map(x, x + x).size() == 0", vec!["output"; 100].join(",")),
        &context,
    );
    let doubling = format!(
        "['{}']{}.size() == 1",
        "a".repeat(64),
        ".map(x, x + x)".repeat(40)
    );
    exhausts(&doubling, &context);
    let lists = format!("[[1, 2, 3, 4]]{}.size() == 1", ".map(x, x + x)".repeat(40));
    exhausts(&lists, &context);
}

#[test]
fn expensive_patterns_end_with_the_fuel_or_a_limit() {
    let text = Json::from("a".repeat(60_000));
    let longer = Json::from("a".repeat(70_000));
    let patterns = Json::from((0..200).map(|n| format!("(a|b){{{n}}}c")).collect::<Vec<_>>());
    let context = Context::new()
        .with(Variable::Input, &text)
        .with(Variable::Output, &longer)
        .with(Variable::Steps, &patterns);
    exhausts(r"input.matches('(a?){60}a{60}(x+x+)+y')", &context);
    exhausts("steps.exists(p, input.matches(p))", &context);
    exhausts("steps.exists(p, 'aaaaaaaa'.matches(p))", &context);
    let error = gate("output.matches('b')")
        .evaluate(&context, &mut Fuel::default())
        .unwrap_err();
    assert_eq!(error.kind(), EvalErrorKind::BadPattern);
    for pattern in ["(a{1000}){1000}", "a{99999}", "((((a{90}){90}){90}){90})"] {
        assert!(
            Condition::compile_gate(&format!("input.matches('{pattern}')")).is_err(),
            "{pattern}"
        );
        let dynamic = format!("input.matches('' + '{pattern}')");
        assert_eq!(
            gate(&dynamic)
                .evaluate(&context, &mut Fuel::default())
                .unwrap_err()
                .kind(),
            EvalErrorKind::BadPattern
        );
    }
}

#[test]
fn a_spent_budget_is_never_hidden_by_logic() {
    for text in [
        "[1].all(x, x == 1) || true",
        "true || false",
        "[1, 2, 3].exists(x, x == 3)",
    ] {
        let condition = gate(text);
        let mut whole = Fuel::default();
        condition.evaluate(&Context::new(), &mut whole).unwrap();
        for fuel in 0..whole.used() {
            let error = condition
                .evaluate(&Context::new(), &mut Fuel::new(fuel))
                .unwrap_err();
            assert_eq!(error.kind(), EvalErrorKind::OutOfFuel, "{text} with {fuel}");
        }
        assert!(
            condition
                .evaluate(&Context::new(), &mut Fuel::new(whole.used()))
                .is_ok()
        );
    }
}

#[test]
fn deep_documents_are_compared_without_a_deep_stack() {
    let mut deep = Json::from(1);
    for _ in 0..2000 {
        deep = Json::Array(vec![deep]);
    }
    let answer = on_small_stack(move || {
        let context = Context::new()
            .with(Variable::Input, &deep)
            .with(Variable::Output, &deep);
        let answer = gate("input == output").evaluate(&context, &mut Fuel::default());
        // The test's own document would overflow when it is dropped; that is not what is tested here.
        std::mem::forget(deep);
        answer
    });
    assert!(answer.is_err());
}
