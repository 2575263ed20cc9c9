//! Graphs against a scripted sandbox: one file per case in `tests/graphs`, and properties over all of them.
#![allow(clippy::disallowed_methods, reason = "a test may read files and the clock")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod host;
mod script;

use mizzen_engine::run::Run;
use script::{Case, cases};
use std::collections::BTreeSet;

#[test]
fn every_case_ends_as_it_says() {
    let cases = cases();
    assert!(cases.len() >= 40, "only {} cases were found", cases.len());
    for case in &cases {
        case.check();
    }
}

#[test]
fn the_cases_show_every_action_strategy_and_decision() {
    let shown: BTreeSet<String> = cases().iter().flat_map(Case::shows).collect();
    let all = [
        "goto",
        "halt",
        "parallel",
        "retry",
        "assert",
        "retract",
        "interrupt",
        "strategy all",
        "strategy any",
        "strategy race",
        "strategy quorum",
        "strategy quorum:2",
        "D13",
        "D14",
        "D15",
        "D16",
        "D17",
        "D29",
        "D32",
        "D33",
        "D37",
        "D39",
    ];
    for one in all {
        assert!(shown.contains(one), "no case shows {one}");
    }
}

#[test]
fn a_run_made_again_from_its_events_is_the_same_run() {
    for case in cases().iter().filter(|case| !case.is_refused()) {
        let played = case.play();
        for kept in 0..=played.events.len() {
            let (mut run, _) = Run::start(case.plan().unwrap(), case.start());
            let (mut other, _) = Run::start(case.plan().unwrap(), case.start());
            for (event, now_ms) in &played.events[..kept] {
                run.handle(event.clone(), *now_ms);
                other.handle(event.clone(), *now_ms);
                // An event that comes twice, or late, changes nothing.
                assert_eq!(
                    other.handle(event.clone(), *now_ms),
                    [],
                    "{}: {event:?}",
                    case.name
                );
            }
            assert_eq!(run.result(), other.result(), "{}", case.name);
            assert_eq!(run.pending(), other.pending(), "{}", case.name);
            let result = run.result();
            if result.status.is_final() {
                assert!(
                    run.pending().is_empty() && run.wake_at_ms().is_none(),
                    "{}",
                    case.name
                );
                assert_eq!(
                    result.error.is_none(),
                    result.status.as_str() == "completed",
                    "{}",
                    case.name
                );
            }
            let text = serde_json::to_string(result).unwrap();
            let again: mizzen_model::execution::ChainExecutionResult = serde_json::from_str(&text).unwrap();
            assert_eq!(again, *result, "{}", case.name);
        }
    }
}
