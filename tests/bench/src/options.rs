//! What the command line says.

use anyhow::{Result, bail};
use std::path::PathBuf;

/// How large the measurements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scale {
    /// Everything once, small: that it works, not how fast it is.
    Quick,
    /// About ten minutes on two cores.
    Usual,
    /// As long as it takes: a million rows, a million calls.
    Long,
}

impl Scale {
    /// One of three sizes.
    pub(crate) fn pick<T>(self, quick: T, usual: T, long: T) -> T {
        match self {
            Self::Quick => quick,
            Self::Usual => usual,
            Self::Long => long,
        }
    }
}

/// The command line.
#[derive(Debug)]
pub(crate) struct Options {
    pub(crate) scale: Scale,
    /// Only subjects whose name begins with one of these.
    pub(crate) filters: Vec<String>,
    /// Builds and downloads what the measurements need, and measures nothing.
    pub(crate) prepare: bool,
    /// Where the report is written.
    pub(crate) output: Option<PathBuf>,
    /// A child's part: what to serve, and its arguments.
    pub(crate) role: Option<(String, Vec<String>)>,
}

const HELP: &str = "\
Measures Mizzen beside its references and prints one table.

Usage: cargo bench -p mizzen-bench -- [SUBJECT…] [--quick | --long] [--prepare] [--output DIR]

  SUBJECT    only subjects whose name begins so; --list names them all
  --quick    everything once with small sizes; the numbers mean nothing
  --long     larger sizes: a million rows, a million calls, ten minutes of all misdeeds at once
  --prepare  builds and downloads what the measurements need, and measures nothing
  --output   where report.md and report.json are written [default: target/bench]

Examples:
  cargo bench -p mizzen-bench
  cargo bench -p mizzen-bench -- chain history";

impl Options {
    /// Reads the arguments; none means that a text was printed and there is nothing to do.
    pub(crate) fn read(arguments: impl Iterator<Item = String>, subjects: &[&str]) -> Result<Option<Self>> {
        let mut options = Self {
            scale: Scale::Usual,
            filters: Vec::new(),
            prepare: false,
            output: None,
            role: None,
        };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            match argument.as_str() {
                "--quick" => options.scale = Scale::Quick,
                "--long" => options.scale = Scale::Long,
                "--prepare" => options.prepare = true,
                "--output" => match arguments.next() {
                    Some(folder) => options.output = Some(folder.into()),
                    None => bail!("--output needs a folder"),
                },
                // What cargo adds for harnesses of its own.
                "--bench" => {}
                "--list" => {
                    println!("{}", subjects.join("\n"));
                    return Ok(None);
                }
                "--help" | "-h" => {
                    println!("{HELP}");
                    return Ok(None);
                }
                "--role" => {
                    let Some(role) = arguments.next() else {
                        bail!("--role needs a name");
                    };
                    options.role = Some((role, arguments.by_ref().collect()));
                }
                flag if flag.starts_with('-') => bail!("unknown argument {flag}; --help lists them"),
                word => {
                    if !subjects.iter().any(|subject| subject.starts_with(word)) {
                        bail!(
                            "no subject begins with {word:?}; there are: {}",
                            subjects.join(", ")
                        );
                    }
                    options.filters.push(word.to_owned());
                }
            }
        }
        Ok(Some(options))
    }

    pub(crate) fn wants(&self, subject: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|word| subject.starts_with(word.as_str()))
    }
}
