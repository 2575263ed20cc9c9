//! The tool that is measured with, loaded through every check.

use crate::harness::Bench;
use crate::samples::Samples;
use anyhow::{Context, Result, ensure};
use mizzen_engine::{CallPolicy, Outcome, Permit};
use mizzen_isolation::{build, load_with, rebuilt, terms};
use mizzen_ops::toolbox::{CallRequest, Outfit, Toolbox};
use mizzen_sandbox::{CallContext, CallablePlugin, Sandbox, Settings, ToolCall};
use serde_json::Value;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

/// The tool's id.
pub(crate) const TOOL: &str = "bench-echo-0000.echo";
/// The plugin's name and namespace.
const NAME: &str = "bench-echo-0000";

/// A sandbox, a set of plugins with the echo in it, and the echo.
#[derive(Clone)]
pub(crate) struct Echo {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) toolbox: Arc<Toolbox>,
    plugin: CallablePlugin,
    /// As the host has it: made when the tool is loaded, and shared by its calls.
    permit: Permit,
}

/// Builds the echo's package.
pub(crate) fn package(bench: &Bench) -> Result<PathBuf> {
    build(
        &bench.places.root.join("tests/bench/guests/echo"),
        &bench.places.guests(),
    )
}

/// The echo under other names, numbered from 1; kept between runs.
pub(crate) fn others(bench: &Bench, count: usize) -> Result<Vec<PathBuf>> {
    let folder = bench.places.kept.join("copies");
    std::fs::create_dir_all(&folder)?;
    let package = std::fs::read(package(bench)?)?;
    let mut files = Vec::new();
    for number in 1..=count {
        let name = format!("bench-echo-{number:04}");
        let file = folder.join(format!("{name}.wasm"));
        let copy = rebuilt(&package, |component, manifest| {
            (renamed(component, &name), manifest.replace(NAME, &name))
        })?;
        std::fs::write(&file, copy)?;
        files.push(file);
    }
    Ok(files)
}

/// The component with another name of the same length: nothing in it moves.
fn renamed(mut component: Vec<u8>, name: &str) -> Vec<u8> {
    let mut from = 0;
    while let Some(at) = component.get(from..).and_then(|rest| find(rest, NAME.as_bytes())) {
        let place = from + at..from + at + NAME.len();
        from = place.end;
        if let Some(bytes) = component.get_mut(place) {
            bytes.copy_from_slice(name.as_bytes());
        }
    }
    component
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Settings with the cache that all runs share.
pub(crate) fn settings(bench: &Bench) -> Settings {
    Settings {
        cache: Some(bench.places.kept.join("artifacts")),
        ..Settings::default()
    }
}

/// A JSON document of this many bytes.
pub(crate) fn document(bytes: usize) -> String {
    format!("{{\"text\":\"{}\"}}", "a".repeat(bytes.saturating_sub(11)))
}

impl Echo {
    /// Loads the echo beside some other plugins.
    pub(crate) async fn load(bench: &Bench, others: Vec<PathBuf>) -> Result<Self> {
        let sandbox = Arc::new(Sandbox::start(settings(bench))?);
        let mut files = others;
        files.push(package(bench)?);
        let toolbox = load_with(&sandbox, files, Outfit::default(), &terms()).await?;
        let loaded = toolbox.loaded();
        let entered = loaded
            .registry()
            .tools()
            .find(|tool| tool.spec().id().to_string() == TOOL)
            .context("the echo is not loaded")?;
        let permit = Permit::for_tool(entered.plugin(), entered.spec());
        let plugin = loaded
            .plugins()
            .find(|plugin| plugin.verified().digest() == entered.plugin().digest())
            .context("the echo's plugin is not loaded")?
            .clone();
        Ok(Self {
            sandbox,
            toolbox,
            plugin,
            permit,
        })
    }

    /// Sandboxed calls, one after the other, on a thread for guests: a permit, a fresh instance, an answer.
    pub(crate) async fn invoke(self, count: usize, input: Arc<str>) -> Result<Samples> {
        let sandbox = Arc::clone(&self.sandbox);
        let work = async move {
            let mut samples = Samples::default();
            for _ in 0..count {
                let call = ToolCall {
                    tool: "echo".to_owned(),
                    input: input.to_string(),
                    context: CallContext::default(),
                };
                let began = Instant::now();
                let report = self.plugin.invoke(self.permit.clone(), call).await?;
                samples.push(began.elapsed());
                let Outcome::Output(output) = report.outcome else {
                    anyhow::bail!("the echo gave no answer: {}", report.outcome.explain());
                };
                ensure!(output.len() == input.len(), "the echo changed its document");
            }
            Ok(samples)
        };
        sandbox.run(work).await?
    }

    /// Governed calls: schema, permission, profile and replay policy before, schema and size after.
    pub(crate) async fn call(self, count: usize, input: Value) -> Result<Samples> {
        let sandbox = Arc::clone(&self.sandbox);
        let work = async move {
            let mut samples = Samples::default();
            for _ in 0..count {
                let request = CallRequest {
                    tool: TOOL.to_owned(),
                    input: input.clone(),
                    context: CallContext::default(),
                    policy: CallPolicy::default(),
                };
                let began = Instant::now();
                let result = self.toolbox.call(request).await?;
                samples.push(began.elapsed());
                ensure!(result.output == input, "the echo changed its document");
            }
            Ok(samples)
        };
        sandbox.run(work).await?
    }
}
