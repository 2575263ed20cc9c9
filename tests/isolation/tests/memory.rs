//! After hostile calls, the process holds as much memory as before. Alone in its binary: others would be measured too.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

use mizzen_isolation::{Expected, build, call, load, root};
use mizzen_ops::toolbox::Toolbox;
use mizzen_sandbox::{Sandbox, Settings};
use std::path::Path;
use std::sync::Arc;

/// What these guests take hold of in one call is between 50 and 100 MiB each.
const GREEDY: &[&str] = &[
    "bombs-memory",
    "bombs-memory-at-once",
    "returns-100-mb",
    "hands-the-host-too-much",
    "recurses",
    "returns-deep-json",
];
/// Less than one of them.
const TOLERANCE: u64 = 32 << 20;
const ROUNDS: usize = 8;

/// Bytes of memory that are this process's own and not pages of files.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    let kib: u64 = line.split_whitespace().nth(1).unwrap().parse().unwrap();
    kib << 10
}

async fn round(toolboxes: &[(Arc<Toolbox>, Expected)]) {
    for (toolbox, expected) in toolboxes {
        let input = serde_json::from_str(&expected.input).unwrap();
        assert!(
            call(toolbox, &expected.tool, input).await.is_err(),
            "{}",
            expected.tool
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_returns_to_where_it_was_after_every_hostile_call() {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    let settings = Settings {
        slots: 16,
        cache: Some(scratch.join("artifacts")),
        ..Settings::default()
    };
    let sandbox = Arc::new(Sandbox::start(settings).unwrap());
    let mut toolboxes = Vec::new();
    for name in GREEDY {
        let folder = root().join("tests/guests").join(name);
        let package = build(&folder, &scratch).unwrap();
        let toolbox = load(&sandbox, vec![package]).await.unwrap();
        toolboxes.push((toolbox, Expected::read(&folder).unwrap()));
    }
    // The first round fills what is kept on purpose: the pool's warm pages and the allocator's free lists.
    round(&toolboxes).await;
    let before = resident();
    for _ in 0..ROUNDS {
        round(&toolboxes).await;
        let now = resident();
        assert!(
            now < before + TOLERANCE,
            "{} MiB before, {} MiB now",
            before >> 20,
            now >> 20
        );
    }
}
