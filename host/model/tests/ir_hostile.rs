//! Input of any size and depth is answered with an error or a document, in time that grows with its size and no faster.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(clippy::unwrap_used, reason = "a helper of a test may fail the test")]

use mizzen_model::ir::{Options, dumps_canonical, graph_hash, inspect, validate};
use std::time::{Duration, Instant};

/// Generous for a debug build on a busy machine, far too short for anything quadratic on these inputs.
const PATIENCE: Duration = Duration::from_secs(240);

fn timed<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let value = work();
    assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
    value
}

fn first_code(text: &str) -> &'static str {
    timed(|| validate(text))
        .first()
        .map_or("valid", |error| error.code)
}

fn wrap(sections: &str) -> String {
    format!(r#"{{"ir_version":"1.0.0","id":"g","nodes":[]{sections}}}"#)
}

fn with_payload(payload: &str) -> String {
    wrap(&format!(
        r#","rules":[{{"id":"r","then":[{{"kind":"interrupt","prompt":"p","interrupt_payload":{payload}}}]}}]"#
    ))
}

#[test]
fn a_hundred_thousand_nodes_are_validated_hashed_and_linted() {
    let nodes: Vec<String> = (0..100_000)
        .map(|n| format!(r#"{{"id":"node-{n}","kind":"echo"}}"#))
        .collect();
    let text = format!(
        r#"{{"ir_version":"1.0.0","id":"g","nodes":[{}]}}"#,
        nodes.join(",")
    );
    let inspection = timed(|| inspect(&text, Options::default()));
    let document = inspection.document.unwrap();
    assert_eq!((document.nodes.len(), inspection.warnings.len()), (100_000, 0));
    assert_eq!(timed(|| graph_hash(&document)).len(), 64);
    assert_eq!(dumps_canonical(&document).len(), text.len());
}

#[test]
fn a_hundred_thousand_faults_are_counted_and_the_first_ten_thousand_reported() {
    for (node, code) in [
        (r#"{"id":"Bad","kind":"x"}"#, "slug_invalid"),
        (r#"{"id":"a","kind":1}"#, "string_type"),
    ] {
        let text = format!(
            r#"{{"ir_version":"1.0.0","id":"g","nodes":[{}]}}"#,
            vec![node; 100_000].join(",")
        );
        let inspection = timed(|| inspect(&text, Options::default()));
        assert_eq!((inspection.errors.len(), inspection.dropped), (10_000, 90_000));
        assert_eq!(inspection.errors.last().unwrap().code, code);
        assert!(inspection.errors.last().unwrap().path.starts_with("/nodes/9999/"));
    }
}

#[test]
fn a_hundred_thousand_suspicions_are_bounded() {
    let actions = vec![r#"{"kind":"goto","target":"nowhere"}"#; 100_000].join(",");
    let text = wrap(&format!(r#","rules":[{{"id":"r","then":[{actions}]}}]"#));
    let inspection = timed(|| inspect(&text, Options::default()));
    assert_eq!(inspection.errors, []);
    assert_eq!(inspection.warnings.len(), 1_000);
}

/// Reading a condition costs much more than its bytes, so only so much of it is looked at.
#[test]
fn megabytes_of_conditions_and_of_names_like_them_are_bounded() {
    let when = "(or (a ?x) (b ?x))".repeat(5) + &"(a ?x ?y ?z $?w)".repeat(6);
    let rules: Vec<String> = (0..30_000)
        .map(|n| format!(r#"{{"id":"r{n}","when":"{when}","then":[{{"kind":"halt"}}]}}"#))
        .collect();
    let fields: Vec<String> = (0..50_000).map(|n| format!(r#""b{n}":"int""#)).collect();
    let text = wrap(&format!(
        r#","rules":[{}],"state_schema":{{{}}}"#,
        rules.join(","),
        fields.join(",")
    ));
    let inspection = timed(|| inspect(&text, Options::default()));
    assert!(inspection.document.is_some());
    assert!(inspection.warnings.len() <= Options::default().warnings);
}

#[test]
fn nesting_is_bounded_everywhere() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        assert_eq!(first_code(&deep), "too_deep");
        assert_eq!(
            first_code(&with_payload(&format!("{{\"a\":{deep}}}"))),
            "too_deep"
        );
        assert_eq!(first_code(&open.repeat(100_000)), "too_deep");
        let honest = format!("{{\"a\":{}0{}}}", open.repeat(900), close.repeat(900));
        assert_eq!(first_code(&with_payload(&honest)), "valid");
    }
}

#[test]
fn ten_megabytes_of_anything_are_answered() {
    let size = 10_000_000;
    assert_eq!(
        first_code(&wrap(&format!(r#","state_class":"{}""#, "x".repeat(size)))),
        "valid"
    );
    assert_eq!(
        first_code(&wrap(&format!(
            r#","state_class":"{}""#,
            "\\u00e9".repeat(size / 6)
        ))),
        "valid"
    );
    assert_eq!(
        first_code(&with_payload(&format!("{{\"n\":{}}}", "9".repeat(size)))),
        "valid"
    );
    assert_eq!(
        first_code(&format!("\"{}", "x".repeat(size))),
        "unterminated_string"
    );
    assert_eq!(first_code(&" ".repeat(size)), "unexpected_end");
    assert_eq!(first_code(&"[".repeat(size)), "too_deep");
    assert_eq!(first_code(&"9".repeat(size)), "model_type");
    assert_eq!(
        first_code(&format!("[{}]", "0,".repeat(size / 2))),
        "trailing_comma"
    );
    assert_eq!(
        first_code(&wrap(&format!(r#","{}":1"#, "k".repeat(size)))),
        "extra_forbidden"
    );
}

#[test]
fn more_than_the_limit_is_refused_before_it_is_read() {
    let text = " ".repeat(Options::default().json.bytes + 1);
    assert_eq!(first_code(&text), "too_large");
}

#[test]
fn repeated_keys_count_once_and_the_last_one_wins() {
    let many = format!(r#","zz":1{}"#, r#","zz":2"#.repeat(500_000));
    let errors = timed(|| validate(&wrap(&many)));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].path, "/zz");
    assert_eq!(
        first_code(&wrap(&format!(
            "{},\"id\":\"last\"",
            r#","id":5"#.repeat(500_000)
        ))),
        "valid"
    );
    assert_eq!(
        first_code(&wrap(&format!(
            r#","state_schema":{{{}"k":"v"}}"#,
            r#""k":1,"#.repeat(500_000)
        ))),
        "valid"
    );
    let kinds = r#"{"kind":"goto","target":"a","kind":"halt","kind":"goto"}"#;
    assert_eq!(
        first_code(&wrap(&format!(r#","rules":[{{"id":"r","then":[{kinds}]}}]"#))),
        "valid"
    );
}

#[test]
fn many_distinct_unknown_keys_take_linear_time() {
    let keys: Vec<String> = (0..200_000).map(|n| format!(r#","k{n}":0"#)).collect();
    let inspection = timed(|| inspect(&wrap(&keys.concat()), Options::default()));
    assert_eq!((inspection.errors.len(), inspection.dropped), (10_000, 190_000));
}

#[test]
fn numbers_that_cannot_be_held_are_parse_errors() {
    let check = |payload: &str, code: &str| assert_eq!(first_code(&with_payload(payload)), code, "{payload}");
    check(r#"{"a":1e400}"#, "number_out_of_range");
    check(r#"{"a":-1e999999999999}"#, "number_out_of_range");
    check(r#"{"a":1e-400}"#, "valid");
    check(r#"{"a":NaN}"#, "not_a_number");
    check(r#"{"a":-Infinity}"#, "not_a_number");
    check(&format!(r#"{{"a":0.{}1}}"#, "0".repeat(100_000)), "valid");
}

#[test]
fn what_an_error_repeats_of_the_input_is_short() {
    let long = "x".repeat(1_000_000);
    for text in [
        wrap(&format!(r#","tools":"{long}""#)),
        wrap(&format!(
            r#","parallel":[{{"targets":[{}]}}]"#,
            "1".repeat(100_000)
        )),
        long.clone(),
    ] {
        for error in validate(&text) {
            assert!(error.actual.unwrap_or_default().chars().count() <= 83);
            assert!(error.hint.len() < 500 && error.expected.len() < 500);
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_reported_where_it_stands() {
    let check = |text: String, path: &str| {
        let errors = validate(&text);
        let seen: Vec<(&str, &str)> = errors
            .iter()
            .map(|error| (error.code, error.path.as_str()))
            .collect();
        assert_eq!(seen, [("string_unicode", path)], "{text}");
        let span = errors[0].span.unwrap();
        assert!(text[span.start..span.end].contains("\\ud"), "{text}");
    };
    check(
        r#"{"ir_version":"1.0.0","id":"a\ud800","nodes":[]}"#.to_owned(),
        "/id",
    );
    check(wrap(r#","state_schema":{"a":"\udc00x"}"#), "/state_schema/a");
    check(wrap(r#","state_schema":{"\udc00":"x"}"#), "/state_schema");
    check(
        with_payload(r#"{"a":["\ud800"]}"#),
        "/rules/0/then/0/interrupt_payload",
    );
    check(
        with_payload(r#"{"\udfff":1}"#),
        "/rules/0/then/0/interrupt_payload",
    );
}
