//! `mizzen plugin dev [DIR]`.

mod watch;

use super::build;
use crate::home::Home;
use crate::output;
use mizzen_builder::BuiltPlugin;
use mizzen_catalog::load::verify_file;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The arguments.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:
  mizzen plugin dev hello

Builds, checks and tests, then does it again whenever a file of the plugin changes. Ctrl-C ends it.
The package goes to a temporary place: dist and its signatures stay as they are.")]
pub(crate) struct Dev {
    /// The plugin's folder
    #[arg(default_value = ".", value_name = "DIR")]
    folder: PathBuf,
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
        let mut before = None;
        loop {
            let well = self.cycle(home, &mut before, &run_tests).unwrap_or_else(|error| {
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

    /// `before` is what the last build made.
    fn cycle(
        &self,
        home: &Home,
        before: &mut Option<BuiltPlugin>,
        run_tests: impl Fn(&Path, &Home) -> anyhow::Result<bool>,
    ) -> anyhow::Result<bool> {
        let trial = build::try_out(&self.folder, home)?;
        if let Some(built) = &trial.built {
            match before.as_ref() {
                None => build::print_contents(built),
                Some(before) => println!("{}", changes(before, built)),
            }
            *before = Some(built.clone());
        }
        if let Err(failure) = verify_file(&trial.file, &home.author_terms()?) {
            eprintln!("{failure}");
            return Ok(false);
        }
        run_tests(&trial.file, home)
    }
}

/// What a build changed, in one line: size, imports and permissions are what an author watches.
fn changes(before: &BuiltPlugin, after: &BuiltPlugin) -> String {
    if before.digest == after.digest {
        return "the package is unchanged".to_owned();
    }
    let mut parts = vec![format!("{} bytes (was {})", after.size, before.size)];
    let asked = |built: &BuiltPlugin| -> BTreeSet<String> {
        let permissions = built.manifest.permissions().iter();
        let permissions = permissions.map(|(permission, _)| format!("permission {permission}"));
        let imports = built.imports.iter().map(|import| format!("import {import}"));
        permissions.chain(imports).collect()
    };
    let (old, new) = (asked(before), asked(after));
    parts.extend(new.difference(&old).map(|added| format!("+ {added}")));
    parts.extend(old.difference(&new).map(|removed| format!("- {removed}")));
    output::harmless(&parts.join(", "))
}
