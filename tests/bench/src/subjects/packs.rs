//! Four mounted packs around a step: what they add, on a database in memory so that the disk does not hide it.

use crate::echo::{TOOL, package, settings};
use crate::harness::Bench;
use crate::local::{Local, json};
use crate::row::{Row, Target, Unit, Value};
use crate::samples::{Rounds, Samples, alone, versus};
use crate::site::{Site, input, request};
use crate::subjects::{database_in_memory, runtime};
use anyhow::{Context, Result, ensure};
use mizzen_builder::pack::{PackProject, RULE_ENGINE, RULES_SECTION};
use mizzen_isolation::{HOSTILE_RULES, build_rules, hostile_facts, key, load};
use mizzen_json::Json;
use mizzen_model::execution::ExecutionStatus;
use mizzen_ops::{Executed, Wait};
use mizzen_sandbox::{Sandbox, configured_pack};
use semver::VersionReq;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::runtime::Runtime;

const PACKS: [&str; 4] = ["budgets", "retries", "safety-pii", "audit"];
const STEPS: u32 = 10;
/// The facts after a step, as far as one of the packs reads them.
const FACTS: &str = include_str!("packs/facts.json");

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let what = "four packs around a step add";
    let runtime = runtime()?;
    let mut plugins = vec![package(bench)?];
    let mut mounts = Vec::new();
    for pack in PACKS {
        let project = PackProject::open(&bench.places.root.join("plugins").join(pack))?;
        mounts.push(serde_json::json!({"id": project.id()}));
        plugins.push(build(&project, &bench.places.kept.join("packs"))?);
    }
    let site = Site::new(bench, &plugins)?;
    let data = database_in_memory(bench)?;
    let local = runtime.block_on(Local::open(bench, &site, &data.path().join("data")))?;
    let bare = runtime.block_on(local.furnish("bare", TOOL, STEPS as usize))?;
    let mount = |council: &mut serde_json::Value| {
        if let Some(council) = council.as_object_mut() {
            council.insert("governance".to_owned(), mounts.into());
        }
    };
    let governed = runtime.block_on(local.furnish_changed("governed", TOOL, STEPS as usize, mount))?;
    let (bare, governed) = (request(&bare, &input())?, request(&governed, &input())?);
    let (bare, governed) = (json(&bare)?, json(&governed)?);
    let rounds = Rounds {
        rounds: bench.pick(1, 10, 20),
        each: bench.pick(1, 20, 50),
    };
    let (with, without) = versus(
        rounds,
        &mut |count| steps(&runtime, &local, &governed, count),
        &mut |count| steps(&runtime, &local, &bare, count),
    )?;
    let added = Value::new(Unit::Nanoseconds, with.p50() - without.p50());
    let mut rows = vec![
        Row::new(
            "step of a run with four packs, without the disk",
            Value::time(&with),
        )
        .beside("without packs", Value::time(&without)),
        Row::new(what, added).target(Target::AtMost(200e3)),
    ];
    for pack in PACKS {
        rows.push(one(bench, &runtime, &local, pack)?);
    }
    rows.extend(hostile(bench, &runtime)?);
    runtime.block_on(local.close());
    Ok(rows)
}

/// Hostile rules and facts in the real sandbox with the real budget: how long until they are stopped, and with how much memory.
fn hostile(bench: &Bench, runtime: &Runtime) -> Result<Vec<Row>> {
    let folder = bench.places.scratch()?;
    let sandbox = Arc::new(Sandbox::start(settings(bench))?);
    let file = build_rules("hostile", HOSTILE_RULES, folder.path())?;
    let toolbox = runtime.block_on(load(&sandbox, vec![file]))?;
    let pack = toolbox.pack("hostile", &VersionReq::STAR);
    let pack = pack.context("the hostile pack is not installed")?;
    let rounds = Rounds {
        rounds: bench.pick(1, 3, 5),
        each: bench.pick(1, 5, 10),
    };
    let mut rows = Vec::new();
    for case in hostile_facts() {
        let peak = AtomicU64::new(0);
        let samples = alone(rounds, &mut |count| {
            let mut samples = Samples::default();
            for _ in 0..count {
                let (pack, facts) = (Arc::clone(&pack), case.facts.clone());
                let work = async move {
                    let began = Instant::now();
                    let (verdict, usage) = pack.evaluate_measured(facts, 1_000_000).await;
                    (began.elapsed(), verdict, usage)
                };
                let (took, verdict, usage) = runtime.block_on(sandbox.run(work))?;
                let ended = verdict
                    .err()
                    .map(|failure| failure.to_string())
                    .unwrap_or_default();
                ensure!(ended.contains(case.says), "{} ended as {ended:?}", case.name);
                samples.push(took);
                peak.fetch_max(usage.map_or(0, |usage| usage.peak_memory), Ordering::Relaxed);
            }
            Ok(samples)
        })?;
        rows.push(
            Row::new(format!("hostile: {}", case.name), Value::time(&samples)).target(Target::AtMost(50e6)),
        );
        rows.push(
            Row::new(
                format!("hostile: {}, peak memory", case.name),
                Value::bytes(peak.into_inner()),
            )
            .target(Target::AtMost(64.0 * 1_048_576.0)),
        );
    }
    Ok(rows)
}

/// One evaluation, from the facts' text to a checked verdict.
fn one(bench: &Bench, runtime: &Runtime, local: &Local, pack: &str) -> Result<Row> {
    let id = format!("bosun.{pack}");
    let pack = local.toolbox.pack(&id, &VersionReq::STAR);
    let pack = pack.with_context(|| format!("{id} is not installed"))?;
    let rounds = Rounds {
        rounds: bench.pick(1, 5, 20),
        each: bench.pick(1, 400, 2_000),
    };
    let samples = alone(rounds, &mut |count| {
        let pack = Arc::clone(&pack);
        // Where runs ask: on the threads of the guests.
        runtime.block_on(local.sandbox.run(async move {
            let mut samples = Samples::default();
            for _ in 0..count {
                let began = Instant::now();
                let verdict = pack.evaluate(FACTS, 1_000_000, None).await;
                samples.push(began.elapsed());
                verdict.map_err(|failure| anyhow::anyhow!("{failure}"))?;
            }
            Ok(samples)
        }))?
    })?;
    Ok(Row::new(format!("one evaluation of {id}"), Value::time(&samples)))
}

/// The rule engine with the pack's rules, signed.
fn build(project: &PackProject, folder: &Path) -> Result<PathBuf> {
    let rules = (RULES_SECTION, project.rules().as_bytes());
    let component = configured_pack(RULE_ENGINE, &project.configuration(), rules)?;
    Ok(project.package(&component, &key(), Some(folder))?.path)
}

/// The time of a step in each of some runs.
fn steps(runtime: &Runtime, local: &Local, document: &Json, count: usize) -> Result<Samples> {
    let mut samples = Samples::default();
    for _ in 0..count {
        let began = Instant::now();
        let executed = runtime.block_on(local.execute(document, Wait::ForEnd))?;
        samples.push(began.elapsed() / STEPS);
        let Executed::Ended(result) = executed else {
            return None.context("a run waits for a person");
        };
        ensure!(
            result.status == ExecutionStatus::Completed,
            "a run ended as {:?}",
            result.error
        );
    }
    Ok(samples)
}
