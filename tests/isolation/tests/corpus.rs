//! Every hostile guest comes to its expected end, and the host is as good as before.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_isolation::{
    Expected, Network, build, build_expected, call, guests, load, load_with, outfit_reaching, root, terms,
    terms_granting,
};
use mizzen_ops::toolbox::{CallError, StoreKv, Toolbox};
use mizzen_sandbox::{Sandbox, Settings};
use mizzen_store::{KvLimits, Options, Store};
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

/// A host with everything that a guest could want: the sandbox, the durable store, a network that records.
struct Stage {
    sandbox: Arc<Sandbox>,
    network: Arc<Network>,
    store: Store,
    _data: tempfile::TempDir,
}

impl Stage {
    fn new() -> Self {
        let data = tempfile::tempdir().unwrap();
        Self {
            sandbox: sandbox(),
            network: Network::open(),
            store: Store::open(data.path(), &Options::default()).unwrap(),
            _data: data,
        }
    }

    async fn load(
        &self,
        folder: &Path,
        expected: &Expected,
    ) -> Result<Arc<Toolbox>, mizzen_catalog::LoadFailure> {
        let mut files = vec![build_expected(folder, &scratch(), expected).unwrap()];
        for other in &expected.with {
            files.push(build(&root().join("tests/guests").join(other), &scratch()).unwrap());
        }
        let terms = match &expected.granted {
            Some(granted) => terms_granting(granted).unwrap(),
            None => terms(),
        };
        let store = self.store.clone();
        let limits = KvLimits {
            quota: 1 << 20,
            ..KvLimits::default()
        };
        let kv = Arc::new(move |owner: &str| Arc::new(StoreKv::new(store.clone(), owner, limits)) as _);
        let outfit = outfit_reaching(&self.network, kv, &expected.private_hosts);
        load_with(&self.sandbox, files, outfit, &terms).await
    }

    /// The outcome of a guest, as `expected.toml` names it, and all of its texts.
    async fn outcome(&self, folder: &Path, expected: &Expected) -> (String, String) {
        let toolbox = match self.load(folder, expected).await {
            Ok(toolbox) => toolbox,
            Err(failure) => {
                // A guest may commit one misdeed several times over.
                let codes: BTreeSet<_> = failure.errors.iter().map(|error| error.code.as_str()).collect();
                let codes: Vec<_> = codes.into_iter().collect();
                return (format!("load-refused:{}", codes.join(",")), failure.to_string());
            }
        };
        for first in &expected.before {
            call(&toolbox, &first.tool, serde_json::from_str(&first.input).unwrap())
                .await
                .unwrap();
        }
        if let Some(pack) = expected.tool.strip_prefix("pack:") {
            let pack = toolbox.pack(pack, &semver::VersionReq::STAR).unwrap();
            return match pack.evaluate(&expected.input, 1_000_000, None).await {
                Ok(verdict) => ("output".into(), format!("{verdict:?}")),
                Err(failure) => (failure.name().to_owned(), failure.to_string()),
            };
        }
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..expected.at_once {
            let (toolbox, expected) = (Arc::clone(&toolbox), expected.clone());
            calls.spawn(async move { came_to(&toolbox, &expected).await });
        }
        let mut ends = BTreeSet::new();
        while let Some(end) = calls.join_next().await {
            ends.insert(end.unwrap());
        }
        // Those that came to the same are one. Of one that differs from what is expected, its own words are shown.
        let (names, mut texts): (BTreeSet<_>, Vec<_>) = ends.into_iter().unzip();
        let names: Vec<_> = names.into_iter().collect();
        if let Some(other) = texts.iter().find(|text| !text.contains(&expected.contains)) {
            texts = vec![other.clone()];
        }
        (names.join(","), texts.join("\n"))
    }
}

/// What one call came to.
async fn came_to(toolbox: &Toolbox, expected: &Expected) -> (String, String) {
    let input = serde_json::from_str(&expected.input).unwrap();
    match call(toolbox, &expected.tool, input).await {
        Ok(result) => ("output".into(), result.output.to_string()),
        Err(CallError::Refused { refused, report }) => {
            let log = report
                .as_ref()
                .map(|report| format!("{:?}", report.log))
                .unwrap_or_default();
            let name = match report {
                // The sandbox had an output, and a later stage refused it.
                Some(report) if report.outcome.name() == "output" => "bad-output".to_owned(),
                Some(report) => report.outcome.name().to_owned(),
                None => format!("refused:{}", refused.code),
            };
            (name, format!("{refused} {log}"))
        }
        Err(CallError::Unknown(error)) => ("no-such-tool".into(), error.to_string()),
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
    let stage = Stage::new();
    let sandbox = &stage.sandbox;
    let honest = load(
        sandbox,
        vec![build(&root().join("plugins/text"), &scratch()).unwrap()],
    )
    .await
    .unwrap();
    let idle = sandbox.in_use();
    let mut problems = Vec::new();
    for folder in guests().unwrap() {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let expected = match Expected::read(&folder) {
            Ok(expected) => expected,
            Err(error) => {
                problems.push(format!("{name}: no usable expected.toml: {error:#}"));
                continue;
            }
        };
        let (outcome, text) = stage.outcome(&folder, &expected).await;
        let connects = stage.network.take_connects();
        if connects != expected.connects {
            problems.push(format!(
                "{name}: it was connected to {connects:?}, expected {:?}",
                expected.connects
            ));
        }
        for secret in ["ghp_doubloons", "pieces-of-eight"] {
            if text.contains(secret) {
                problems.push(format!("{name}: a secret got into {text}"));
            }
        }
        if outcome != expected.outcome {
            problems.push(format!(
                "{name}: expected {}, got {outcome}: {text}",
                expected.outcome
            ));
        }
        if !text.contains(&expected.contains) {
            problems.push(format!("{name}: {text} does not contain {:?}", expected.contains));
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
    let stage = Arc::new(Stage::new());
    let honest = load(
        &stage.sandbox,
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
        let expected = Expected::read(&folder).unwrap();
        let stage = Arc::clone(&stage);
        hostile.spawn(async move { (stage.outcome(&folder, &expected).await.0, expected.outcome) });
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
