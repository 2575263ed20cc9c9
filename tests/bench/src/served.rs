//! The servers that are measured: the real `mizzen serve`, and the rivals, as children of this program.

use crate::harness::Bench;
use crate::options::Scale;
use crate::places::Places;
use crate::process::{Listening, finish};
use crate::raw::{serve_chain, serve_constant};
use crate::subjects::memory::{in_flight, many_calls};
use crate::subjects::runs::open_runs;
use crate::subjects::runtime;
use anyhow::{Context, Result, bail};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What this program does as a child.
pub(crate) fn play(role: &str, arguments: &[String]) -> Result<()> {
    let argument = |place: usize| {
        arguments
            .get(place)
            .map(String::as_str)
            .with_context(|| format!("{role} needs more arguments"))
    };
    match role {
        "constant" => runtime()?.block_on(serve_constant(Path::new(argument(0)?))),
        "raw-chain" => runtime()?.block_on(serve_chain(
            Path::new(argument(0)?),
            Path::new(argument(1)?),
            argument(2)?.parse()?,
            argument(3)?.parse()?,
        )),
        "open-runs" => open_runs(&bench()?, Path::new(argument(0)?), argument(1)?.parse()?),
        "in-flight" => in_flight(&bench()?, argument(0)?.parse()?),
        "many-calls" => many_calls(&bench()?, argument(0)?.parse()?),
        other => bail!("unknown role {other}"),
    }
}

fn bench() -> Result<Bench> {
    Ok(Bench {
        scale: Scale::Usual,
        places: Places::find()?,
    })
}

/// Runs this program as a child in a role to its end; gives what it prints.
pub(crate) fn rival_output(role: &str, arguments: &[&str]) -> Result<String> {
    finish(
        Command::new(std::env::current_exe()?)
            .arg("--role")
            .arg(role)
            .args(arguments),
    )
}

/// Starts this program as a child in a role.
pub(crate) fn rival(role: &str, arguments: &[&str], log: &Path) -> Result<Listening> {
    let mut command = Command::new(std::env::current_exe()?);
    Listening::start(command.arg("--role").arg(role).args(arguments), log)
}

/// The real binary, built like this program. Where no optimised one is wanted, only when it is there: a test does not build it.
pub(crate) fn mizzen(bench: &Bench) -> Result<Option<PathBuf>> {
    let folder = bench.places.profile().context("this program has no folder")?;
    let binary = folder.join("mizzen");
    if bench.scale == Scale::Quick || !folder.ends_with("release") {
        return Ok(binary.is_file().then_some(binary));
    }
    let mut cargo = Command::new("cargo");
    cargo
        .args(["build", "--release", "--package", "mizzen-cli", "--target-dir"])
        .arg(&bench.places.target)
        .current_dir(&bench.places.root);
    finish(&mut cargo)?;
    Ok(Some(binary))
}

/// Why rows are missing where there is no binary.
pub(crate) const NO_BINARY: &str = "no mizzen binary beside this program (cargo test --workspace builds it)";
