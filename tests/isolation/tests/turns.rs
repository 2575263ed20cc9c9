//! Guests take turns: none keeps a thread to itself, whatever it does with it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

use mizzen_engine::Outcome;
use mizzen_isolation::{build, call, load, root};
use mizzen_ops::toolbox::{CallError, Toolbox};
use mizzen_sandbox::{Sandbox, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::task::JoinSet;

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

fn guest(name: &str) -> PathBuf {
    build(&root().join("tests/guests").join(name), &scratch()).unwrap()
}

/// Two threads for guests, and places enough for everybody.
async fn two_threads(plugins: Vec<PathBuf>) -> Arc<Toolbox> {
    let settings = Settings {
        guest_threads: 2,
        cache: Some(scratch().join("artifacts")),
        ..Settings::default()
    };
    load(&Arc::new(Sandbox::start(settings).unwrap()), plugins)
        .await
        .unwrap()
}

/// The CPU time of a call that was stopped.
async fn stopped(toolbox: Arc<Toolbox>, tool: &'static str) -> Duration {
    let Err(CallError::Refused {
        report: Some(report), ..
    }) = call(&toolbox, tool, json!({})).await
    else {
        panic!("{tool} should have been stopped");
    };
    assert!(
        matches!(report.outcome, Outcome::Deadline(_)),
        "{:?}",
        report.outcome
    );
    report.usage.cpu
}

fn begin(toolbox: &Arc<Toolbox>, tool: &'static str, count: usize) -> JoinSet<Duration> {
    let mut calls = JoinSet::new();
    for _ in 0..count {
        calls.spawn(stopped(Arc::clone(toolbox), tool));
    }
    calls
}

/// A text that takes some milliseconds to count.
fn long_text() -> Value {
    json!({ "text": "one two three four ".repeat(10_000) })
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_guests_that_spin_on_two_threads_get_similar_cpu_time() {
    let toolbox = two_threads(vec![guest("spins-in-numbers")]).await;
    let used = begin(&toolbox, "hostile.spins-in-numbers.attack", 8)
        .join_all()
        .await;
    let mean = used.iter().sum::<Duration>() / 8;
    for one in &used {
        assert!(
            mean / 2 < *one && *one < mean * 2,
            "of {mean:?} in the mean: {used:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_honest_call_is_not_held_up_by_packs_that_spin() {
    let text = build(&root().join("plugins/text"), &scratch()).unwrap();
    let toolbox = two_threads(vec![guest("pack-spins"), text]).await;
    let pack = toolbox
        .pack("hostile.pack-spins", &semver::VersionReq::STAR)
        .unwrap();
    let mut judged = JoinSet::new();
    for _ in 0..16 {
        let pack = Arc::clone(&pack);
        judged.spawn(async move {
            let facts = r#"[{"name": "severity", "fields": [5]}]"#;
            pack.evaluate(facts, 1_000, None).await.err().unwrap().name()
        });
    }
    honest_calls(&toolbox).await;
    assert_eq!(judged.join_all().await, ["deadline"; 16]);
}

/// Calls of a few milliseconds, one after the other. Each of them has two seconds: hundreds of times what it needs.
async fn honest_calls(toolbox: &Arc<Toolbox>) {
    for _ in 0..20 {
        let began = Instant::now();
        let result = call(toolbox, "text.word_count", long_text()).await.unwrap();
        assert_eq!(result.output.get("words"), Some(&json!(40_000)));
        assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_honest_call_is_not_held_up_by_twenty_guests_that_spin_or_by_ten_that_fill_their_memory() {
    let text = build(&root().join("plugins/text"), &scratch()).unwrap();
    let toolbox = two_threads(vec![guest("spins-in-numbers"), guest("fills-memory"), text]).await;
    for (tool, count) in [
        ("hostile.spins-in-numbers.attack", 20),
        ("hostile.fills-memory.attack", 10),
    ] {
        let hostile = begin(&toolbox, tool, count);
        honest_calls(&toolbox).await;
        hostile.join_all().await;
    }
}

/// R11. A guest that fills its memory runs for as many ticks as each filling takes, and is seen once in between.
#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_interrupted_is_counted_in_full() {
    let toolbox = two_threads(vec![guest("fills-memory"), guest("copies-memory")]).await;
    for tool in ["hostile.fills-memory.attack", "hostile.copies-memory.attack"] {
        let used = stopped(Arc::clone(&toolbox), tool).await;
        // The limit is 500 ms; one instruction more is all that it got.
        assert!(used > Duration::from_millis(500), "{tool}: {used:?}");
        assert!(used < Duration::from_millis(2_500), "{tool}: {used:?}");
    }
}
