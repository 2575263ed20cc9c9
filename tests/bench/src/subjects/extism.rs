//! Beside Extism: the same logic through its kit, called through its crate. Its workspace is built and started as a child, which
//! takes turns with us.

use crate::echo::{Echo, document};
use crate::harness::Bench;
use crate::options::Scale;
use crate::process::finish;
use crate::row::{Row, Target, Value};
use crate::samples::{Rounds, in_turns};
use crate::subjects::runtime;
use crate::turns::Turns;
use anyhow::Result;
use std::cell::RefCell;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

pub(crate) fn measure(bench: &Bench) -> Result<Vec<Row>> {
    let what = "fresh call beside Extism";
    let (host, guest) = paths(bench);
    if bench.scale == Scale::Quick && !(host.is_file() && guest.is_file()) {
        return Ok(vec![Row::skipped(
            what,
            "the rival is not built; a quick run does not build it",
        )]);
    }
    if bench.scale != Scale::Quick
        && let Err(error) = build(bench)
    {
        return Ok(vec![Row::skipped(
            what,
            format!("the rival does not build: {error:#}"),
        )]);
    }
    let rival = RefCell::new(Turns::start(Command::new(host).arg(guest))?);
    let runtime = runtime()?;
    let echo = runtime.block_on(Echo::load(bench, Vec::new()))?;
    let mut rows = Vec::new();
    for (name, bytes) in [("100 B", 100), ("10 kB", 10_000), ("1 MB", 1_000_000)] {
        let rounds = Rounds {
            rounds: bench.pick(1, 8, 20),
            each: if bytes == 1_000_000 {
                bench.pick(1, 8, 30)
            } else {
                bench.pick(2, 150, 500)
            },
        };
        let input: Arc<str> = document(bytes).into();
        let mut theirs = ["fresh", "reused", "pooled"].map(|mode| {
            let rival = &rival;
            move |count: usize| rival.borrow_mut().ask(&format!("{mode} {bytes} {count}"))
        });
        let [fresh, reused, pooled] = &mut theirs;
        let mut ours = |count: usize| runtime.block_on(echo.clone().invoke(count, Arc::clone(&input)));
        let samples = in_turns(rounds, &mut [&mut ours, fresh, reused, pooled])?;
        let [ours, fresh, reused, pooled] = samples.as_slice() else {
            continue;
        };
        for (theirs, how, limit) in [
            (fresh, "its fresh plugin from compiled code", Some(0.1)),
            (reused, "its reused plugin", Some(1.0)),
            (pooled, "its pool of reused plugins", None),
        ] {
            let row = Row::new(format!("our fresh call, {name}, beside {how}"), Value::time(ours));
            let row = row.beside("Extism", Value::time(theirs));
            // The targets are for small calls, where the instance is what costs.
            rows.push(match limit {
                Some(limit) if bytes == 100 => row.target(Target::RatioAtMost(limit)),
                _ => row,
            });
        }
    }
    Ok(rows)
}

fn target(bench: &Bench) -> PathBuf {
    bench.places.target.join("bench-rivals/extism")
}

fn paths(bench: &Bench) -> (PathBuf, PathBuf) {
    let target = target(bench);
    (
        target.join("release/rival-extism"),
        target.join("wasm32-unknown-unknown/guest/rival_extism_guest.wasm"),
    )
}

/// Builds host and guest. The first time it compiles a second wasmtime, which takes minutes.
pub(crate) fn build(bench: &Bench) -> Result<()> {
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new("cargo");
        command
            .arg("build")
            .arg("--locked")
            .args(arguments)
            .arg("--target-dir")
            .arg(target(bench))
            .current_dir(bench.places.root.join("tests/bench/rivals/extism"));
        command
    };
    let wasm = "wasm32-unknown-unknown";
    // A toolchain that rustup did not install may have the target already: the build says if not.
    let _ = finish(
        Command::new("rustup")
            .args(["target", "add", wasm])
            .current_dir(&bench.places.root),
    );
    finish(&mut cargo(&[
        "--profile",
        "guest",
        "--package",
        "rival-extism-guest",
        "--target",
        wasm,
    ]))?;
    finish(&mut cargo(&["--release", "--package", "rival-extism"]))?;
    Ok(())
}
