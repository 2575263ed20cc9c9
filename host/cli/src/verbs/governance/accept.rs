//! `mizzen governance accept`.

use crate::data::Data;
use crate::home::ConfigFile;
use crate::output;
use anyhow::Result;
use mizzen_ops::{Clock, SystemClock, accept_governance};
use std::process::ExitCode;

/// Let the mandatory packs of a configuration govern a data folder, in place of those that did
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  mizzen governance accept --data .mizzen --config mizzen.toml

A data folder remembers the packs that a host's configuration has mounted as mandatory, and who signed
them. A host without one of them does not start on the folder, and no chain runs on it. This says that
the packs which the configuration mounts now are the right ones; it is written into the audit log. May
run beside the server: one that watches its configuration takes it over when the file changes.")]
pub(crate) struct Accept {
    #[command(flatten)]
    data: Data,
    #[command(flatten)]
    config: ConfigFile,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl Accept {
    pub(super) fn run(self) -> Result<ExitCode> {
        let mounts = self.config.load()?.governance;
        let accepted = self.data.with_existing_store(|store| async move {
            Ok(accept_governance(&store, &mounts, SystemClock.now_ms()).await?)
        })?;
        if self.json {
            output::json(&accepted)?;
            return Ok(ExitCode::SUCCESS);
        }
        for (sign, packs) in [
            ("+", &accepted.added),
            ("-", &accepted.dropped),
            (" ", &accepted.kept),
        ] {
            for pack in packs {
                println!("{sign} {}", output::harmless(pack));
            }
        }
        let count = accepted.added.len() + accepted.kept.len();
        match count {
            0 => println!("no pack governs {}", self.data.folder().display()),
            1 => println!("1 pack governs {}", self.data.folder().display()),
            count => println!("{count} packs govern {}", self.data.folder().display()),
        }
        Ok(ExitCode::SUCCESS)
    }
}
