//! Rivals in Python: a virtual environment below the target folder, made once.

use crate::harness::Bench;
use crate::options::Scale;
use crate::process::finish;
use crate::turns::Turns;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;
use std::process::Command;

/// An interpreter that has some packages.
#[derive(Debug)]
pub(crate) struct Python {
    interpreter: PathBuf,
    sources: PathBuf,
}

impl Python {
    /// The environment with these packages, made when it is missing; in quick mode only when it is there.
    pub(crate) fn find(bench: &Bench, packages: &[&str]) -> Result<Self> {
        let folder = bench.places.target.join("bench-rivals/venv");
        let python = Self {
            interpreter: folder.join("bin/python"),
            sources: bench.places.root.join("tests/bench"),
        };
        let made = |name: &str| folder.join(format!("made-{name}"));
        let missing: Vec<&str> = packages
            .iter()
            .copied()
            .filter(|name| !made(name).exists())
            .collect();
        if missing.is_empty() {
            return Ok(python);
        }
        if bench.scale == Scale::Quick {
            bail!(
                "{} not installed; a quick run installs nothing",
                missing.join(", ")
            );
        }
        let shown = format!("{} cannot be installed from PyPI", missing.join(", "));
        if !python.interpreter.exists() {
            finish(Command::new("python3").args(["-m", "venv"]).arg(&folder)).context(shown.clone())?;
        }
        let mut pip = Command::new(&python.interpreter);
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
        finish(pip.args(&missing)).context(shown)?;
        for name in missing {
            std::fs::write(made(name), "")?;
        }
        Ok(python)
    }

    /// A command that runs a script below `tests/bench`.
    pub(crate) fn command(&self, script: &str) -> Command {
        let mut command = Command::new(&self.interpreter);
        command
            .arg(self.sources.join(script))
            .env("PYTHONDONTWRITEBYTECODE", "1");
        command
    }

    /// Starts a script that takes turns.
    pub(crate) fn start(&self, script: &str) -> Result<Turns> {
        Turns::start(&mut self.command(script))
    }
}
