//! Hostile rules end in an error of their budget, quickly and within 64 MiB.

#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)]

use mizzen_rules::{Budget, Exhausted, Fact, Program, RuleErrorKind, RunError, Session, Value, When};
use std::time::Duration;

/// Processor time of this thread: the machine may be busy with other tests.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    Duration::from_nanos(
        text.split_whitespace()
            .next()
            .and_then(|number| number.parse().ok())
            .unwrap_or(0),
    )
}

/// That it ends at all, and not how fast: the benchmarks hold the time (`cargo bench -p mizzen-bench -- packs`), on a machine
/// that is not busy with other tests.
const LIMIT: Duration = Duration::from_secs(30);

fn measured<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let before = processor_time();
    let result = work();
    let spent = processor_time().saturating_sub(before);
    println!("{what}: {spent:?}");
    assert!(spent < LIMIT, "{what} took {spent:?}");
    result
}

fn exhausted(text: &str, facts: impl IntoIterator<Item = Fact>) -> RunError {
    let program = Program::parse(text).unwrap_or_else(|error| panic!("{text}\n{error}"));
    let facts: Vec<Fact> = facts.into_iter().collect();
    let name: String = text.chars().take(50).collect();
    let result = measured(&name, || {
        let mut session = Session::new(&program, Budget::default())?;
        for fact in facts {
            session.assert(fact)?;
        }
        session.run()
    });
    match result {
        Ok(report) => panic!("{name} ends after {} firings", report.firings.len()),
        Err(error) => error,
    }
}

fn numbers(name: &'static str, count: i64) -> impl Iterator<Item = Fact> {
    (0..count).map(move |number| Fact::ordered(name, vec![Value::Integer(number)]))
}

fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or_default();
    line.split_whitespace()
        .nth(1)
        .and_then(|number| number.parse::<u64>().ok())
        .unwrap_or(0)
        * 1024
}

