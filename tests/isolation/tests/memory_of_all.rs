//! What all guests hold together is bounded, and given back.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on should stop"
)]

use mizzen_isolation::{Network, build, call, load_with, outfit, root, terms};
use mizzen_ops::toolbox::{CallError, MemoryKv};
use mizzen_sandbox::{CallFault, KeyValue, Sandbox, Settings};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::task::JoinSet;

const HOARDS: &str = "hostile.hoards-and-waits.attack";
const MIB: u64 = 1 << 20;

fn package(folder: &str) -> PathBuf {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests");
    build(&root().join(folder), &scratch).unwrap()
}

/// A plugin may have three quarters of 512 MiB, and its calls have a little more than 100 each.
#[tokio::test(flavor = "multi_thread")]
async fn a_guest_gets_no_memory_beyond_what_all_may_have_and_small_calls_go_on() {
    let sandbox = Arc::new(
        Sandbox::start(Settings {
            total_memory: 512 * MIB,
            ..Settings::default()
        })
        .unwrap(),
    );
    let network = Network::gated();
    let kv = Arc::new(|_: &str| Arc::new(MemoryKv::new(1 << 20)) as Arc<dyn KeyValue>);
    let packages = vec![package("tests/guests/hoards-and-waits"), package("plugins/text")];
    let toolbox = load_with(&sandbox, packages, outfit(&network, kv), &terms())
        .await
        .unwrap();
    assert_eq!(sandbox.in_use().memory_bytes, 0, "descriptions gave theirs back");

    let mut hoarding = JoinSet::new();
    for count in 1..=3 {
        let toolbox = Arc::clone(&toolbox);
        hoarding.spawn(async move { call(&toolbox, HOARDS, json!({})).await.unwrap().output });
        while network.connected() < count {
            tokio::task::yield_now().await;
        }
    }
    let held = sandbox.in_use().memory_bytes;
    assert!(held > 300 * MIB && held <= 384 * MIB, "{held}");

    let refused = call(&toolbox, HOARDS, json!({})).await.unwrap_err();
    let CallError::Fault(fault @ CallFault::NoMemory { wanted, total }) = refused else {
        panic!("{refused}");
    };
    assert!(wanted >= 100 * MIB && total == 512 * MIB, "{fault}");
    assert!(fault.to_string().contains("sandbox.total_memory"), "{fault}");
    assert_eq!(network.connected(), 3, "it was stopped where it asked for memory");
    assert_eq!(sandbox.in_use().memory_bytes, held, "it has nothing any more");

    let counted = call(&toolbox, "text.word_count", json!({ "text": "one two" })).await;
    assert_eq!(counted.unwrap().output.get("words"), Some(&json!(2)));

    network.open_gate();
    assert_eq!(hoarding.join_all().await, vec![json!({ "held": 100 * MIB }); 3]);
    assert_eq!(sandbox.in_use().memory_bytes, 0);
    let again = call(&toolbox, HOARDS, json!({})).await.unwrap();
    assert_eq!(again.output, json!({ "held": 100 * MIB }));
}
