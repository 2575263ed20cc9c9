//! `mizzen demo`: the main job on embedded defaults, from source to a governed call, with nothing else installed.

use crate::home::Home;
use crate::workbench::Workbench;
use anyhow::{Context, Result, bail, ensure};
use mizzen_builder::{BuildRequest, BuiltPlugin, Progress, build_plugin};
use mizzen_catalog::key::{DEV_KEY, KeyName, SecretKey};
use mizzen_engine::CallPolicy;
use mizzen_ops::toolbox::{CallError, CallRequest};
use mizzen_sandbox::CallContext;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  cargo run --release -- demo

Run it in a checkout of the repository. It builds and signs the first-party plugins with a development key, loads them
through every check, calls two tools, and shows how a plugin that asks for more than it declares is refused.")]
pub(crate) struct Demo {
    /// Where the demo keeps its key and its packages [default: .mizzen/demo in the checkout]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

impl Demo {
    pub(super) fn run(self) -> Result<ExitCode> {
        let started = Instant::now();
        let root = checkout()?;
        let data = self.data.clone().unwrap_or_else(|| root.join(".mizzen/demo"));
        let home = Home::at(data.clone());
        let key = home
            .keys()?
            .secret_or_create(&KeyName::parse(DEV_KEY)?, "development key of the demo")?;

        step(1, "Build and sign the first-party plugins");
        let mut packages = Vec::new();
        for plugin in ["plugins/text", "plugins/json"] {
            let built = build(&root.join(plugin), &key, &data)?;
            let state = if built.unchanged { "unchanged" } else { "signed" };
            println!(
                "  {:<24} {:>8} bytes  {}  {state}",
                name(&built),
                built.size,
                short(&built.digest.to_string())
            );
            packages.push(built.path);
        }

        step(
            2,
            "Load them: signature, trust, namespaces, order, imports, exports, compile, describe",
        );
        let bench = match Workbench::open(packages, &home.author_terms()?, &home)? {
            Ok(bench) => bench,
            Err(failure) => bail!("the first-party plugins were refused\n{failure}"),
        };
        let loaded = bench.loaded();
        for tool in loaded.registry().tools() {
            println!(
                "  {:<24} {}",
                tool.spec().id().to_string(),
                first_line(tool.spec().description())
            );
        }
        println!("  load plan {}", short(loaded.plan_hash()));

        step(3, "Call two tools, each in a sandbox of its own");
        call(
            &bench,
            "text.word_count",
            json!({ "text": "the mast aft of the main mast" }),
        )?;
        call(
            &bench,
            "json.query",
            json!({ "document": { "ship": { "masts": ["fore", "main", "mizzen"] } }, "path": "/ship/masts/2" }),
        )?;

        step(
            4,
            "An input that does not fit is refused before any guest code runs",
        );
        refused_call(&bench, "text.word_count", json!({ "words": 7 }))?;

        step(
            5,
            "A component that imports more than its manifest declares is refused before any of it runs",
        );
        let greedy = build(&root.join("tests/guests/imports-undeclared"), &key, &data)?;
        match Workbench::open(vec![greedy.path], &home.author_terms()?, &home)? {
            Ok(_) => bail!("a plugin with an undeclared import was loaded; this is a bug in Mizzen"),
            Err(failure) => {
                for error in &failure.errors {
                    println!(
                        "  refused  {}: {}\n           {}",
                        error.code, error.message, error.help
                    );
                }
            }
        }

        println!(
            "\nDone in {:.1} s. Write your own: mizzen plugin new hello",
            started.elapsed().as_secs_f64()
        );
        Ok(ExitCode::SUCCESS)
    }
}

fn step(number: u32, what: &str) {
    println!("\n{number}. {what}");
}

/// The checkout that this folder is in, or else the one that this binary was built from.
fn checkout() -> Result<PathBuf> {
    let is_checkout = |folder: &Path| folder.join("plugins/text/plugin.toml").exists();
    let here = std::env::current_dir()?;
    let built_from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    here.ancestors()
        .find(|folder| is_checkout(folder))
        .map(Path::to_owned)
        .or_else(|| {
            built_from
                .canonicalize()
                .ok()
                .filter(|folder| is_checkout(folder))
        })
        .context("the demo builds the plugins of the repository; run it in a checkout")
}

fn build(folder: &Path, key: &SecretKey, data: &Path) -> Result<BuiltPlugin> {
    let (target, output) = (data.join("target"), data.join("plugins"));
    let request = BuildRequest {
        folder,
        key,
        target_folder: Some(&target),
        output_folder: Some(&output),
    };
    let mut progress = |progress: Progress<'_>| match progress {
        Progress::InstallingTarget => eprintln!("  installing the target {}", mizzen_builder::GUEST_TARGET),
        Progress::Building(name) => eprintln!("  building {name}"),
        Progress::Line(line) => eprintln!("    {line}"),
        Progress::SdkRefreshed(_) | Progress::Packaging => {}
    };
    Ok(build_plugin(request, &mut progress)?)
}

fn request(tool: &str, input: Value) -> CallRequest {
    CallRequest {
        tool: tool.to_owned(),
        input,
        context: CallContext::default(),
        policy: CallPolicy::default(),
    }
}

fn call(bench: &Workbench, tool: &str, input: Value) -> Result<()> {
    println!("  {tool} {input}");
    let result = bench
        .call(request(tool, input))
        .with_context(|| format!("{tool} should have answered"))?;
    let usage = result.report.map(|report| report.usage).unwrap_or_default();
    println!(
        "  → {}   ({:.2} ms, {} KiB)",
        result.output,
        usage.duration.as_secs_f64() * 1e3,
        usage.peak_memory / 1024
    );
    Ok(())
}

fn refused_call(bench: &Workbench, tool: &str, input: Value) -> Result<()> {
    println!("  {tool} {input}");
    match bench.call(request(tool, input)) {
        Err(CallError::Refused { refused, report }) => {
            ensure!(report.is_none(), "the guest ran although its input does not fit");
            println!("  refused  {refused}");
            Ok(())
        }
        Err(error) => Err(error.into()),
        Ok(result) => bail!(
            "{tool} answered {} to an input that does not fit its schema",
            result.output
        ),
    }
}

fn name(built: &BuiltPlugin) -> String {
    format!("{} {}", built.manifest.name(), built.manifest.version())
}

fn short(digest: &str) -> &str {
    digest.get(..23).unwrap_or(digest)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