/// One test, so that the peak of the process is that of one case at a time.
#[test]
fn hostile_rules_end_in_a_budget_error_within_time_and_memory() {
    let base = peak_memory();
    let crosses = [
        "(defrule r (a ?x) (a ?y) => (assert (b)))",
        "(defrule r (a ?x) (a ?y) (a ?z) (a ?w) => (assert (b)))",
        "(defrule r (a ?x) (a ?y&:(> ?y ?x)) => (assert (b)))",
        "(defrule r (a ?x) (not (a ?y&:(> ?y ?x))) => (assert (b)))",
        "(defrule r (exists (and (a ?x) (a ?y) (test (> ?x (+ ?y 20000))))) => (assert (b)))",
        "(defrule r (forall (a ?x) (a ?y&:(> ?y ?x))) => (assert (b)))",
        "(defrule r (a ?x) (a ?y) (test (= (+ ?x ?y) -1)) => (assert (b)))",
    ];
    for text in crosses {
        let error = exhausted(text, numbers("a", 9_990));
        assert!(
            matches!(
                error,
                RunError::Exhausted(Exhausted::Operations(_) | Exhausted::Activations(_))
            ),
            "{text}: {error}"
        );
    }
    let loops = [
        (
            "(defrule r ?f <- (n ?x) => (retract ?f) (assert (n (+ ?x 1)))) (deffacts d (n 0))",
            "cycles",
        ),
        (
            "(defrule r (n ?x) => (assert (n (+ ?x 1)))) (deffacts d (n 0))",
            "cycles",
        ),
        (
            "(defrule r (n $?x) => (assert (n $?x $?x))) (deffacts d (n a))",
            "values",
        ),
        (
            "(defrule r (n ?x) => (assert (n (str-cat ?x ?x)))) (deffacts d (n \"aaaaaaaa\"))",
            "text",
        ),
        (
            "(defrule a ?f <- (a) => (retract ?f) (assert (b))) (defrule b ?f <- (b) => (retract ?f) (assert (a))) (deffacts d (a))",
            "cycles",
        ),
        (
            "(deftemplate t (slot n)) (defrule r ?f <- (t (n ?x)) => (modify ?f (n (+ ?x 1)))) (deffacts d (t (n 0)))",
            "cycles",
        ),
        (
            "(defrule r (n ?x) (n ?y) => (assert (n (mod (+ ?x (* 3 ?y) 1) 100003)))) (deffacts d (n 1) (n 2))",
            "many",
        ),
        (
            "(defrule r (n $? ?x $?) (n $? ?y $?) => (assert (n ?x ?y ?x (+ ?x ?y)))) (deffacts d (n 1 2 3 4 5 6 7 8 9))",
            "many",
        ),
    ];
    for (text, kind) in loops {
        let error = exhausted(text, []);
        match kind {
            "cycles" => assert!(
                matches!(error, RunError::Exhausted(Exhausted::Cycles(64))),
                "{text}: {error}"
            ),
            "many" => assert!(matches!(error, RunError::Exhausted(_)), "{text}: {error}"),
            "text" => assert!(
                matches!(error, RunError::Exhausted(Exhausted::Text(_))),
                "{text}: {error}"
            ),
            _ => assert!(
                matches!(error, RunError::Exhausted(Exhausted::Values(_))),
                "{text}: {error}"
            ),
        }
    }
    let long = "a".repeat(60_000);
    let text = "(defrule r (t ?x&:(matches ?x \"(a?){60}a{60}(x+x+)+y\")) => (assert (b)))";
    let error = exhausted(text, [Fact::ordered("t", vec![Value::string(&long)])]);
    assert!(
        matches!(error, RunError::Exhausted(Exhausted::Operations(_))),
        "{error}"
    );
    let dynamic = "(defrule r (t ?x) (p ?p&:(matches ?x ?p)) => (assert (b)))";
    let patterns =
        (0..1000).map(|n| Fact::ordered("p", vec![Value::string(&format!("(a|b){{{}}}c{n}", n % 50))]));
    let error = exhausted(
        dynamic,
        std::iter::once(Fact::ordered("t", vec![Value::string("aaaa")])).chain(patterns),
    );
    assert!(
        matches!(error, RunError::Exhausted(Exhausted::Operations(_))),
        "{error}"
    );
    let giant = Fact::ordered("p", vec![Value::string("(a{1000}){1000}")]);
    let error = exhausted(dynamic, [Fact::ordered("t", vec![Value::string("aaaa")]), giant]);
    assert!(
        matches!(error, RunError::Exhausted(Exhausted::Pattern(_))),
        "{error}"
    );
    let many = exhausted("(defrule r (a) => (assert (b)))", numbers("a", 10_001));
    assert!(
        matches!(many, RunError::Exhausted(Exhausted::Facts(10_000))),
        "{many}"
    );
    // A match for every place of every fact: once, each had a copy of the values on both sides.
    let long = || {
        (0..10).map(|n| {
            Fact::ordered(
                "w",
                (0..2_901).map(|value| Value::Integer(value * 10 + n)).collect(),
            )
        })
    };
    let splits = [
        "(defrule r (w $?a ?x $?b) => (assert (b ?x $?a)))",
        "(defrule r (w $?a ?x $?b) (w $?b ?x $?a) => (assert (b)))",
        "(defrule r (w $?a ?x $?b) (not (w $?b ?x $?a)) => (assert (b)))",
        "(defrule r (w $?a ?x $?b) (v ?x) => (assert (b)))
         (defrule s (w $?a ?x ?y $?b) (v ?y ?x) => (assert (b)))
         (defrule t (w $?a ?x ?y ?z $?b) (v ?y ?z) => (assert (b)))
         (defrule u (w $?a ?x ? ?y $?b) (v ?y ?x) => (assert (b)))",
    ];
    for text in splits {
        let error = exhausted(text, long());
        assert!(
            matches!(
                error,
                RunError::Exhausted(Exhausted::Operations(_) | Exhausted::Matches(_))
            ),
            "{text}: {error}"
        );
    }
    let wide =
        (0..5000).map(|n| Fact::ordered("w", vec![Value::string(&format!("{n}{}", "x".repeat(20_000)))]));
    let error = exhausted("(defrule r (w ?x) => (assert (b)))", wide.take(2000));
    assert!(matches!(error, RunError::Exhausted(_)), "{error}");
    let used = peak_memory().saturating_sub(base);
    // The facts of the tests themselves (40 MB of text in the last case) are part of the peak.
    assert!(used < (64 + 44) * 1024 * 1024, "{} MiB", used / 1024 / 1024);
}

