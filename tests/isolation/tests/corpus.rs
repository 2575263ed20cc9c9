//! Every hostile guest comes to its expected end, and the host is as good as before.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_isolation::{Expected, build, call, guests, load, root};
use mizzen_ops::toolbox::{CallError, Toolbox};
use mizzen_sandbox::{Sandbox, Settings};
use serde_json::json;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

fn sandbox() -> Arc<Sandbox> {
    let cache = Some(scratch().join("artifacts"));
    Arc::new(
        Sandbox::start(Settings {
            slots: 16,
            cache,
            ..Settings::default()
        })
        .unwrap(),
    )
}

/// What a guest came to, in the words of `expected.toml`, and everything that was said about it.
async fn outcome(sandbox: &Arc<Sandbox>, package: PathBuf, expected: &Expected) -> (String, String) {
    let toolbox = match load(sandbox, vec![package]).await {
        Ok(toolbox) => toolbox,
        Err(failure) => {
            // A guest may commit one misdeed several times over.
            let codes: BTreeSet<_> = failure.errors.iter().map(|error| error.code.as_str()).collect();
            let codes: Vec<_> = codes.into_iter().collect();
            return (format!("load-refused:{}", codes.join(",")), failure.to_string());
        }
    };
    match call(
        &toolbox,
        &expected.tool,
        serde_json::from_str(&expected.input).unwrap(),
    )
    .await
    {
        Ok(result) => ("output".into(), result.output.to_string()),
        Err(CallError::Refused { refused, report }) => {
            let name = match report {
                // The sandbox had an answer, and a later stage refused it.
                Some(report) if report.outcome.name() == "output" => "bad-output".to_owned(),
                Some(report) => report.outcome.name().to_owned(),
                None => format!("refused:{}", refused.code),
            };
            (name, refused.to_string())
        }
        Err(error) => ("fault".into(), error.to_string()),
    }
}

async fn honest_call_works(honest: &Toolbox) -> Result<(), String> {
    let result = call(honest, "text.word_count", json!({ "text": "one two three" })).await;
    let output = result.map_err(|error| error.to_string())?.output;
    if output["words"] == 3 {
        Ok(())
    } else {
        Err(output.to_string())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_hostile_guest_comes_to_its_expected_end_and_the_next_honest_call_succeeds() {
    let sandbox = sandbox();
    let honest = load(
        &sandbox,
        vec![build(&root().join("plugins/text"), &scratch()).unwrap()],
    )
    .await
    .unwrap();
    let idle = sandbox.in_use();
    let mut problems = Vec::new();
    for folder in guests().unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(text) = std::fs::read_to_string(folder.join("expected.toml")) else {
            problems.push(format!("{name}: no expected.toml"));
            continue;
        };
        let expected: Expected = toml::from_str(&text).unwrap();
        let package = build(&folder, &scratch()).unwrap();
        let (came_to, said) = outcome(&sandbox, package, &expected).await;
        if came_to != expected.outcome {
            problems.push(format!(
                "{name}: expected {}, came to {came_to}: {said}",
                expected.outcome
            ));
        }
        if !said.contains(&expected.contains) {
            problems.push(format!("{name}: {said} does not hold {:?}", expected.contains));
        }
        if let Err(error) = honest_call_works(&honest).await {
            problems.push(format!("{name}: the honest call after it failed: {error}"));
        }
        if sandbox.in_use() != idle {
            problems.push(format!(
                "{name}: it left {:?} in use, {idle:?} before",
                sandbox.in_use()
            ));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn honest_calls_go_on_while_hostile_guests_spin_bomb_sleep_and_print() {
    let sandbox = sandbox();
    let honest = load(
        &sandbox,
        vec![build(&root().join("plugins/text"), &scratch()).unwrap()],
    )
    .await
    .unwrap();
    let mut hostile = tokio::task::JoinSet::new();
    for name in [
        "spins",
        "bombs-memory",
        "sleeps",
        "prints-without-end",
        "recurses",
    ] {
        let folder = root().join("tests/guests").join(name);
        let expected: Expected =
            toml::from_str(&std::fs::read_to_string(folder.join("expected.toml")).unwrap()).unwrap();
        let package = build(&folder, &scratch()).unwrap();
        let sandbox = Arc::clone(&sandbox);
        hostile.spawn(async move { (outcome(&sandbox, package, &expected).await.0, expected.outcome) });
    }
    let mut calls = 0;
    while !hostile.is_empty() {
        honest_call_works(&honest).await.unwrap();
        calls += 1;
        while let Some(ended) = hostile.try_join_next() {
            let (came_to, expected) = ended.unwrap();
            assert_eq!(came_to, expected);
        }
    }
    assert!(calls >= 5, "only {calls} honest calls got through");
}
