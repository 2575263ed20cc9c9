//! `mizzen plugin dev [DIR]`.

mod watch;

use super::build;
use crate::home::Home;
use crate::output;
use mizzen_catalog::load::verify_file;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugin dev hello

Builds, checks and tests, then does it again whenever a file of the plugin changes. Ctrl-C ends it.")]
pub(crate) struct Dev {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
    /// The name of one of your keys (see `mizzen key list`)
    #[arg(long, value_name = "NAME")]
    key: Option<String>,
    /// Do it once and say by the exit code whether all was well
    #[arg(long)]
    once: bool,
}

impl Dev {
    /// `run_tests` runs the declared examples of a package in the sandbox, prints what it finds, and says whether all hold.
    pub(super) fn run(
        self,
        home: &Home,
        run_tests: impl Fn(&Path, &Home) -> anyhow::Result<bool>,
    ) -> anyhow::Result<ExitCode> {
        // Before the first build, so that a change during it is not missed.
        let changes = watch::Changes::of(&self.folder)?;
        loop {
            let well = self.cycle(home, &run_tests).unwrap_or_else(|error| {
                output::error(&error);
                false
            });
            if self.once {
                return Ok(if well {
                    ExitCode::SUCCESS
                } else {
                    ExitCode::from(output::EXIT_REFUSED)
                });
            }
            eprintln!(
                "\n{}; waiting for a change (Ctrl-C ends)",
                if well { "all well" } else { "not well yet" }
            );
            let changed = changes.next()?;
            eprintln!("\n{} changed", changed.display());
        }
    }

    fn cycle(
        &self,
        home: &Home,
        run_tests: impl Fn(&Path, &Home) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let key = build::signing_key(home, self.key.as_deref())?;
        let built = build::build(&self.folder, &key, None)?;
        build::print(&built);
        if let Err(failure) = verify_file(&built.path, &home.author_terms()?) {
            eprintln!("{failure}");
            return Ok(false);
        }
        run_tests(&built.path, home)
    }
}
