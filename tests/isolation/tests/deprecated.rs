//! `deprecated` has an effect: a warning at load and at every call. Alone in its file, because tests that run beside it
//! would decide for the whole process whether these lines are of interest to anybody.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

use mizzen_isolation::{build, call, load, root};
use mizzen_sandbox::{Sandbox, Settings};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const ATTACK: &str = "hostile.answers-as-told.attack";

fn scratch() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("guests")
}

/// What is logged on this thread.
#[derive(Clone, Default)]
struct Logged(Arc<Mutex<Vec<u8>>>);

impl Write for Logged {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test(flavor = "current_thread")]
async fn a_deprecated_tool_is_warned_of_at_load_and_at_every_call() {
    let logged = Logged::default();
    let sink = logged.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || sink.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    let warnings = || {
        let text = String::from_utf8(logged.0.lock().unwrap().clone()).unwrap();
        text.lines()
            .filter(|line| line.contains("WARN") && line.contains(ATTACK) && line.contains("deprecated"))
            .count()
    };
    let package = build(&root().join("tests/guests/answers-as-told"), &scratch()).unwrap();
    let sandbox = Arc::new(
        Sandbox::start(Settings {
            slots: 8,
            ..Settings::default()
        })
        .unwrap(),
    );
    let toolbox = load(&sandbox, vec![package]).await.unwrap();
    assert_eq!(warnings(), 1, "at load");
    for calls in 1..=2 {
        call(&toolbox, ATTACK, json!({ "order": "7" })).await.unwrap();
        assert_eq!(warnings(), 1 + calls, "at call");
    }
    let installed = toolbox.loaded().installed();
    let tool = &installed.provided[0].document;
    assert_eq!(
        tool["cost_estimate"],
        json!("0.0025"),
        "decimal text, never a float"
    );
    assert_eq!(
        (&tool["deprecated"], &tool["tags"]),
        (&json!(true), &json!(["test"]))
    );
}
