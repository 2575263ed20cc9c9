//! What governance costs a step: the four reference packs asked one after the other, beside one that has nothing to say.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a benchmark that cannot go on should stop"
)]

use criterion::{Criterion, criterion_group, criterion_main};
use mizzen_builder::pack::{PackProject, RULE_ENGINE, RULES_SECTION};
use mizzen_catalog::Sources;
use mizzen_catalog::load::load_set;
use mizzen_isolation::{key, root, terms};
use mizzen_ops::toolbox::{InstalledPack, Outfit, Toolbox};
use mizzen_sandbox::{Sandbox, Settings, configured_pack};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// As a step's end looks to a pack.
const FACTS: &str = r#"[
{"template": "moment", "slots": {"name": "after-step", "run-id": "r", "step": 1, "time": 1}},
{"template": "run", "slots": {"kind": "chain", "name": "review", "council": "dev", "status": "running", "steps": 3, "elapsed-ms": 40, "run-id": "r", "time": 1}},
{"template": "budget", "slots": {"kind": "latency", "limit": 60000, "used": 40, "run-id": "r", "time": 1}},
{"template": "budget", "slots": {"kind": "steps", "limit": 3, "used": 1, "run-id": "r", "time": 1}},
{"template": "budget", "slots": {"kind": "tokens", "used": 120, "run-id": "r", "time": 1}},
{"template": "step", "slots": {"name": "summarise", "sprite": "writer", "capability": "summarise", "tool": "acme.text.sum", "status": "completed", "duration-ms": 3, "run-id": "r", "step": 1, "time": 1}},
{"template": "tool-call", "slots": {"tool": "acme.text.sum", "version": "1.0.0", "plugin": "text", "run-id": "r", "step": 1, "time": 1}},
{"template": "tool-result", "slots": {"tool": "acme.text.sum", "outcome": "output", "bytes": 90, "run-id": "r", "step": 1, "time": 1}},
{"template": "evidence", "slots": {"subject": "output", "pointer": "/text", "text": "The quarterly report is ready for review.", "run-id": "r", "step": 1, "time": 1}},
{"template": "evidence", "slots": {"subject": "output", "pointer": "/title", "text": "Report", "run-id": "r", "step": 1, "time": 1}}
]"#;

fn package(folder: &Path, output: &Path) -> PathBuf {
    let project = PackProject::open(folder).unwrap();
    let component = configured_pack(
        RULE_ENGINE,
        &project.configuration(),
        (RULES_SECTION, project.rules().as_bytes()),
    )
    .unwrap();
    project.package(&component, &key(), Some(output)).unwrap().path
}

fn packs(criterion: &mut Criterion) {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty");
    std::fs::create_dir_all(&empty).unwrap();
    std::fs::write(
        empty.join("pack.toml"),
        "[plugin]\nname = \"empty\"\nversion = \"0.1.0\"\napi_version = \"1\"\nnamespaces = [\"empty\"]\n\n[pack]\ndescription = \"d\"\n",
    )
    .unwrap();
    std::fs::write(empty.join("rules.clp"), "").unwrap();
    let mut files = vec![package(&empty, folder.path())];
    for name in ["budgets", "retries", "safety-pii", "audit"] {
        files.push(package(&root().join("plugins").join(name), folder.path()));
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let sandbox = Arc::new(Sandbox::start(Settings::default()).unwrap());
    let toolbox = Toolbox::new(Arc::clone(&sandbox), Outfit::default());
    let plan = load_set(
        &Sources {
            files,
            ..Sources::default()
        },
        &terms(),
    )
    .unwrap();
    runtime.block_on(toolbox.load(&plan)).unwrap();
    let all: Vec<Arc<InstalledPack>> = toolbox.loaded().packs().collect();
    let mut group = criterion.benchmark_group("packs");
    let sets: [(&str, Vec<Arc<InstalledPack>>, &'static str); 4] = [
        (
            "empty pack, no facts",
            all.iter().filter(|p| p.id() == "empty").cloned().collect(),
            "[]",
        ),
        (
            "empty pack, ten facts",
            all.iter().filter(|p| p.id() == "empty").cloned().collect(),
            FACTS,
        ),
        (
            "safety-pii, ten facts",
            all.iter()
                .filter(|p| p.id() == "bosun.safety-pii")
                .cloned()
                .collect(),
            FACTS,
        ),
        (
            "four packs, ten facts",
            all.iter().filter(|p| p.id() != "empty").cloned().collect(),
            FACTS,
        ),
    ];
    for (name, asked, facts) in sets {
        group.bench_function(name, |bencher| {
            bencher.iter_custom(|times| {
                let asked = asked.clone();
                // On the guests' own threads, as a run is.
                let work = async move {
                    let started = std::time::Instant::now();
                    for _ in 0..times {
                        for pack in &asked {
                            pack.evaluate(facts, 1_000_000, None).await.unwrap();
                        }
                    }
                    started.elapsed()
                };
                runtime.block_on(sandbox.run(work)).unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, packs);
criterion_main!(benches);
