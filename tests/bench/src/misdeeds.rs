//! Hostile guests of the tests, called again and again while something honest is measured.

use crate::harness::Bench;
use anyhow::{Result, anyhow};
use mizzen_isolation::{Expected, build_expected, call};
use mizzen_model::manifest::Manifest;
use mizzen_ops::toolbox::Toolbox;
use serde_json::json;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;

/// The facts that a hostile pack is asked about.
const FACTS: &str = r#"[{"name": "severity", "fields": [5]}]"#;
/// Match operations that it may spend.
const BUDGET: u64 = 1_000_000;
/// One that is refused at once does not become a loop without a pause.
const PAUSE: Duration = Duration::from_millis(1);

/// A misdeed, and how many commit it at the same time.
pub(crate) type Misdeed = (&'static str, usize);

fn folder(bench: &Bench, name: &str) -> PathBuf {
    bench.places.root.join("tests/guests").join(name)
}

/// The packages of some guests, with the instructions that Rust has no word for.
pub(crate) fn packages<'a>(bench: &Bench, names: impl IntoIterator<Item = &'a str>) -> Result<Vec<PathBuf>> {
    let package = |name: &str| {
        let folder = folder(bench, name);
        build_expected(&folder, &bench.places.guests(), &Expected::read(&folder)?)
    };
    names.into_iter().map(package).collect()
}

/// What some guests ask for, as an operator grants it in `mizzen.toml`: those that misuse what they were given need it.
pub(crate) fn grants<'a>(bench: &Bench, names: impl IntoIterator<Item = &'a str>) -> Result<String> {
    let mut text = String::from("[grants.plugin]\n");
    for name in names {
        let manifest = std::fs::read_to_string(folder(bench, name).join("plugin.toml"))?;
        let manifest = Manifest::parse(&manifest).map_err(|problems| anyhow!("{name}: {problems}"))?;
        let asked: Vec<String> = manifest.permissions().keys().map(ToString::to_string).collect();
        if !asked.is_empty() {
            writeln!(text, "{name} = {asked:?}")?;
        }
    }
    Ok(text)
}

/// Those who misbehave. They go on until they are stopped; each of their calls ends by its limits.
pub(crate) struct Misbehaving {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Misbehaving {
    pub(crate) fn begin(runtime: &Runtime, toolbox: &Arc<Toolbox>, misdeeds: &[Misdeed]) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let each = misdeeds
            .iter()
            .flat_map(|(name, count)| std::iter::repeat_n(*name, *count));
        let tasks = each
            .map(|name| runtime.spawn(misbehave(Arc::clone(toolbox), name, Arc::clone(&stop))))
            .collect();
        Self { stop, tasks }
    }

    /// Waits for the limits of the last calls.
    pub(crate) fn end(self, runtime: &Runtime) -> Result<()> {
        self.stop.store(true, Ordering::Relaxed);
        for task in self.tasks {
            runtime.block_on(task)?;
        }
        Ok(())
    }
}

async fn misbehave(toolbox: Arc<Toolbox>, name: &'static str, stop: Arc<AtomicBool>) {
    let tool = format!("hostile.{name}.attack");
    let pack = toolbox.pack(&format!("hostile.{name}"), &semver::VersionReq::STAR);
    while !stop.load(Ordering::Relaxed) {
        // That it is stopped is what is expected.
        match &pack {
            Some(pack) => drop(pack.evaluate(FACTS, BUDGET, None).await),
            None => drop(call(&toolbox, &tool, json!({})).await),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
