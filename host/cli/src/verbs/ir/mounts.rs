//! `mizzen ir mounts`

use super::report;
use super::source::Reading;
use crate::home::{ConfigFile, Home};
use crate::output;
use crate::workbench::Workbench;
use mizzen_model::governance::Mount;
use std::process::ExitCode;

/// Says of each pack that a document mounts whether this host could mount it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen ir mounts graph.yaml --config mizzen.toml
  mizzen ir mounts graph.yaml --json

The plugins of the configuration are loaded through every stage, so a pack that is not trusted is
not there. Exit code: 0 every mount can be mounted, 1 one cannot (or the document or the plugin
set is not valid), 2 wrong usage.")]
pub(super) struct Mounts {
    /// A document in JSON or YAML; `-` is standard input
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    config: ConfigFile,
    #[command(flatten)]
    home: Home,
    /// Print the mounts as JSON on standard output
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Mounts {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let input = match self.reading.read(&self.file) {
            Ok(input) => input,
            Err(error) => return Ok(output::usage_error(&error)),
        };
        let inspection = input.inspect();
        let Some(document) = &inspection.document else {
            report::show(&input, &inspection);
            return Ok(ExitCode::from(output::EXIT_REFUSED));
        };
        let (config, terms) = self.config.terms(&self.home)?;
        let bench = match Workbench::load(&config.sources, &terms, &self.home)? {
            Ok(bench) => bench,
            Err(failure) => return output::load_failure(&failure, self.json.into()),
        };
        let mounts: Vec<Mount> = document.governance.iter().map(Mount::from).collect();
        let paths = mounts.iter().enumerate();
        let looked = bench
            .loaded()
            .mountable(paths.map(|(index, mount)| (format!("/governance/{index}"), mount)));
        if self.json {
            output::json(&looked)?;
        } else {
            for mount in &looked {
                match (&mount.found, &mount.problem) {
                    (Some((version, digest)), _) => {
                        println!("{}: {} {version} ({digest})", mount.path, mount.pack_id);
                    }
                    (None, Some(problem)) => println!("{problem}"),
                    (None, None) => {}
                }
            }
            if looked.is_empty() {
                println!("{} mounts no packs", input.name);
            }
        }
        let refused = looked.iter().any(|mount| mount.problem.is_some());
        Ok(ExitCode::from(if refused { output::EXIT_REFUSED } else { 0 }))
    }
}
