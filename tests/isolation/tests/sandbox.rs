//! What the sandbox promises beside the outcomes of the corpus.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_catalog::load::verify_bytes;
use mizzen_catalog::package::Package;
use mizzen_engine::{Missing, Outcome, Permit, Profile};
use mizzen_isolation::{build, call, load, rebuilt, root, terms};
use mizzen_model::permission::{Access, HostPort, Use};
use mizzen_model::tool_spec::{SideEffects, ToolDraft, ToolSpec};
use mizzen_ops::toolbox::CallError;
use mizzen_sandbox::{Allocation, DescribeError, Sandbox, Services, Settings};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

fn guest(name: &str) -> PathBuf {
    build(&root().join("tests/guests").join(name), &scratch()).unwrap()
}

fn sandbox(settings: Settings) -> Arc<Sandbox> {
    Arc::new(
        Sandbox::start(Settings {
            slots: 16,
            ..settings
        })
        .unwrap(),
    )
}

#[test]
fn a_flipped_bit_anywhere_in_a_real_package_is_refused() {
    let package = std::fs::read(build(&root().join("plugins/text"), &scratch()).unwrap()).unwrap();
    assert!(verify_bytes(Path::new("sound.wasm"), package.clone(), &terms()).is_ok());
    // Every byte of the head and of the manifest and signature sections, and a sample of the code between them.
    let tail = package.len().saturating_sub(1500);
    let sample = (0..package.len()).step_by(package.len() / 199 + 1);
    for position in (0..64).chain(sample).chain(tail..package.len()) {
        let mut flipped = package.clone();
        flipped[position] ^= 1 << (position % 8);
        let verified = Package::parse(flipped.clone())
            .map_err(|e| e.to_string())
            .and_then(|p| p.verify().map_err(|e| e.to_string()));
        assert!(verified.is_err(), "verify accepts a flipped bit at {position}");
        let loaded = verify_bytes(Path::new("flipped.wasm"), flipped, &terms());
        assert!(loaded.is_err(), "the loader accepts a flipped bit at {position}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_trap_names_the_panic_and_the_guests_functions() {
    let toolbox = load(&sandbox(Settings::default()), vec![guest("panics")])
        .await
        .unwrap();
    let Err(CallError::Refused {
        report: Some(report), ..
    }) = call(&toolbox, "hostile.panics.attack", json!({})).await
    else {
        panic!("the guest should have trapped");
    };
    let Outcome::Trap(trap) = report.outcome else {
        panic!("{:?}", report.outcome)
    };
    let message = trap.message.unwrap();
    assert!(
        message.contains("the reef was not on the chart") && message.contains("src/lib.rs:"),
        "{message}"
    );
    assert!(
        trap.frames.iter().any(|frame| frame.contains("panics::")),
        "{:?}",
        trap.frames
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_that_spin_on_every_thread_do_not_hold_up_the_callers_runtime() {
    let sandbox = sandbox(Settings {
        guest_threads: 2,
        ..Settings::default()
    });
    let toolbox = load(&sandbox, vec![guest("spins")]).await.unwrap();
    let mut spinning = tokio::task::JoinSet::new();
    for _ in 0..4 {
        let toolbox = Arc::clone(&toolbox);
        spinning.spawn(async move { call(&toolbox, "hostile.spins.attack", json!({})).await.is_err() });
    }
    // Timers of the callers' runtime fire many times before the first guest is stopped.
    let mut ticks = 0;
    while spinning.try_join_next().is_none() {
        tokio::time::sleep(Duration::from_millis(5)).await;
        ticks += 1;
    }
    assert!(ticks >= 10, "the callers' runtime got {ticks} turns");
    while let Some(stopped) = spinning.join_next().await {
        assert!(stopped.unwrap());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_goes_away_takes_its_guest_with_it() {
    let sandbox = sandbox(Settings::default());
    let toolbox = load(&sandbox, vec![guest("sleeps")]).await.unwrap();
    let idle = sandbox.in_use();
    let task = {
        let toolbox = Arc::clone(&toolbox);
        tokio::spawn(async move { call(&toolbox, "hostile.sleeps.attack", json!({})).await.is_err() })
    };
    while sandbox.in_use() == idle {
        tokio::task::yield_now().await;
    }
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    // Ends by itself if the guest is given up; the test runner's patience is the only clock here.
    while sandbox.in_use() != idle {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_address_space_for_a_pool_calls_still_work() {
    // 60,000 slots of 4 GiB are more than any process can reserve.
    let sandbox = Arc::new(
        Sandbox::start(Settings {
            slots: 60_000,
            ..Settings::default()
        })
        .unwrap(),
    );
    assert_eq!(sandbox.allocation(), Allocation::OnDemand);
    let toolbox = load(
        &sandbox,
        vec![build(&root().join("plugins/text"), &scratch()).unwrap()],
    )
    .await
    .unwrap();
    let result = call(&toolbox, "text.word_count", json!({ "text": "one two" }))
        .await
        .unwrap();
    assert_eq!(result.output["words"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn clock_randomness_and_the_world_are_the_same_at_every_call_unless_granted() {
    let toolbox = load(&sandbox(Settings::default()), vec![guest("snoops")])
        .await
        .unwrap();
    let first = call(&toolbox, "hostile.snoops.attack", json!({}))
        .await
        .unwrap()
        .output;
    let second = call(&toolbox, "hostile.snoops.attack", json!({}))
        .await
        .unwrap()
        .output;
    assert_eq!(first, second);
}

/// A guest has no authority at all while it describes itself, so on a host its two descriptions cannot differ: clock, seeds and
/// memory are the same in every fresh sandbox, whatever is granted. The check stands behind that. It is reached here by
/// asking with the permit of a call, which no host does.
#[tokio::test(flavor = "multi_thread")]
async fn a_description_that_changes_is_refused_and_without_authority_none_can() {
    let package = std::fs::read(guest("describes-differently")).unwrap();
    let package = rebuilt(&package, |component, manifest| {
        let asks = format!("{manifest}\n[permissions]\nrandom = \"to differ\"\nclock = \"to differ\"\n");
        (component, asks)
    })
    .unwrap();
    let verified = Arc::new(verify_bytes(Path::new("differs.wasm"), package, &terms()).unwrap());
    let sandbox = sandbox(Settings::default());
    let plugin = sandbox
        .prepare(Arc::clone(&verified), Services::default())
        .unwrap();
    let described = plugin
        .describe_tools(|| Permit::to_describe(&verified))
        .await
        .unwrap();
    let asking = ToolDraft {
        permissions: vec!["random".to_owned(), "clock".to_owned()],
        ..described[0].clone()
    };
    let spec = ToolSpec::check(asking).unwrap();
    let refused = plugin.describe_tools(|| Permit::for_tool(&verified, &spec)).await;
    assert!(matches!(refused, Err(DescribeError::Unstable)), "{refused:?}");
}

/// A tool that claims less than its permissions is never registered. The permit does not rely on that (D22): it is asked here for
/// a tool that the profile `cleared` would not have let through.
#[tokio::test(flavor = "multi_thread")]
async fn a_cleared_permit_refuses_the_uses_and_not_the_words() {
    let package = std::fs::read(guest("claims-no-effects")).unwrap();
    let verified = Arc::new(verify_bytes(Path::new("claims.wasm"), package, &terms()).unwrap());
    let sandbox = sandbox(Settings::default());
    let plugin = sandbox
        .prepare(Arc::clone(&verified), Services::default())
        .unwrap();
    let described = plugin
        .describe_tools(|| Permit::to_describe(&verified))
        .await
        .unwrap();
    assert!(
        ToolSpec::check(described[0].clone()).is_err(),
        "its own claim is refused"
    );
    let honest = ToolSpec::check(ToolDraft {
        side_effects: SideEffects::External,
        ..described[0].clone()
    })
    .unwrap();
    assert!(Profile::Cleared.check(&honest).is_err());
    let open = Permit::for_tool(&verified, &honest);
    let cleared = open.clone().under(Profile::Cleared).under(Profile::Open);
    let target = HostPort::new("public.example.com", 80).unwrap();
    let net = |method| Use::Net {
        method,
        target: &target,
    };
    for (wanted, allowed) in [
        (Use::Kv(Access::Read), true),
        (Use::Kv(Access::Write), false),
        (net("GET"), true),
        (net("HEAD"), true),
        (net("POST"), false),
        (net("DELETE"), false),
    ] {
        assert!(open.check(&wanted).is_ok(), "{wanted}");
        assert_eq!(cleared.allows(&wanted), allowed, "{wanted}");
        let denied = cleared.check(&wanted).err().map(|denied| denied.missing);
        assert_eq!(denied, (!allowed).then_some(Missing::Profile), "{wanted}");
    }
}