#[test]
fn hostile_texts_are_refused_quickly() {
    let nested = "(".repeat(300) + "a" + &")".repeat(300);
    let regexes = [
        ("(a{1000}){1000}", RuleErrorKind::Budget),
        ("a{99999}", RuleErrorKind::Budget),
        ("((((a{90}){90}){90}){90})", RuleErrorKind::Budget),
        (&nested, RuleErrorKind::Budget),
        // Not too much, only wrong.
        ("(((", RuleErrorKind::Refused),
    ];
    for (pattern, kind) in regexes {
        let text = format!("(t ?x&:(matches ?x \"{pattern}\"))");
        measured(pattern, || {
            assert_eq!(When::compile(&text).unwrap_err().kind, kind, "{pattern}");
        });
    }
    let rule = |pattern: &str| format!("(defrule r {pattern} => (assert (b)))");
    let nests = [
        "(".repeat(4096),
        "(a ".repeat(1365),
        rule(&("(not ".repeat(512) + "(a)" + &")".repeat(512))),
        rule(&format!("(a ?x&:{}?x{})", "(not ".repeat(512), ")".repeat(512))),
        rule(&"(a)".repeat(17)),
        rule(&"(or (a) (b))".repeat(6)),
        format!(
            "(deftemplate t {})",
            (0..65).map(|n| format!("(slot s{n})")).collect::<String>()
        ),
        (0..1001).map(|n| format!("(deffacts f{n} (a))")).collect(),
        " ".repeat(256 * 1024 + 1),
        // Every part is small, and there are very many.
        (0..990)
            .map(|n| format!("(defrule r{n} {} =>)", "(or (a ?x) (b ?x))".repeat(5)))
            .collect(),
        (0..990)
            .map(|n| format!("(defrule r{n} (t ?x&:(matches ?x \"(a|b){{90}}c{n}\")) =>)"))
            .collect(),
        format!(
            "(deffacts d {})",
            (0..4_000)
                .map(|n| format!("(t (matches \"a\" \"(a|b){{90}}c{n}\"))"))
                .collect::<String>()
        ),
    ];
    for text in nests {
        let name: String = text.chars().take(20).collect();
        measured(&name, || {
            let error = Program::parse(&text).unwrap_err();
            assert_eq!(
                (error.kind, error.kind.code()),
                (RuleErrorKind::Budget, "BUDGET_EXHAUSTED"),
                "{error}"
            );
            assert!(error.message.contains("budget"), "{error}");
        });
    }
    let texts = [
        "(".repeat(4096),
        ")".repeat(4096),
        "(a ".repeat(1365),
        format!("(a ?x&:{}", "(not ".repeat(600)),
        format!("(a {})", "~".repeat(4000)),
        format!("(a {}b)", "c|".repeat(2000)),
        "(not ".repeat(800),
        format!("{}(a){}", "(not ".repeat(31), ")".repeat(31)),
        format!("{}(a){}", "(exists ".repeat(31), ")".repeat(31)),
        format!("{}(a){}", "(or (b) ".repeat(31), ")".repeat(31)),
        format!("{{{}}}", "a: b, ".repeat(600)),
        format!("(a {})", "$?x ".repeat(1000)),
        format!("(a {})", "?x ".repeat(1300)),
        "\"".repeat(4095),
        ";".repeat(4096),
        "?".repeat(4096),
        "🦀".repeat(1024),
        "(a".to_owned() + &" 1".repeat(2000) + ")",
    ];
    for text in texts {
        let name: String = text.chars().take(20).collect();
        measured(&name, || {
            if let Ok(when) = When::compile(&text) {
                let facts = (0..100).map(|n| Fact::ordered("a", vec![Value::Integer(n)]));
                let _ = when.evaluate(facts, Budget::default());
            }
            let _ = Program::parse(&text);
        });
    }
}
