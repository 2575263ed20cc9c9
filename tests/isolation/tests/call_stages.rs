//! One call, stage by stage, in the order that is promised; and what the fields of a descriptor do.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_engine::{CallPolicy, CallStage, Mode, Profile, Refused};
use mizzen_isolation::{build, load_with, root, terms, terms_granting};
use mizzen_ops::toolbox::{CallError, CallRequest, Outfit, ToolResult, Toolbox};
use mizzen_sandbox::{CallContext, Sandbox, Settings};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

fn sandbox() -> Arc<Sandbox> {
    let settings = Settings {
        slots: 4,
        cache: Some(scratch().join("artifacts")),
        ..Settings::default()
    };
    Arc::new(Sandbox::start(settings).unwrap())
}

async fn toolbox(guest: &str, granted: Option<&[&str]>) -> Arc<Toolbox> {
    let package = build(&root().join("tests/guests").join(guest), &scratch()).unwrap();
    let terms = match granted {
        Some(granted) => {
            terms_granting(&granted.iter().map(|&text| text.to_owned()).collect::<Vec<_>>()).unwrap()
        }
        None => terms(),
    };
    load_with(&sandbox(), vec![package], Outfit::default(), &terms)
        .await
        .unwrap()
}

async fn call(
    toolbox: &Toolbox,
    tool: &str,
    input: Value,
    policy: CallPolicy,
) -> Result<ToolResult, Refused> {
    let request = CallRequest {
        tool: tool.to_owned(),
        input,
        context: CallContext::default(),
        policy,
    };
    match toolbox.call(request).await {
        Ok(result) => Ok(result),
        Err(CallError::Refused { refused, .. }) => Err(refused),
        Err(error) => panic!("{tool}: {error}"),
    }
}

const ATTACK: &str = "hostile.answers-as-told.attack";

fn policy(profile: Profile, mode: Mode) -> CallPolicy {
    CallPolicy { profile, mode }
}

fn replay(stand_in: Option<Value>) -> Mode {
    Mode::Replay {
        recorded: Some(json!("as it was")),
        stand_in,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_stages_come_in_their_order_and_each_stops_the_call() {
    let (bad, good) = (json!({}), json!({ "order": "7" }));
    let not_granted = toolbox("answers-as-told", Some(&[])).await;
    let granted = toolbox("answers-as-told", None).await;
    // Everything is wrong, then one thing less at each line.
    for (toolbox, input, policy, stage, code) in [
        (
            &not_granted,
            &bad,
            policy(Profile::Cleared, replay(None)),
            CallStage::Input,
            "INVALID_INPUT",
        ),
        (
            &not_granted,
            &good,
            policy(Profile::Cleared, replay(None)),
            CallStage::Permission,
            "PERMISSION_DENIED",
        ),
        (
            &granted,
            &good,
            policy(Profile::Cleared, replay(None)),
            CallStage::Profile,
            "PROFILE_REFUSED",
        ),
        (
            &granted,
            &good,
            policy(Profile::Open, replay(None)),
            CallStage::ReplayPolicy,
            "REPLAY_REFUSED",
        ),
    ] {
        let refused = call(toolbox, ATTACK, input.clone(), policy).await.err().unwrap();
        assert_eq!((refused.stage, refused.code), (stage, code), "{refused}");
    }
    let result = call(&granted, ATTACK, good, CallPolicy::default()).await.unwrap();
    assert_eq!(
        result.output,
        json!({ "key": "7" }),
        "the field that is named is the idempotency key"
    );
    for (guest, stage, code) in [
        ("panics", CallStage::Call, "TRAP"),
        ("breaks-its-schema", CallStage::Output, "BAD_OUTPUT"),
        ("returns-too-much", CallStage::Size, "OUTPUT_TOO_LARGE"),
    ] {
        let toolbox = toolbox(guest, None).await;
        let tool = format!("hostile.{guest}.attack");
        let refused = call(&toolbox, &tool, json!({}), CallPolicy::default())
            .await
            .err()
            .unwrap();
        assert_eq!((refused.stage, refused.code), (stage, code), "{refused}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_takes_the_stand_in_and_calls_nobody() {
    let granted = toolbox("answers-as-told", None).await;
    let stand_in = json!({ "key": "what if" });
    let policy = policy(Profile::Open, replay(Some(stand_in.clone())));
    let result = call(&granted, ATTACK, json!({ "order": "7" }), policy)
        .await
        .unwrap();
    assert_eq!(result.output, stand_in);
    assert!(result.report.is_none(), "no guest ran");
}
