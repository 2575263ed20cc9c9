//! Hostile rules end in a budget error, in the real sandbox with the real budget and within 64 MiB. How long they take is
//! a row of the benchmarks (`cargo bench -p mizzen-bench -- packs`): a test that measures time fails on a busy machine.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_builder::pack::PackProjectError;
use mizzen_engine::Outcome;
use mizzen_engine::pack::PackFailure;
use mizzen_isolation::{HOSTILE_RULES, build_rules, hostile_facts, load, refused_rules};
use mizzen_sandbox::{Sandbox, Settings};
use semver::VersionReq;
use std::sync::Arc;

/// As `ops::runs` gives it to every pack.
const BUDGET: u64 = 1_000_000;

#[tokio::test(flavor = "multi_thread")]
async fn hostile_rules_end_in_a_budget_error_within_64_mib() {
    let folder = tempfile::tempdir().unwrap();
    let sandbox = Arc::new(Sandbox::start(Settings::default()).unwrap());
    let file = build_rules("hostile", HOSTILE_RULES, folder.path()).unwrap();
    let toolbox = load(&sandbox, vec![file]).await.unwrap();
    let pack = toolbox.pack("hostile", &VersionReq::STAR).unwrap();
    for case in hostile_facts() {
        let (verdict, usage) = pack.evaluate_measured(case.facts.clone(), BUDGET).await;
        let Err(PackFailure::Ended {
            outcome: Outcome::ToolError(error),
            ..
        }) = verdict
        else {
            panic!("{}: {verdict:?}", case.name);
        };
        let message = format!("{error:?}");
        assert!(
            message.contains(case.ends) && message.contains(case.says),
            "{}: {message}",
            case.name
        );
        let peak = usage.unwrap().peak_memory;
        println!("{}: {} MiB", case.name, peak >> 20);
        assert!(peak <= 64 << 20, "{}: {peak} bytes", case.name);
    }
}

#[test]
fn nests_and_giant_expressions_make_no_pack_and_are_budget_errors() {
    let folder = tempfile::tempdir().unwrap();
    for (at, (what, rules)) in refused_rules().into_iter().enumerate() {
        let made = build_rules(&format!("refused{at}"), &rules, folder.path());
        let error = made.expect_err(what);
        let kind = match error.downcast_ref() {
            Some(PackProjectError::Rules { errors, .. }) => errors[0].kind.code(),
            _ => panic!("{what}: {error}"),
        };
        assert_eq!(kind, "BUDGET_EXHAUSTED", "{what}: {error}");
    }
}
