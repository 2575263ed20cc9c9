//! What verbs share that run something on a host in this process and follow it to its end: `chain run` and `tool call`.

use crate::follow::Interrupt;
use crate::home::Home;
use crate::local_host::{LocalHost, Place, config_in_reach};
use anyhow::Result;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The options.
#[derive(Debug, clap::Args)]
pub(crate) struct LocalRun {
    /// The host's configuration, with its plugins [default: mizzen.toml in reach]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the whole execution as JSON and nothing else
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    home: Home,
}

impl LocalRun {
    /// Opens the host with the configuration that was named, or with one here or beside a file. None when Ctrl-C was pressed before
    /// it was open.
    pub(crate) async fn open(
        &self,
        place: Place,
        beside: Option<&Path>,
        interrupt: &Interrupt,
    ) -> Result<Option<LocalHost>> {
        let config = config_in_reach(self.config.as_deref(), beside);
        if config.is_none() && !self.json {
            eprintln!("no mizzen.toml is in reach, so no plugins are loaded; name one with --config FILE");
        }
        tokio::select! {
            biased;
            () = interrupt.requested() => Ok(None),
            opened = LocalHost::open(place, config, self.home.clone()) => opened.map(Some),
        }
    }
}

/// The data folder of a host: the named one, or the usual one.
pub(crate) fn data_folder(named: Option<&Path>) -> PathBuf {
    let usual = || std::env::var_os("MIZZEN_DATA").map_or_else(|| ".mizzen".into(), PathBuf::from);
    named.map_or_else(usual, Path::to_owned)
}

/// Runs a verb on a runtime of its own.
pub(crate) fn block_on(verb: impl Future<Output = Result<ExitCode>>) -> Result<ExitCode> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let ended = runtime.block_on(verb);
    // Not dropped: after Ctrl-C that would wait for a compiler that is at work.
    runtime.shutdown_background();
    ended
}
